import { isNestedBeyond, type Json } from '../base/json.ts'
import { FetchError } from './fetch.ts'
import { type AllowedOptions, bodyOf, outletOf, readHttpUrl, requestGuarded } from './guarded-request.ts'
import { fetchProblem } from './problems.ts'

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

/**
 * The real {@link PeerCall}, by {@link requestGuarded}: it connects to the address that was checked, follows no
 * redirect and reads no encoded body.
 */
export function peerCaller(options: AllowedOptions): PeerCall {
  const outlet = outletOf(options, 'plain_peer')
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
