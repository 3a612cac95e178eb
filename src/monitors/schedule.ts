/** The minimum interval between two runs of a monitor, ms. */
const MIN_EVERY_MS = 15 * 60_000
/** Delay before a run without a result is repeated, until that is reported, ms. */
const RETRY_MS = 15 * 60_000

export type Scheduled = {
  readonly everyMs: number
  /** When this run was due. */
  readonly dueMs: number
  readonly isFirst: boolean
  /** Number of consecutive runs without a result, including this one. */
  readonly failures: number
  readonly tellFailuresAfter: number
}

/**
 * When a monitor runs next. The first run gives it a fixed time within its interval, so that monitors that are created, or become due, at once are spread.
 * Missed runs are not made up for.
 */
export function nextRun(
  { everyMs, dueMs, isFirst, failures, tellFailuresAfter }: Scheduled,
  nowMs: number,
  random: () => number,
): number {
  const soonest = nowMs + MIN_EVERY_MS
  if (failures > 0 && failures < tellFailuresAfter) return nowMs + RETRY_MS
  if (isFirst) return Math.max(soonest, nowMs + Math.floor(everyMs * random()))
  const missed = Math.max(0, Math.floor((nowMs - dueMs) / everyMs))
  return Math.max(soonest, dueMs + (missed + 1) * everyMs)
}
