import { raced } from '../base/deadline.ts'
import type { Json } from '../base/json.ts'
import { familyOf, type Ip } from '../names/ip.ts'
import type { Resolve } from './dns/resolver.ts'
import { FetchError } from './fetch.ts'
import { addressesOf, bodyOf, roots, servername } from './https.ts'
import { fetchError } from './https-errors.ts'
import type { Guard } from './public-only.ts'

/** One call to another node. `body` is JSON text; `headers` carry the proof. */
export type PeerRequest = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Bytes of the answer that are read at most. */
  readonly maxBytes: number
}
export type PeerReply = { readonly status: number; readonly body: Json }

/** Calls another node and reads its JSON. Rejects with {@link FetchError}; an error status is a reply. */
export type PeerCall = (request: PeerRequest, signal: AbortSignal) => Promise<PeerReply>

export type PeerCallOptions = {
  readonly resolve: Resolve
  /** Asked about the address itself, just before the socket is opened. */
  readonly reachable: Guard
  /** Where plain HTTP may go; everywhere else it is HTTPS. */
  readonly plain: Guard
  readonly ca?: readonly string[]
  readonly userAgent?: string
}

const MAX_ADDRESSES = 4
const MAX_HEADERS = 16 * 1024
const CONNECT_MS = 5_000

/** The real {@link PeerCall}: the address that was judged is the one that is dialled; no redirect is followed and no encoded body read. */
export function peerCaller(options: PeerCallOptions): PeerCall {
  return async (request, signal) => {
    const url = readUrl(request.url)
    const addresses = await addressesOf(options, url, signal)
    const safe = addresses.filter((address) => mayDial(options, url, address))
    if (safe.length === 0) throw new FetchError('unsafe_address', whyUnsafe(options, url, addresses))
    let last: FetchError | undefined
    for (const address of safe.slice(0, MAX_ADDRESSES)) {
      try {
        return await callAt(options, url, address, request, signal)
      } catch (error) {
        last = fetchError(error, signal)
        if (last.reason !== 'connect') throw last
      }
    }
    throw last!
  }
}

/** Whether a node may be called at one address of its URL. */
export const mayDial = (
  { reachable, plain }: Pick<PeerCallOptions, 'reachable' | 'plain'>,
  url: URL,
  address: Ip,
): boolean => reachable(address) && (url.protocol === 'https:' || plain(address))

function whyUnsafe({ reachable }: PeerCallOptions, url: URL, addresses: readonly Ip[]): string {
  return addresses.some(reachable)
    ? `${url.origin} is not HTTPS; name its network by --allow-network to call it all the same`
    : `${url.hostname} has private or reserved addresses and is not contacted`
}

function readUrl(text: string): URL {
  const url = URL.parse(text)
  const shown = JSON.stringify(text.slice(0, 200))
  if (!url || !/^https?:$/.test(url.protocol))
    throw new FetchError('invalid_url', `${shown} is not an http or https URL`)
  if (url.username || url.password) throw new FetchError('invalid_url', `${shown} carries a user name or a password`)
  return url
}

async function callAt(
  options: PeerCallOptions,
  url: URL,
  address: Ip,
  request: PeerRequest,
  signal: AbortSignal,
): Promise<PeerReply> {
  const { buildConnector, Client } = await import('undici') // at the first need: it would slow down every start
  const connector = buildConnector({
    timeout: CONNECT_MS,
    allowH2: false,
    family: familyOf(address),
    autoSelectFamily: false,
    ...(options.ca && options.ca.length > 0 && { ca: [...(await roots()), ...options.ca] }),
  })
  const sni = url.protocol === 'https:' ? servername(url) : ''
  const client = new Client(url.origin, {
    // The address that was judged is the one that is dialled; the name stays for SNI and the certificate.
    connect: (target, done) => connector({ ...target, hostname: address, servername: sni }, done),
    maxHeaderSize: MAX_HEADERS,
    maxResponseSize: request.maxBytes,
    headersTimeout: 0, // the signal bounds the whole call
    bodyTimeout: 0,
    pipelining: 1,
  })
  try {
    const headers = {
      'user-agent': options.userAgent ?? 'mailsonde',
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    }
    const { method, body } = request
    const path = `${url.pathname}${url.search}`
    const response = await raced(
      signal,
      client.request({ path, method, signal, headers, ...(body === undefined ? {} : { body }) }),
    )
    const encoding = response.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity')
      throw new FetchError('protocol', 'the answer is encoded though that was not asked for')
    return { status: response.statusCode, body: readJson(await bodyOf(response, signal, request.maxBytes)) }
  } finally {
    client.destroy().catch(() => {})
  }
}

function readJson(bytes: Uint8Array): Json {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as Json
  } catch (cause) {
    throw new FetchError('protocol', 'the answer is not JSON', { cause })
  }
}
