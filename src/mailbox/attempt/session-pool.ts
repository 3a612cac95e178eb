import type { Session } from '../../net/smtp/session.ts'

/** A session that waits for its next recipient, with the place that it holds toward the mail host. */
export type Kept = {
  readonly session: Session
  /** Gives the place back. */
  readonly leave: () => void
  readonly recipients: number
  readonly unknown: number
}

/** Open sessions between recipients, by where they lead. For lists: a single question closes its own. */
export type Sessions = {
  /** A waiting session, or a place of one's own, whichever comes first. Rejects as `enter` does. */
  readonly acquire: (
    key: string,
    enter: (signal: AbortSignal) => Promise<() => void>,
    signal: AbortSignal,
  ) => Promise<Kept | { readonly session?: undefined; readonly leave: () => void }>
  /** Hands a session on, or keeps it for a moment; one that is spent is closed and its place given back. */
  readonly release: (key: string, kept: Kept) => Promise<void>
  /** Closes all that wait. */
  readonly close: () => Promise<void>
}

/** How long a session waits for its next recipient, ms. */
const IDLE_MS = 1_500
/** Recipients of one session; many servers count. */
const MAX_RECIPIENTS = 40
/** Unknown recipients of one session: Postfix slows down at 10 errors and hangs up at 20 (smtpd_soft_error_limit). */
const MAX_UNKNOWN = 8

/** The sessions of one verifier; none outlives a second and a half of waiting. */
export function sessions(): Sessions {
  const idle = new Map<string, Set<Kept>>()
  const waiting = new Map<string, Set<(kept: Kept) => void>>()
  const timers = new WeakMap<Kept, NodeJS.Timeout>()

  async function end({ session, leave }: Kept): Promise<void> {
    await session.quit()
    leave()
  }
  function takeIdle(key: string): Kept | undefined {
    const kept = idle.get(key)?.values().next().value
    if (!kept) return undefined
    remove(idle, key, kept)
    clearTimeout(timers.get(kept))
    return kept
  }
  function park(key: string, kept: Kept): void {
    add(idle, key, kept)
    const timer = setTimeout(() => {
      if (remove(idle, key, kept)) void end(kept)
    }, IDLE_MS)
    timers.set(kept, timer.unref())
  }
  return {
    acquire: async (key, enter, signal) => {
      const kept = takeIdle(key)
      if (kept) return kept
      const stop = new AbortController()
      return new Promise((resolve, reject) => {
        const handed = (next: Kept): void => {
          remove(waiting, key, handed)
          stop.abort()
          resolve(next)
        }
        add(waiting, key, handed)
        enter(AbortSignal.any([signal, stop.signal])).then(
          (leave) => {
            if (remove(waiting, key, handed)) resolve({ leave })
            else leave() // a session came first
          },
          (error: unknown) => {
            if (remove(waiting, key, handed)) reject(error)
          },
        )
      })
    },
    release: async (key, kept) => {
      const spent = kept.recipients >= MAX_RECIPIENTS || kept.unknown >= MAX_UNKNOWN
      if (spent || !kept.session.usable()) return end(kept)
      const next = waiting.get(key)?.values().next().value
      if (next) next(kept)
      else park(key, kept)
    },
    close: async () => {
      const all = [...idle.values()].flatMap((kept) => [...kept])
      idle.clear()
      await Promise.all(all.map(end))
    },
  }
}

function add<V>(sets: Map<string, Set<V>>, key: string, value: V): void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(value))
}

/** Whether it was there. */
function remove<V>(sets: Map<string, Set<V>>, key: string, value: V): boolean {
  const set = sets.get(key)
  if (!set?.delete(value)) return false
  if (set.size === 0) sets.delete(key)
  return true
}
