import { ttlCache } from '../base/ttl-cache.ts'
import { MAX_NONCES, NONCE_MS } from './proof.ts'

/**
 * Stores the nonces of verified calls: returns whether one was seen within the validity of its call, and stores it. At
 * most 100,000.
 */
export function nonceMemory(now: () => number): (nonce: string) => boolean {
  const kept = ttlCache<{ readonly seen: true }>({ maxEntries: MAX_NONCES, now })
  return (nonce) => {
    if (kept.get(nonce)) return true
    kept.set(nonce, { seen: true }, NONCE_MS)
    return false
  }
}
