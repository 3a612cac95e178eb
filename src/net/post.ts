import type { Problem } from '../base/problem.ts'
import type { Ip } from '../names/ip.ts'
import type { Resolve } from './dns/resolver.ts'
import { headerOf, type Outlet, readHttpUrl, requestGuarded, trusting } from './guarded-request.ts'
import { mayDial } from './peer-call.ts'
import { fetchProblem } from './problems.ts'
import type { Guard } from './public-only.ts'

/** One message to a receiver: HTTPS POST. */
export type PostRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
/** The receiver's status; its body is not read. */
type PostReply = { readonly status: number; readonly retryAfter: string }

/** Posts a message. Rejects with {@link FetchError}; an error status is a normal reply. */
export type Post = (request: PostRequest, signal: AbortSignal) => Promise<PostReply>

/** Maximum size of a response, bytes; the connection is closed beyond it. */
const MAX_BYTES = 16 * 1024

/**
 * The real {@link Post}, by `requestGuarded`: only to public addresses, checked at each call, and to networks that the
 * operator allowed (there also with plain HTTP). No redirect is followed, and the body of the answer is not read.
 */
export function guardedPost(options: {
  readonly resolve: Resolve
  readonly reachable: Guard
  readonly plain: Guard
  readonly ca?: readonly string[]
  readonly userAgent?: string
}): Post {
  const { resolve, ca, userAgent } = options
  const outlet: Outlet = {
    resolve,
    mayDial: (url, address) => mayDial(options, url, address),
    whyUnsafe: (url, addresses) => whyUnsafe(options.reachable, url, addresses),
    trust: trusting(ca),
    userAgent,
  }
  return async ({ url, headers, body }, signal) => {
    const target = readHttpUrl(url)
    target.hash = ''
    const request = { url: target, method: 'POST', headers, body, maxBytes: MAX_BYTES } as const
    return requestGuarded(outlet, request, signal, async (response) => {
      response.body.on('error', () => {}) // it is not read
      return { status: response.statusCode, retryAfter: headerOf(response, 'retry-after').slice(0, 64) }
    })
  }
}

const whyUnsafe = (reachable: Guard, url: URL, addresses: readonly Ip[]): Problem =>
  addresses.some(reachable)
    ? fetchProblem('not_secure', { origin: url.origin })
    : fetchProblem('private_address', { host: url.hostname })
