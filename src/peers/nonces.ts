import { ttlCache } from '../base/ttl-cache.ts'
import { MAX_NONCES, NONCE_MS } from './proof.ts'

/** Remembers the nonces of proven calls: tells whether one was seen within the time in which its call could be good, and notes it. At most 100,000. */
export function nonceMemory(now: () => number): (nonce: string) => boolean {
  const kept = ttlCache<{ readonly seen: true }>({ maxEntries: MAX_NONCES, now })
  return (nonce) => {
    if (kept.get(nonce)) return true
    kept.set(nonce, { seen: true }, NONCE_MS)
    return false
  }
}
