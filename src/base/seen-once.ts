import { limiter } from './limiter.ts'
import { sharedWork } from './share-work.ts'
import { ttlCache } from './ttl-cache.ts'

/** What was seen, and when, ms since the epoch. */
export type Seen<T> = { readonly value: T; readonly atMs: number }

/**
 * Looks at something that many subjects have in common, once for all of them: a subject gets what was seen for others
 * within an hour, and asks anew what it was told before, so that each of its own looks is newer than the last one. Looks
 * with an equal `turn` follow each other. Rejects with the signal's reason.
 */
export type SeenOnce = <T extends object>(
  key: string,
  asking: { readonly subject: string; readonly turn: string; readonly signal: AbortSignal },
  look: (signal: AbortSignal) => Promise<T>,
) => Promise<Seen<T>>

/** How long what was seen is told to others, ms. */
const KEEP_MS = 3_600_000

/** Creates a {@link SeenOnce} that keeps at most `maxEntries` looks, each with the subjects that were told of it. */
export function seenOnce(options: {
  readonly maxEntries: number
  readonly now: () => number
  readonly monotonic: () => number
}): SeenOnce {
  const { maxEntries, now, monotonic } = options
  type Entry = Seen<object> & { readonly told: Set<string> }
  const kept = ttlCache<Entry>({ maxEntries, now: monotonic })
  const looks = sharedWork<Entry>()
  const turns = limiter({ now: monotonic })
  return async <T extends object>(
    key: string,
    { subject, turn, signal }: Parameters<SeenOnce>[1],
    look: (signal: AbortSignal) => Promise<T>,
  ) => {
    const known = kept.get(key)?.value
    const isNew = known && !known.told.has(subject)
    const entry = isNew
      ? known
      : await looks(
          key,
          (lifetime) => ({
            result: (async () => {
              const leave = await turns.enter(turn, { concurrent: 1 }, lifetime.signal)
              try {
                const seen: Entry = { value: await look(lifetime.signal), atMs: now(), told: new Set() }
                kept.set(key, seen, KEEP_MS)
                return seen
              } finally {
                leave()
              }
            })(),
          }),
          { signal },
        ).result
    entry.told.add(subject)
    return { value: entry.value as T, atMs: entry.atMs }
  }
}
