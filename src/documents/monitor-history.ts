import type { MonitorChange, MonitorPoint } from '../answers/monitors.ts'
import { counted } from '../base/text.ts'
import { type Block, type Document, type Mark, type TimePoint, text } from './block.ts'
import { footerOf } from './footer.ts'
import { type List, listConclusion, moreBlocks } from './list.ts'
import { markOfScore } from './signs.ts'
import { pointLine, withChange } from './timeline.ts'

/** Words of statuses, results and verdicts, as marks. */
const MARKS: Readonly<Record<string, Mark>> = {
  pass: 'good',
  accepted: 'good',
  clean: 'good',
  warn: 'warn',
  catch_all: 'warn',
  fail: 'bad',
  rejected: 'bad',
  invalid: 'bad',
  listed: 'bad',
  not_applicable: 'none',
}
export const markOfStatus = (status: string): Mark => (Object.hasOwn(MARKS, status) ? MARKS[status]! : 'open')
const wordsOf = (word: string): string => word.replaceAll('_', ' ')

/** One point as text: the status, or why it is unknown. */
const statusInWords = ({ status, reason }: MonitorPoint): string =>
  reason === undefined ? wordsOf(status) : `could not be determined: ${reason}`

/** `pass, score 97, on no blacklist`. */
export const lastInWords = (point: MonitorPoint): string =>
  [
    statusInWords(point),
    ...(point.score === null ? [] : [`score ${point.score}`]),
    ...(point.listed === null ? [] : [listedInWords(point.listed)]),
  ].join(', ')
const listedInWords = (count: number): string => (count === 0 ? 'on no blacklist' : counted(count, 'listing'))

/** The runs of a monitor over time: score and listings as timelines; without numbers, the changes of the status. */
export function historyBlocks(points: readonly MonitorPoint[]): Block[] {
  if (points.length === 0) return [text('The monitor has not run yet.')]
  const hasScore = points.some(({ score }) => score !== null)
  const hasListed = points.some(({ listed }) => listed !== null)
  if (!hasScore && !hasListed)
    return [{ kind: 'list', items: withChange(points.map(statusPoint)).slice(-MAX_LINES).map(pointLine) }]
  const most = Math.max(1, ...points.map(({ listed }) => listed ?? 0))
  return [
    ...(hasScore ? [line('Score, of 100', 100, points.map(scorePoint))] : []),
    ...(hasListed ? [line('Listings on blacklists', most, points.map(listedPoint))] : []),
  ]
}
/** Maximum number of status changes shown as text. */
const MAX_LINES = 50

const line = (label: string, most: number, points: readonly TimePoint[]): Block => ({
  kind: 'timeline',
  timeline: { label, least: 0, most, points },
})
const statusPoint = (point: MonitorPoint): TimePoint => ({
  time: point.time,
  value: null,
  mark: markOfStatus(point.status),
  text: statusInWords(point),
})
const scorePoint = (point: MonitorPoint): TimePoint => ({
  ...statusPoint(point),
  value: point.score,
  mark: point.score === null ? 'open' : markOfScore(point.score),
})
const listedPoint = (point: MonitorPoint): TimePoint => ({
  time: point.time,
  value: point.listed,
  mark: point.listed === null ? 'open' : point.listed === 0 ? 'good' : 'bad',
  text: point.listed === null ? statusInWords(point) : '',
})

export const monitorHistoryDocument = (list: List<MonitorPoint>, version: string): Document => ({
  title: 'History',
  blocks: [
    listConclusion('History', list.data.length, 'run', list.has_more),
    ...historyBlocks(list.data),
    ...moreBlocks(list.next_cursor),
  ],
  footer: footerOf(version),
})

/** The changes and their times as text, newest first. */
export const changeBlocks = (changes: readonly MonitorChange[]): Block[] =>
  changes.flatMap(({ time, lines }): Block[] => [
    { kind: 'heading', level: 3, line: [{ time: time }] },
    { kind: 'list', items: lines.map((one) => [one]) },
  ])

export const monitorChangesDocument = (list: List<MonitorChange>, version: string): Document => ({
  title: 'Changes',
  blocks: [
    listConclusion('Changes', list.data.length, 'run with changes', list.has_more, 'runs with changes'),
    ...(list.data.length === 0 ? [] : [{ kind: 'heading', level: 2, line: ['Newest first'] } as const]),
    ...changeBlocks(list.data),
    ...moreBlocks(list.next_cursor),
  ],
  footer: footerOf(version),
})
