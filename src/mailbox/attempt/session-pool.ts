import { firstOf } from '../../base/deadline.ts'
import type { Session } from '../../net/smtp/session.ts'

/** An idle session between two recipients, with its connection slot at the mail host. */
export type PooledSession = {
  readonly session: Session
  readonly release: () => void
  readonly recipients: number
  readonly unknown: number
}

/**
 * Open sessions between recipients, by source and destination. Used for lists of addresses: a single question closes
 * its own session.
 */
export type SessionPool = ReturnType<typeof sessionPool>

/** How long a session waits for its next recipient, ms. */
const IDLE_MS = 1_500
/** Maximum number of recipients per session; many servers limit them. */
const MAX_RECIPIENTS = 40
/**
 * Maximum number of unknown recipients per session: Postfix slows down at 10 errors and disconnects at 20
 * (smtpd_soft_error_limit).
 */
const MAX_UNKNOWN = 8

/** The sessions of one verifier; an idle one is closed after 1.5 s. */
export function sessionPool() {
  const idle = new Map<string, Set<PooledSession>>()
  const waiting = new Map<string, Set<(pooled: PooledSession) => void>>()
  const timers = new WeakMap<PooledSession, NodeJS.Timeout>()

  function end({ session, release }: PooledSession): void {
    session.quit()
    release()
  }
  function takeIdle(key: string): PooledSession | undefined {
    const pooled = idle.get(key)?.values().next().value
    if (!pooled) return undefined
    remove(idle, key, pooled)
    clearTimeout(timers.get(pooled))
    return pooled
  }
  function park(key: string, pooled: PooledSession): void {
    add(idle, key, pooled)
    const timer = setTimeout(() => {
      if (remove(idle, key, pooled)) end(pooled)
    }, IDLE_MS)
    timers.set(pooled, timer.unref())
  }
  return {
    /** An idle session, or a slot for a new one, whichever is available first. Rejects as `acquireSlot` does. */
    acquire: async (
      key: string,
      acquireSlot: (signal: AbortSignal) => Promise<() => void>,
      signal: AbortSignal,
    ): Promise<PooledSession | { readonly session?: undefined; readonly release: () => void }> => {
      const pooled = takeIdle(key)
      if (pooled) return pooled
      const stop = new AbortController()
      return new Promise((resolve, reject) => {
        const handed = (next: PooledSession): void => {
          remove(waiting, key, handed)
          stop.abort()
          resolve(next)
        }
        add(waiting, key, handed)
        const either = firstOf([signal, stop.signal])
        const slot = acquireSlot(either.signal).finally(either.clear)
        slot.then(
          (release) => {
            if (remove(waiting, key, handed)) resolve({ release })
            else release() // a session was available first
          },
          (error: unknown) => {
            if (remove(waiting, key, handed)) reject(error)
          },
        )
      })
    },
    /**
     * Passes a session to the next waiter, or keeps it for 1.5 s; a session that has reached its limits is closed and
     * its slot freed.
     */
    release: (key: string, pooled: PooledSession) => {
      const exhausted = pooled.recipients >= MAX_RECIPIENTS || pooled.unknown >= MAX_UNKNOWN
      if (exhausted || !pooled.session.usable()) return end(pooled)
      const next = waiting.get(key)?.values().next().value
      if (next) next(pooled)
      else park(key, pooled)
    },
    /** Closes all idle sessions. */
    close: (): void => {
      const all = [...idle.values()].flatMap((pooled) => [...pooled])
      idle.clear()
      for (const pooled of all) end(pooled)
    },
  }
}

function add<V>(sets: Map<string, Set<V>>, key: string, value: V): void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(value))
}

/** Whether the member was in the set. */
function remove<V>(sets: Map<string, Set<V>>, key: string, value: V): boolean {
  const set = sets.get(key)
  if (!set?.delete(value)) return false
  if (set.size === 0) sets.delete(key)
  return true
}
