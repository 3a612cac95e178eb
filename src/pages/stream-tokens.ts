import { createHash, randomBytes } from 'node:crypto'
import { ttlCache } from '../base/ttl-cache.ts'

/** How long a page may wait before it opens its stream, and reconnect to it, ms. */
const LONGEST_MS = 600_000
/** Maximum number of tokens; the least recently used one ends first. */
const MAX_TOKENS = 10_000

/**
 * Tokens in the stream URLs of pages whose browser sends no `Sec-Fetch-Site` (plain HTTP on a LAN): a page of another
 * site cannot read them. Each starts one question.
 */
export type StreamTokens = {
  /** A new token for the question of this key. */
  readonly issue: (key: string) => string
  /**
   * `starts`: the first use. `follows`: a reconnection, which may read a question in progress but start none.
   * `unknown`: expired, or of another question.
   */
  readonly use: (token: string | undefined, key: string) => 'starts' | 'follows' | 'unknown'
}

export function streamTokens(options: { readonly now: () => number; readonly maxTokens?: number }): StreamTokens {
  type Entry = { readonly question: string; isUsed: boolean }
  const issued = ttlCache<Entry>({ maxEntries: options.maxTokens ?? MAX_TOKENS, now: options.now })
  const questionOf = (key: string): string => createHash('sha256').update(key).digest('base64url')
  return {
    issue: (key) => {
      const token = randomBytes(16).toString('base64url')
      issued.set(token, { question: questionOf(key), isUsed: false }, LONGEST_MS)
      return token
    },
    use: (token, key) => {
      const entry = token === undefined ? undefined : issued.get(token)?.value
      if (entry?.question !== questionOf(key)) return 'unknown'
      if (entry.isUsed) return 'follows'
      entry.isUsed = true
      return 'starts'
    },
  }
}
