import { expect, it } from 'vitest'
import type { ReportsWatch } from '../../answers/reports.ts'
import { knownRun } from '../kinds.ts'

type Sender = ReportsWatch['senders'][number]
const sender = (id: string, over: Partial<Sender> = {}): Sender => ({
  ...{ id, name: id, verdict: 'authorized', messages: 100 },
  ...over,
})
const watch = (senders: readonly Sender[], over: Partial<ReportsWatch> = {}): ReportsWatch => ({
  ...{ domain: 'a.example', to: '2026-11-23', days: [], last_report_at: null },
  senders: [...senders],
  ...over,
})
/** The changes of the last of several runs. */
function told(runs: readonly ReportsWatch[]): readonly string[] {
  let known: string | null = null
  let changes: readonly { readonly text: string }[] = []
  for (const run of runs) {
    const reading = knownRun('reports', known).compare(run)
    known = reading.known ?? known
    changes = reading.changes
  }
  return changes.map(({ text }) => text)
}

it.each<[string, readonly ReportsWatch[], readonly string[]]>([
  ['the first run tells nothing', [watch([sender('a')])], []],
  [
    'a new sender',
    [watch([sender('a')]), watch([sender('a'), sender('b', { verdict: 'unknown' })])],
    ['new sender b (unknown, 100 messages)'],
  ],
  ['of few messages is none yet', [watch([]), watch([sender('b', { messages: 9 })])], []],
  ['that looks forged is none', [watch([]), watch([sender('b', { verdict: 'forged' })])], []],
  ['that passes mail on is none', [watch([]), watch([sender('b', { verdict: 'forwarded' })])], []],
  ['that comes back is none', [watch([sender('a')]), watch([]), watch([sender('a')])], []],
  [
    'a verdict that changes',
    [watch([sender('a')]), watch([sender('a', { verdict: 'unknown' })])],
    ['a is unknown, no longer authorized'],
  ],
])('%s', (_, runs, lines) => expect(told(runs)).toEqual(lines))

const day = (date: string, messages: number, failing: number) => ({ date, messages, failing })
it.each<[string, Partial<ReportsWatch>, object]>([
  ['no report at all', {}, { failing: null, silentDays: null }],
  [
    'the last day with 100 messages',
    { days: [day('2026-11-20', 200, 20), day('2026-11-21', 99, 99)], last_report_at: '2026-11-22T03:00:00.000Z' },
    { failing: day('2026-11-20', 200, 20), silentDays: 1 },
  ],
  ['reports of long ago', { last_report_at: '2026-09-01T23:59:00.000Z' }, { failing: null, silentDays: 83 }],
])('%s', (_, over, reports) =>
  expect(knownRun('reports', null).compare(watch([], over)).facts.reports).toEqual(reports),
)
