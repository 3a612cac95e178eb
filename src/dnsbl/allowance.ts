import { LimitError, limiter, type Rate } from '../base/limiter.ts'
import type { Allowance, List } from './zone-type.ts'

/** Leave to send one question to a list: true at once or after a wait; false when it could not be had within `withinMs`, said without waiting for that to pass. */
export type Allow = (list: List, withinMs: number, signal: AbortSignal) => boolean | Promise<boolean>

/** Keeps each list's own allowance over all callers, first come, first served. */
export function allowances(now: () => number): Allow {
  const limits = limiter({ now })
  return (list, withinMs, signal) => {
    const limit = { rate: bucketSize(list.allowance) }
    const release = limits.tryEnter(list.zone, limit)
    if (release) {
      release()
      return true
    }
    return limits.enter(list.zone, limit, signal, withinMs).then(
      (done) => {
        done()
        return true
      },
      (error) => {
        if (error instanceof LimitError || signal.aborted) return false
        throw error
      },
    )
  }
}

/** No limits: for labs and one's own lists (`--no-courtesy`). */
export const unlimited: Allow = () => true

/**
 * A burst and a refill that together stay within what the list grants: a second's worth at once for lists that count seconds;
 * for lists that count days half of the day's at once and half over the day, so that no 24 hours hold more than the whole.
 */
export const bucketSize = (allowance: Allowance): Rate =>
  'perSecond' in allowance
    ? { capacity: allowance.perSecond, perSecond: allowance.perSecond }
    : { capacity: allowance.perDay / 2, perSecond: allowance.perDay / 2 / 86_400 }
