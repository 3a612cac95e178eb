/** A token bucket as data: `tokens` were there at `atMs`. */
export type Bucket = { readonly tokens: number; readonly atMs: number }
export type BucketSize = { readonly capacity: number; readonly perSecond: number }

export const fullBucket = (size: BucketSize, nowMs: number): Bucket => ({ tokens: size.capacity, atMs: nowMs })

/** Takes one token: the bucket that remains, and how long to wait in ms (0: the token was taken). A clock that steps back refills nothing. */
export function takeToken(bucket: Bucket, size: BucketSize, nowMs: number): { bucket: Bucket; waitMs: number } {
  const elapsedMs = Math.max(0, nowMs - bucket.atMs)
  const tokens = Math.min(size.capacity, bucket.tokens + (elapsedMs * size.perSecond) / 1_000)
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, atMs: nowMs }, waitMs: 0 }
  return { bucket: { tokens, atMs: nowMs }, waitMs: Math.ceil(((1 - tokens) / size.perSecond) * 1_000) }
}
