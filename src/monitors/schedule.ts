/** The least time between two runs of a monitor, ms. */
export const MIN_EVERY_MS = 15 * 60_000
/** Runs that could not find out are made again after this time, until that is told, ms. */
const RETRY_MS = 15 * 60_000

export type Scheduled = {
  readonly everyMs: number
  /** When this run was due. */
  readonly dueMs: number
  readonly isFirst: boolean
  /** Runs in a row that could not find out, this one included. */
  readonly failures: number
  readonly tellFailuresAfter: number
}

/**
 * When a monitor runs next. The first run gives it a place of its own within its interval, which it keeps: monitors that are made, or become due, at once are spread. Runs
 * that were missed are not made up for.
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
