import { isNestedBeyond, type Json } from '../base/json.ts'
import type { Problem } from '../base/problem.ts'
import type { Ip } from '../names/ip.ts'
import type { Resolve } from './dns/resolver.ts'
import { FetchError } from './fetch.ts'
import { bodyOf, type Outlet, readHttpUrl, requestGuarded, trusting } from './guarded-request.ts'
import { fetchProblem } from './problems.ts'
import type { Guard } from './public-only.ts'

/** One call to another node. `body` is JSON text; `headers` contain the proof. */
type PeerRequest = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly maxBytes: number
}
export type PeerReply = { readonly status: number; readonly body: Json }

/** Calls another node and reads its JSON. Rejects with {@link FetchError}; an error status is a normal reply. */
export type PeerCall = (request: PeerRequest, signal: AbortSignal) => Promise<PeerReply>

type PeerCallOptions = {
  readonly resolve: Resolve
  /** Called with the address itself, just before the socket is opened. */
  readonly reachable: Guard
  /** Networks to which plain HTTP is permitted; all others need HTTPS. */
  readonly plain: Guard
  readonly ca?: readonly string[]
  readonly userAgent?: string
}

/**
 * The real {@link PeerCall}, by {@link requestGuarded}: it connects to the address that was checked, follows no
 * redirect and reads no encoded body.
 */
export function peerCaller(options: PeerCallOptions): PeerCall {
  const { resolve, ca, userAgent } = options
  const outlet: Outlet = {
    resolve,
    mayDial: (url, address) => mayDial(options, url, address),
    whyUnsafe: (url, addresses) => whyUnsafe(options, url, addresses),
    trust: trusting(ca),
    userAgent,
  }
  return async ({ method, url, headers, body, maxBytes }, signal) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = { method, headers: { accept: 'application/json', ...type, ...headers }, body, maxBytes }
    // The signal bounds the whole call: a node may stay silent for as long as the question may take.
    return requestGuarded(outlet, { ...request, url: readHttpUrl(url), quietMs: 0 }, signal, async (response) => ({
      status: response.statusCode,
      body: readJson(await bodyOf(response, signal, maxBytes)),
    }))
  }
}

/** Whether the node may be called at this address of its URL. */
export const mayDial = (
  { reachable, plain }: Pick<PeerCallOptions, 'reachable' | 'plain'>,
  url: URL,
  address: Ip,
): boolean => reachable(address) && (url.protocol === 'https:' || plain(address))

function whyUnsafe({ reachable }: PeerCallOptions, url: URL, addresses: readonly Ip[]): Problem {
  return addresses.some(reachable)
    ? fetchProblem('plain_peer', { origin: url.origin })
    : fetchProblem('private_address', { host: url.hostname })
}

/** Maximum nesting of an answer; the deepest of ours has some 30 levels. */
const MAX_DEPTH = 100

function readJson(bytes: Uint8Array): Json {
  const text = Buffer.from(bytes).toString('utf8')
  if (isNestedBeyond(text, MAX_DEPTH)) throw new FetchError('protocol', fetchProblem('nested', { max: MAX_DEPTH }))
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new FetchError('protocol', fetchProblem('not_json'), { cause })
  }
}
