import { type AllowedOptions, headerOf, outletOf, readHttpUrl, requestGuarded } from './guarded-request.ts'

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
export function guardedPost(options: AllowedOptions): Post {
  const outlet = outletOf(options, 'not_secure')
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
