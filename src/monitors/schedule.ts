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
 * When a monitor runs next. The first run gives it a fixed time within its interval, so that monitors that are created,
 * or become due, at once are spread. Missed runs are not made up for.
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

/** Hours of the day without messages, by the clock of a time zone: `22:00` to `07:00` includes midnight. */
export type QuietHours = { readonly from: string; readonly to: string; readonly timezone: string }

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440

/**
 * The end of the quiet hours at `nowMs`, or undefined outside of them. If the clock changes (daylight saving time) in
 * between, it is an hour off and computed again then.
 */
export function quietUntil(nowMs: number, quiet: QuietHours | undefined): number | undefined {
  if (!quiet) return undefined
  const [from, to, now] = [minutes(quiet.from), minutes(quiet.to), minutes(clockOf(nowMs, quiet.timezone))]
  const isQuiet = from <= to ? now >= from && now < to : now >= from || now < to
  if (!isQuiet) return undefined
  const left = (to - now + DAY_MINUTES) % DAY_MINUTES
  return nowMs - (nowMs % MINUTE_MS) + left * MINUTE_MS
}

/** `14:05` as minutes of the day. */
function minutes(clock: string): number {
  const [hours = 0, rest = 0] = clock.split(':').map(Number)
  return hours * 60 + rest
}

const clockOf = (ms: number, timezone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(
    ms,
  )

/** Whether this machine knows the time zone (IANA). */
export function isTimezone(name: string): boolean {
  try {
    return name.length <= 64 && new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false // RangeError: the name is unknown
  }
}
