import type { MonitorEvent } from '../../answers/events.ts'
import type { Message } from './machine.ts'

export type About = MonitorEvent['data']['monitor']

const KIND_WORDS = {
  check: 'mail setup',
  report: 'mail setup',
  verify: 'mailbox',
  blacklist: 'listings',
  reports: 'mail',
} as const

/** A message as an event. */
export function eventOf(
  about: About,
  message: Message,
  last: MonitorEvent['data']['last'],
  nowMs: number,
): MonitorEvent {
  const { type, lines, changes, count } = message
  const title = `${about.target}: ${titleOf(about, message)}`
  const said = count > 1 ? [...lines, `There were ${count} changes since the last message.`] : [...lines]
  return {
    type,
    timestamp: new Date(nowMs).toISOString(),
    data: { monitor: about, title, lines: said, changes: [...changes], count, last },
  }
}

/** Maximum number of characters of a title. */
const MAX_TITLE = 90
/** The first line if it is the only one or a condition, otherwise the subject. */
function titleOf({ kind }: About, { type, lines, changes, isCondition }: Message): string {
  if (type === 'monitor.failing') return `the ${KIND_WORDS[kind]} could not be checked 3 times in a row`
  const domain = changes.find(({ area }) => area === 'Domain')
  if (domain) return `the domain ${domain.effect === 'worse' ? 'no longer exists' : 'exists again'}`
  const first = lines[0] ?? ''
  if ((lines.length === 1 || isCondition) && first.length <= MAX_TITLE) return first
  if (isCondition) return (first.split(': ')[0] ?? '').slice(0, MAX_TITLE)
  const areas = [...new Set(changes.map(({ area }) => area))].filter(
    (area) => area !== 'Score' && area !== 'Solved' && area !== 'New findings',
  )
  return areas.length > 0 && areas.length <= 3 ? `${areas.join(', ')} changed` : `the ${KIND_WORDS[kind]} changed`
}

/** The message of a test, which identifies itself as one. */
export const testEvent = (about: About, nowMs: number): MonitorEvent => ({
  type: 'monitor.changed',
  timestamp: new Date(nowMs).toISOString(),
  data: {
    monitor: about,
    title: `${about.target}: this is a test`,
    lines: ['This is a test of the messages of this monitor. Nothing has changed.'],
    changes: [],
    count: 0,
    last: null,
    test: true,
  },
})
