/** `2026-01-02T03:04:05.000Z` as `2026-01-02 03:04 UTC`; anything else unchanged. */
export const inWords = (time: string): string =>
  time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d{1,9})?Z$/, '$1 $2 UTC')

/** Milliseconds in the largest relevant units: `850 ms`, `4 s`, `5 min`, `2 h 10 min`, `3 days`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 90_000) return `${Number((ms / 1_000).toFixed(ms < 10_000 ? 1 : 0))} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.round(hours / 24)} days`
}
