import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../base/errors.ts'
import { closedError } from './authorize.ts'
import { parseHostField } from './caller.ts'
import type { Gate } from './gate.ts'
import type { HttpOptions } from './options.ts'

/** How the requests of a route are limited: by its own gate, in a larger allowance of their own (`probe`), not at all, or (undefined) like a caller without a key. */
export type RouteLimit = 'gate' | 'probe' | 'none'

/**
 * What every request passes first: it must be HTTP that has one reading, no other site's page may have made it, the service must not be closed for want of
 * keys, and what has no gate of its own is counted against its address. Health passes whatever is the matter. Throws AppError.
 */
export function guardOf(options: HttpOptions, gate: Pick<Gate, 'stray' | 'probe'>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    refuseAmbiguous(request, reply)
    const { limit } = request.routeOptions.config
    if (limit === 'none') return
    refuseOtherSites(options, request)
    const why = limit === 'gate' ? undefined : options.closed?.()
    if (limit === 'probe') await gate.probe(request, reply)
    else if (limit === undefined) await gate.stray(request, reply)
    if (why !== undefined) throw closedError()
  }
}

/** Refuses what proxies and this server might read in two ways (RFC 9112 §3.2, §6.1, §11.2). */
function refuseAmbiguous({ raw, headers, url }: FastifyRequest, reply: FastifyReply): void {
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    void reply.header('connection', 'close') // where the body ends is not known
    throw new AppError('invalid_parameter', 'Transfer-Encoding: chunked is the only coding that is taken')
  }
  const hosts = raw.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1) throw new AppError('invalid_parameter', 'the request has more than one Host field')
  const { host } = headers
  if (host !== undefined && !parseHostField(host))
    throw new AppError('invalid_parameter', 'the Host of the request is not a host and a port')
  if (!url.startsWith('/') && url !== '*' && !isFor(url, host))
    throw new AppError('invalid_parameter', 'the target of the request names another host than its Host field')
}

/** Whether a target in absolute form (RFC 9112 §3.2.2) is for the host of the Host field. */
const isFor = (url: string, host: string | undefined): boolean =>
  URL.canParse(url) && new URL(url).host === host?.toLowerCase() && new URL(url).username === ''

/**
 * Refuses a request that a browser says another site has made (Fetch Metadata, `Sec-Fetch-Site`): an image or a script in a page anywhere would else
 * start work here. Following a link to a page of ours asks nothing by itself and is allowed, and so are the origins of `--cors-origin`.
 */
function refuseOtherSites({ corsOrigins }: HttpOptions, request: FastifyRequest): void {
  const site = request.headers['sec-fetch-site']
  if (site !== 'cross-site' && site !== 'same-site') return
  const { origin } = request.headers
  if (origin !== undefined && corsOrigins.includes(origin)) return
  const { url, config } = request.routeOptions
  const isLink = request.headers['sec-fetch-mode'] === 'navigate' && /^(?:GET|HEAD)$/.test(request.method)
  if (isLink && request.headers['sec-fetch-dest'] === 'document' && (config.isPage || url === undefined)) return
  throw new AppError(
    'forbidden',
    'a page of another site made this request; name its origin by --cors-origin if it may',
  )
}

declare module 'fastify' {
  interface FastifyContextConfig {
    limit?: RouteLimit
    /** A page that people open: a link of another site may lead here. */
    isPage?: boolean
  }
}
