import { isIP } from 'node:net'
import type { Dispatcher } from 'undici'
import { raced, timedOut } from '../base/deadline.ts'
import { familyOf, type Ip, parseIp } from '../names/ip.ts'
import { DnsError, type Resolve } from './dns/resolver.ts'
import { type Fetch, FetchError, type Fetched, type FetchOptions } from './fetch.ts'
import { fetchError } from './https-errors.ts'
import type { Guard } from './public-only.ts'

export type HttpsOptions = {
  readonly resolve: Resolve
  /** Asked about the address itself, just before the socket is opened. */
  readonly reachable: Guard
  /** Roots that count as trusted beside the built-in ones, PEM. */
  readonly ca?: readonly string[]
  /** Ports that a URL may name; default 443 alone. */
  readonly ports?: readonly number[]
  readonly userAgent?: string
}

const MAX_REDIRECTS = 5
const MAX_ADDRESSES = 4
const MAX_HEADERS = 16 * 1024
const CONNECT_MS = 5_000

/**
 * The real {@link Fetch}: GET over HTTPS, the certificate checked for the name of the URL. The name is resolved by our own resolver, and the socket goes to
 * the very address that was judged, so that a second answer of the DNS changes nothing. At most 4 addresses and 5 redirects are tried, each hop
 * judged anew; at most `maxBytes` are read. Compression is not asked for and an encoded body is refused.
 */
export function httpsFetch(options: HttpsOptions): Fetch {
  return async (url, signal, wanted) => {
    const redirects = Math.min(wanted.redirects ?? 0, MAX_REDIRECTS)
    let at = readUrl(url, options)
    for (let hop = 0; ; hop++) {
      const answered = await getOnce(options, at, signal, wanted)
      if (!answered.location) return answered.fetched
      if (hop >= redirects) {
        if (redirects === 0) return answered.fetched // the status tells the caller, who wants no redirect followed
        throw new FetchError('redirect', `more than ${redirects} redirects`)
      }
      at = readUrl(URL.parse(answered.location, at.href)?.href ?? answered.location, options)
    }
  }
}

function readUrl(text: string, options: HttpsOptions): URL {
  const url = URL.parse(text)
  const shown = JSON.stringify(text.slice(0, 200))
  if (!url) throw new FetchError('invalid_url', `${shown} is not a URL`)
  if (url.protocol !== 'https:') throw new FetchError('invalid_url', `${shown} is not an https URL`)
  if (url.username || url.password) throw new FetchError('invalid_url', `${shown} carries a user name or a password`)
  const port = Number(url.port || 443)
  if (!(options.ports ?? [443]).includes(port)) throw new FetchError('invalid_url', `port ${port} is not contacted`)
  url.hash = ''
  return url
}

type Hop = { readonly fetched: Fetched; readonly location?: string }

async function getOnce(options: HttpsOptions, url: URL, signal: AbortSignal, wanted: FetchOptions): Promise<Hop> {
  const addresses = await addressesOf(options, url, signal)
  const safe = addresses.filter(options.reachable)
  if (safe.length === 0)
    throw new FetchError('unsafe_address', `${url.hostname} has private or reserved addresses and is not contacted`)
  let last: FetchError | undefined
  for (const address of safe.slice(0, MAX_ADDRESSES)) {
    try {
      return await getFrom(options, { url, address, signal, wanted })
    } catch (error) {
      last = fetchError(error, signal)
      if (last.reason !== 'connect') throw last
    }
  }
  throw last!
}

/** The addresses of a URL's host, IPv4 first, then IPv6. A literal needs no question. Rejects with {@link FetchError}. */
export async function addressesOf(
  options: Pick<HttpsOptions, 'resolve'>,
  url: URL,
  signal: AbortSignal,
): Promise<readonly Ip[]> {
  const bare = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0) {
    const literal = parseIp(bare)
    return literal.ok ? [literal.value] : []
  }
  const asked = await Promise.allSettled([options.resolve(bare, 'A', signal), options.resolve(bare, 'AAAA', signal)])
  const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value.records : []))
  if (found.length > 0) return found
  const failed = asked.find((one) => one.status === 'rejected')
  if (failed && !(failed.reason instanceof DnsError)) throw failed.reason
  if (signal.aborted) throw fetchError(signal.reason, signal)
  throw new FetchError('dns', failed ? failed.reason.message : `${bare} has no address`, { cause: failed?.reason })
}

type Get = { readonly url: URL; readonly address: Ip; readonly signal: AbortSignal; readonly wanted: FetchOptions }

async function getFrom(options: HttpsOptions, { url, address, signal, wanted }: Get): Promise<Hop> {
  const { buildConnector, Client } = await import('undici') // at the first need: it would slow down every start
  const connector = buildConnector({
    timeout: CONNECT_MS,
    allowH2: false,
    family: familyOf(address),
    autoSelectFamily: false,
    ...(options.ca && options.ca.length > 0 && { ca: [...(await roots()), ...options.ca] }),
  })
  const client = new Client(url.origin, {
    // The address that was judged is the one that is dialled; the name stays for SNI and the certificate.
    connect: (target, done) => connector({ ...target, hostname: address, servername: servername(url) }, done),
    maxHeaderSize: MAX_HEADERS,
    maxResponseSize: wanted.maxBytes,
    pipelining: 1,
  })
  try {
    const response = await raced(
      signal,
      client.request({
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        signal,
        headers: {
          'user-agent': options.userAgent ?? 'mailsonde',
          accept: wanted.accept ?? '*/*',
          'accept-encoding': 'identity',
        },
      }),
    )
    return await hopOf(response, url, signal, wanted)
  } finally {
    client.destroy().catch(() => {})
  }
}

/** The name for SNI and the certificate; none for an address literal. */
export const servername = (url: URL): string => (isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : '')

/** The built-in roots, PEM. */
export const roots = async (): Promise<readonly string[]> => (await import('node:tls')).rootCertificates

async function hopOf(
  response: Dispatcher.ResponseData,
  url: URL,
  signal: AbortSignal,
  wanted: FetchOptions,
): Promise<Hop> {
  const header = (name: string): string => {
    const value = response.headers[name]
    return (Array.isArray(value) ? value[0] : value) ?? ''
  }
  const head = { status: response.statusCode, url: url.href }
  const contentType = header('content-type').split(';')[0]!.trim().toLowerCase().slice(0, 128)
  if ([301, 302, 303, 307, 308].includes(response.statusCode) && header('location') !== '') {
    response.body.on('error', () => {})
    return { fetched: { ...head, contentType, body: new Uint8Array() }, location: header('location').slice(0, 4_096) }
  }
  const encoding = header('content-encoding').trim().toLowerCase()
  if (encoding !== '' && encoding !== 'identity')
    throw new FetchError('protocol', `the body is encoded (${encoding.slice(0, 40)}) though that was not asked for`)
  return { fetched: { ...head, contentType, body: await bodyOf(response, signal, wanted.maxBytes) } }
}

/** The body, at most `maxBytes`. Rejects with {@link FetchError}. */
export async function bodyOf(
  response: Dispatcher.ResponseData,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > maxBytes) throw new FetchError('too_large', `more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  if (timedOut(signal)) throw new FetchError('timeout', 'not done in time')
  return Buffer.concat(chunks)
}
