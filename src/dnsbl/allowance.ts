import { LimitError, limiter, type Rate } from '../base/limiter.ts'
import type { Allowance, List } from './zone-type.ts'

/**
 * Permission to send one query to a list: true at once or after a wait; false, without waiting, if it would not be
 * available within `withinMs`.
 */
export type Allow = (list: List, withinMs: number, signal: AbortSignal) => boolean | Promise<boolean>

/** Applies each list's own allowance over all callers, first come, first served. */
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

/** No limits: for labs and private lists (`--no-courtesy`). */
export const unlimited: Allow = () => true

/**
 * A burst and a refill that together stay within the allowance of the list. For a list that counts seconds, one
 * second's worth at once. For a list that counts days, half of the day's worth at once and half over the day, so that
 * no 24 hours contain more than the whole.
 */
export const bucketSize = (allowance: Allowance): Rate =>
  'perSecond' in allowance
    ? { capacity: allowance.perSecond, perSecond: allowance.perSecond }
    : { capacity: allowance.perDay / 2, perSecond: allowance.perDay / 2 / 86_400 }
