const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

/** Delays before the second and later attempts, ms: 75 h 35 min in total, the example schedule of Standard Webhooks. */
export const RETRY_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const

/** When a message is sent again after this number of attempts, or undefined: not any more. */
export const nextAttempt = (tries: number, nowMs: number): number | undefined => {
  const wait = RETRY_MS[tries - 1]
  return wait === undefined ? undefined : nowMs + wait
}
