import type { Dispatcher } from 'undici'
import type { Resolve } from './dns/resolver.ts'
import { type Fetch, FetchError, type Fetched, type FetchOptions } from './fetch.ts'
import { bodyOf, headerOf, type Outlet, refuseCredentials, requestGuarded, trusting } from './guarded-request.ts'
import { fetchProblem } from './problems.ts'
import type { Guard } from './public-only.ts'

type HttpsOptions = {
  readonly resolve: Resolve
  /** Called with the address itself, just before the socket is opened. */
  readonly reachable: Guard
  /** Trusted roots in addition to the built-in ones, PEM. */
  readonly ca?: readonly string[]
  /** Ports that a URL may contain; default only 443. */
  readonly ports?: readonly number[]
  readonly userAgent?: string
}

const MAX_REDIRECTS = 5
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

/**
 * The real {@link Fetch}: GET over HTTPS by {@link requestGuarded}, with a verified certificate. At most 5 redirects
 * are followed, and each target is checked again; at most `maxBytes` are read. Compression is not requested, and an
 * encoded body is refused.
 */
export function httpsFetch(options: HttpsOptions): Fetch {
  const { resolve, reachable, ca, userAgent } = options
  const outlet: Outlet = {
    resolve,
    mayDial: (_, address) => reachable(address),
    whyUnsafe: (url) => fetchProblem('private_address', { host: url.hostname }),
    trust: trusting(ca),
    userAgent,
  }
  return async (url, signal, wanted) => {
    const redirects = Math.min(wanted.redirects ?? 0, MAX_REDIRECTS)
    let at = readUrl(url, options)
    for (let hop = 0; ; hop++) {
      const answered = await getOnce(outlet, at, signal, wanted)
      if (!answered.location) return answered.fetched
      if (hop >= redirects) {
        if (redirects === 0) return answered.fetched // the status is enough: the caller wants no redirect followed
        throw new FetchError('redirect', fetchProblem('redirects', { max: redirects }))
      }
      at = readUrl(URL.parse(answered.location, at.href)?.href ?? answered.location, options)
    }
  }
}

function readUrl(text: string, { ports = [443] }: HttpsOptions): URL {
  const url = URL.parse(text)
  if (!url) throw new FetchError('invalid_url', fetchProblem('not_url', { text }))
  if (url.protocol !== 'https:') throw new FetchError('invalid_url', fetchProblem('not_https', { text }))
  refuseCredentials(url, text)
  const port = Number(url.port || 443)
  if (!ports.includes(port)) throw new FetchError('invalid_url', fetchProblem('port', { port }))
  url.hash = ''
  return url
}

type Hop = { readonly fetched: Fetched; readonly location?: string }

const getOnce = (outlet: Outlet, url: URL, signal: AbortSignal, wanted: FetchOptions): Promise<Hop> => {
  const { maxBytes, accept = '*/*' } = wanted
  const request = { url, method: 'GET', headers: { accept }, maxBytes } as const
  return requestGuarded(outlet, request, signal, (response) => hopOf(response, url, signal, maxBytes))
}

async function hopOf(response: Dispatcher.ResponseData, url: URL, signal: AbortSignal, maxBytes: number): Promise<Hop> {
  const contentType = headerOf(response, 'content-type').split(';')[0]!.trim().toLowerCase().slice(0, 128)
  const head = { status: response.statusCode, url: url.href, contentType }
  const location = headerOf(response, 'location')
  if (REDIRECTS.includes(response.statusCode) && location !== '') {
    response.body.on('error', () => {}) // its body is not read
    return { fetched: { ...head, body: new Uint8Array() }, location: location.slice(0, 4_096) }
  }
  return { fetched: { ...head, body: await bodyOf(response, signal, maxBytes) } }
}
