import { isIP } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { SecureContext } from 'node:tls'
import type { Dispatcher } from 'undici'
import { raced, timedOut } from '../base/deadline.ts'
import type { Problem } from '../base/problem.ts'
import { onceUnlessFailed } from '../base/share-work.ts'
import { familyOf, type Ip, parseIp } from '../names/ip.ts'
import { DnsError, type Resolve } from './dns/resolver.ts'
import { FetchError, fetchError } from './fetch.ts'
import { fetchProblem } from './problems.ts'
import type { Guard } from './public-only.ts'

/** How requests are sent, and to which addresses they may go. */
export type Outlet = {
  readonly resolve: Resolve
  /** Called with the address itself, just before the socket is opened. */
  readonly mayDial: (url: URL, address: Ip) => boolean
  /** Why none of the addresses may be used. */
  readonly whyUnsafe: (url: URL, addresses: readonly Ip[]) => Problem
  /** The roots that TLS trusts; the built-in roots if absent. */
  readonly trust?: Trust | undefined
  /** Default `mailsonde`. */
  readonly userAgent?: string | undefined
}

export type AllowedOptions = {
  readonly resolve: Resolve
  /** Called with the address itself, just before the socket is opened. */
  readonly reachable: Guard
  /** Networks to which plain HTTP is permitted; all others need HTTPS. */
  readonly plain: Guard
  readonly ca?: readonly string[]
  readonly userAgent?: string
}

/** Whether this address of a URL may be called. */
export const mayDial = (
  { reachable, plain }: Pick<AllowedOptions, 'reachable' | 'plain'>,
  url: URL,
  address: Ip,
): boolean => reachable(address) && (url.protocol === 'https:' || plain(address))

/** The outlet to whatever {@link mayDial} allows; `needsHttps` says why an address that is reachable was refused. */
export const outletOf = (
  { resolve, ca, userAgent, ...guards }: AllowedOptions,
  needsHttps: 'plain_peer' | 'not_secure',
): Outlet => ({
  resolve,
  mayDial: (url, address) => mayDial(guards, url, address),
  whyUnsafe: (url, addresses) =>
    addresses.some(guards.reachable)
      ? fetchProblem(needsHttps, { origin: url.origin })
      : fetchProblem('private_address', { host: url.hostname }),
  trust: trusting(ca),
  userAgent,
})

/** The roots that TLS connections trust. */
type Trust = () => Promise<SecureContext>

/**
 * The built-in roots and these, PEM. They are read once: it blocks the event loop for about 10 ms, which each
 * connection would repeat.
 */
export const trusting = (ca: readonly string[] = []): Trust | undefined =>
  ca.length === 0
    ? undefined
    : onceUnlessFailed(async () => {
        const { createSecureContext, rootCertificates } = await import('node:tls')
        return createSecureContext({ ca: [...rootCertificates, ...ca] })
      })

type GuardedRequest = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  /** In addition to `user-agent` and `accept-encoding`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly maxBytes: number
  /**
   * Time limit for the headers and for each part of the body, in addition to `signal`, ms; 0: only `signal`. Default 5
   * minutes.
   */
  readonly quietMs?: number
}

/** Maximum number of addresses of a host that are tried. */
const MAX_ADDRESSES = 4
/** Maximum size of the headers of a response, bytes. */
const MAX_HEADERS = 16 * 1024
/** Maximum number of bytes of a body that are read in one turn of the event loop; each may be a chunk of its own. */
const BYTES_A_TURN = 16 * 1024
const CONNECT_MS = 5_000

/**
 * Sends one HTTP request to the first of at most 4 addresses that accepts the connection, and returns what `read` makes
 * of the response. Our own resolver resolves the name, and the socket connects to exactly the address that was checked,
 * so a second DNS answer changes nothing. The certificate is verified for the name of the URL. Redirects are not
 * followed. Rejects with {@link FetchError}.
 */
export async function requestGuarded<T>(
  outlet: Outlet,
  request: GuardedRequest,
  signal: AbortSignal,
  read: (response: Dispatcher.ResponseData) => Promise<T>,
): Promise<T> {
  const { url } = request
  const addresses = await addressesOf(outlet.resolve, url, signal)
  const safe = addresses.filter((address) => outlet.mayDial(url, address))
  if (safe.length === 0) throw new FetchError('unsafe_address', outlet.whyUnsafe(url, addresses))
  let last: FetchError | undefined
  for (const address of safe.slice(0, MAX_ADDRESSES)) {
    try {
      return await requestAt(outlet, address, request, signal, read)
    } catch (error) {
      last = fetchError(error, signal)
      if (last.reason !== 'connect') throw last
    }
  }
  throw last!
}

