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
  { time },
  ': ',
  ...(value === null ? [] : [{ strong: String(Number(value.toFixed(1))) }, text === '' ? '' : ', ']),
  text,
]
