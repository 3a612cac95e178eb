import type { FastifyContextConfig, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { closedError } from './authorize.ts'
import { parseHostField, refusal } from './caller.ts'
import type { Gate } from './gate.ts'
import type { HttpOptions } from './options.ts'
import { callerError, requestError } from './problems.ts'

/**
 * How the requests of a route are limited: by its own gate, by a larger rate of their own (`probe`), not at all, or
 * (undefined) like those of a caller without a key.
 */
type RouteLimit = 'gate' | 'probe' | 'none'

type Route = { readonly config?: FastifyContextConfig; readonly url?: string }

/** The first checks of a request. Each throws AppError, or passes it to `done`. */
type Guard = {
  /** For every request: it must be unambiguous HTTP. A preflight (CORS) is checked completely, because it ends here. */
  readonly everywhere: onRequestHookHandler
  /** For the requests of a route, by its configuration. */
  readonly ofRoute: (route: Route) => onRequestHookHandler
  /** For a request without a route. */
  readonly elsewhere: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/**
 * A request must not come from a page of another site, the service must not be closed because its keys are lost, and a
 * request without a gate of its own is counted by its address. Health always passes.
 */
export function guardOf(options: HttpOptions, gate: () => Pick<Gate, 'stray' | 'probe'>): Guard {
  const ambiguity = ambiguityCheck()

  async function judge({ config }: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    refuseOtherSites(options, request, config?.isPage === true)
    const why = options.closed?.()
    if (config?.isPage && why === undefined && options.keys().length === 0) refuseForeignNames(options, request)
    await (config?.limit === 'probe' ? gate().probe(request, reply) : gate().stray(request, reply))
    if (why !== undefined) throw closedError()
  }

  const isPreflight = (request: FastifyRequest): boolean => request.method === 'OPTIONS'
  const nowhere = { config: { isPage: true } }
  return {
    everywhere: (request, reply, done) => {
      try {
        ambiguity(request, reply)
      } catch (error) {
        done(error as Error)
        return
      }
      if (isPreflight(request)) judge({}, request, reply).then(() => done(), done)
      else done()
    },
    ofRoute: (route) => {
      const limit = route.config?.limit
      if (limit === 'none') return (_request, _reply, done) => done()
      if (limit !== 'gate') return (request, reply, done) => void judge(route, request, reply).then(() => done(), done)
      return (request, _reply, done) => {
        try {
          if (!route.config?.isEmbeddable) refuseOtherSites(options, request, route.config?.isPage === true)
          done()
        } catch (error) {
          done(error as Error)
        }
      }
    },
    elsewhere: async (request, reply) => {
      if (!isPreflight(request)) await judge(nowhere, request, reply)
    },
  }
}

/**
 * While no key is in force, pages are for callers that use this host's own names (DNS rebinding), like operations
 * (authorize.ts).
 */
function refuseForeignNames(options: HttpOptions, { headers, socket }: FastifyRequest): void {
  const why = refusal(options, { host: headers.host, origin: headers.origin, localAddress: socket.localAddress })
  if (why) throw callerError(why)
}

/** Refuses requests that a proxy and this server might interpret differently (RFC 9112 §3.2, §6.1, §11.2). */
function ambiguityCheck(): (request: FastifyRequest, reply: FastifyReply) => void {
  let lastHost: string | undefined // most requests have the same value
  return ({ raw, headers, url }, reply) => {
    const coding = headers['transfer-encoding']
    if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
      void reply.header('connection', 'close') // the end of the body is not known
      throw requestError('transfer_encoding')
    }
    if (hostFields(raw.rawHeaders) > 1) throw requestError('hosts')
    const { host } = headers
    if (host !== undefined && host !== lastHost && !parseHostField(host)) throw requestError('host')
    lastHost = host
    if (!url.startsWith('/') && url !== '*' && !isFor(url, host)) throw requestError('target')
  }
}

function hostFields(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** Whether a target in absolute form (RFC 9112 §3.2.2) has the host of the Host field. */
const isFor = (url: string, host: string | undefined): boolean =>
  URL.canParse(url) && new URL(url).host === host?.toLowerCase() && new URL(url).username === ''

/**
 * Refuses a request that a browser marks as coming from another site (Fetch Metadata, `Sec-Fetch-Site`); otherwise an
 * image or a script in any page could start work here. Following a link to one of our pages starts nothing by itself
 * and is allowed, and so are the origins of `--cors-origin`.
 */
function refuseOtherSites({ corsOrigins }: HttpOptions, request: FastifyRequest, isPage: boolean): void {
  const site = request.headers['sec-fetch-site']
  if (site !== 'cross-site' && site !== 'same-site') return
  const { origin } = request.headers
  if (origin !== undefined && corsOrigins.includes(origin)) return
  const isLink = request.headers['sec-fetch-mode'] === 'navigate' && /^(?:GET|HEAD)$/.test(request.method)
  if (isLink && request.headers['sec-fetch-dest'] === 'document' && isPage) return
  throw callerError('other_site')
}

declare module 'fastify' {
  interface FastifyContextConfig {
    limit?: RouteLimit
    /** A page for people: a link of another site may lead here. */
    isPage?: boolean
    /** An image that pages of other sites may show. */
    isEmbeddable?: boolean
  }
}
