import { type Bucket, type BucketSize, fullBucket, takeToken } from '../base/bucket.ts'
import { sleep } from '../base/deadline.ts'
import type { Allowance, List } from './zone-type.ts'

/** Leave to send one question to a list: true at once or after a wait; false when it could not be had within `withinMs`, said without waiting for that to pass. */
export type Allow = (list: List, withinMs: number, signal: AbortSignal) => boolean | Promise<boolean>

/** Keeps every list's own allowance, its row's, over all callers. Those who wait are served in order. */
export function allowances(now: () => number): Allow {
  const buckets = new Map<string, { bucket: Bucket; size: BucketSize; waiting: number }>()

  return (list, withinMs, signal) => {
    let kept = buckets.get(list.zone)
    if (!kept) {
      const size = bucketSize(list.allowance)
      kept = { bucket: fullBucket(size, now()), size, waiting: 0 }
      buckets.set(list.zone, kept)
    }
    const lane = kept
    const take = (): number => {
      const taken = takeToken(lane.bucket, lane.size, now())
      lane.bucket = taken.bucket
      return taken.waitMs
    }
    const ahead = (lane.waiting * 1_000) / lane.size.perSecond
    const waitMs = lane.waiting > 0 ? ahead + peekMs(lane.bucket, lane.size, now()) : take()
    if (waitMs === 0) return true
    if (waitMs > withinMs) return false
    lane.waiting += 1
    return inTurn(waitMs, take, withinMs, signal).finally(() => {
      lane.waiting -= 1
    })
  }
}

/** No limits: for labs and one's own lists (`--no-courtesy`). */
export const unlimited: Allow = () => true

/**
 * A burst and a refill that together stay within what the list grants: a second's worth at once for lists that count seconds;
 * for lists that count days half of the day's at once and half over the day, so that no 24 hours hold more than the whole.
 */
export const bucketSize = (allowance: Allowance): BucketSize =>
  'perSecond' in allowance
    ? { capacity: allowance.perSecond, perSecond: allowance.perSecond }
    : { capacity: allowance.perDay / 2, perSecond: allowance.perDay / 2 / 86_400 }

const peekMs = (bucket: Bucket, size: BucketSize, nowMs: number): number => takeToken(bucket, size, nowMs).waitMs

async function inTurn(waitMs: number, take: () => number, withinMs: number, signal: AbortSignal): Promise<boolean> {
  let leftMs = withinMs
  for (let next = waitMs; next <= leftMs; ) {
    try {
      await sleep(next, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      return false // the deadline, or the caller went away
    }
    leftMs -= next
    next = take()
    if (next === 0) return true
  }
  return false
}