/**
 * The body of a response, at most `maxBytes`. An encoded body is refused, because no encoding was requested. Rejects
 * with {@link FetchError}.
 */
export async function bodyOf(
  response: Pick<Dispatcher.ResponseData, 'headers'> & { readonly body: AsyncIterable<Uint8Array> },
  signal: AbortSignal,
  maxBytes: number,
): Promise<Uint8Array> {
  const encoding = headerOf(response, 'content-encoding').trim().toLowerCase()
  if (encoding !== '' && encoding !== 'identity')
    throw new FetchError('protocol', fetchProblem('encoding', { text: encoding }))
  const chunks: Uint8Array[] = []
  let [size, since] = [0, 0]
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > maxBytes) throw new FetchError('too_large', fetchProblem('too_large', { max: maxBytes }))
    chunks.push(chunk)
    since += chunk.length
    if (since < BYTES_A_TURN) continue
    since = 0
    await setImmediate()
  }
  if (timedOut(signal)) throw new FetchError('timeout', fetchProblem('timeout'))
  return Buffer.concat(chunks)
}

/** The first field of a response with this name (lower case), or "". */
export function headerOf({ headers }: Pick<Dispatcher.ResponseData, 'headers'>, name: string): string {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

/**
 * Refuses a URL with a user name or a password, because they would be sent with the request. Throws {@link FetchError}
 * `invalid_url`.
 */
export function refuseCredentials(url: URL, text: string): void {
  if (url.username || url.password) throw new FetchError('invalid_url', fetchProblem('login', { text }))
}

/**
 * The URL of a request; plain HTTP is accepted for networks that the operator allowed. Throws {@link FetchError}
 * `invalid_url`.
 */
export function readHttpUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new FetchError('invalid_url', fetchProblem('not_http', { text }))
  refuseCredentials(url, text)
  return url
}

/**
 * The addresses of a URL's host, IPv4 first, then IPv6. A literal needs no query. Rejects with {@link FetchError} if
 * there is none.
 */
export async function addressesOf(resolve: Resolve, url: URL, signal: AbortSignal): Promise<readonly Ip[]> {
  const host = hostOf(url)
  if (isIP(host) !== 0) {
    const literal = parseIp(host)
    return literal.ok ? [literal.value] : []
  }
  const asked = await Promise.allSettled([resolve(host, 'A', signal), resolve(host, 'AAAA', signal)])
  const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value.records : []))
  if (found.length > 0) return found
  const failed = asked.find((one) => one.status === 'rejected')
  if (failed && !(failed.reason instanceof DnsError)) throw failed.reason
  if (signal.aborted) throw fetchError(signal.reason, signal)
  throw new FetchError('dns', failed?.reason.problem ?? fetchProblem('no_address', { host }), { cause: failed?.reason })
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

async function requestAt<T>(
  { trust, userAgent = 'mailsonde' }: Outlet,
  address: Ip,
  { url, method, headers, body, maxBytes, quietMs }: GuardedRequest,
  signal: AbortSignal,
  read: (response: Dispatcher.ResponseData) => Promise<T>,
): Promise<T> {
  const { buildConnector, Client } = await import('undici') // loaded on demand: it would slow down every start
  const connector = buildConnector({
    timeout: CONNECT_MS,
    allowH2: false,
    family: familyOf(address),
    autoSelectFamily: false,
    ...(trust && { secureContext: await trust() }),
  })
  const servername = url.protocol === 'https:' && isIP(hostOf(url)) === 0 ? url.hostname : '' // RFC 6066 §3: no literal
  const client = new Client(url.origin, {
    // The connection goes to the address that was checked; the name is used for SNI and the certificate.
    connect: (target, done) => connector({ ...target, hostname: address, servername }, done),
    maxHeaderSize: MAX_HEADERS,
    maxResponseSize: maxBytes,
    ...(quietMs === undefined ? {} : { headersTimeout: quietMs, bodyTimeout: quietMs }),
    pipelining: 1,
  })
  try {
    const all = { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers }
    const path = `${url.pathname}${url.search}`
    const asked = { path, method, signal, headers: all, highWaterMark: BYTES_A_TURN }
    return await read(await raced(signal, client.request({ ...asked, ...(body === undefined ? {} : { body }) })))
  } finally {
    // its error about the closed connection was already reported, or is no longer needed
    client.destroy().catch(() => {})
  }
}
