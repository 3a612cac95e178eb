import type { Line, TimePoint } from './block.ts'

/** Maximum number of changes that a page or Markdown shows as text; the terminal shows fewer. */
export const MAX_CHANGES = 20

/** The points at which something changed, the first one among them. */
export const withChange = (points: readonly TimePoint[]): readonly TimePoint[] =>
  points.filter((point, i) => {
    const before = points[i - 1]
    return (
      before === undefined || before.text !== point.text || before.value !== point.value || before.mark !== point.mark
    )
  })

/** A point as text: time, value and note. */
export const pointLine = ({ time, value, text }: TimePoint): Line => [
  `${inWords(time)}: `,
  ...(value === null ? [] : [{ strong: String(Number(value.toFixed(1))) }, text === '' ? '' : ', ']),
  text,
]

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
