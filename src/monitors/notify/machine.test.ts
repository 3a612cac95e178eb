import { describe, expect, it } from 'vitest'
import type { Change } from '../../answers/stored.ts'
import { type QuietHours, quietUntil } from '../schedule.ts'
import {
  afterRun,
  afterWait,
  type Facts,
  NEW_STATE,
  notifyState,
  type Observation,
  type ReportFacts,
  type Step,
  type Wanted,
} from './machine.ts'

const MINUTE = 60_000
/** 12:00 UTC of the day on which every row begins. */
const NOON = Date.UTC(2026, 0, 2, 12)
const ALL: Wanted = { changed: true, worse: false, listed: true, scoreBelow: 80 }
const ONLY = { changed: false, worse: false, listed: false, scoreBelow: undefined }

const change = (text: string, area = 'SPF'): Change => ({ id: `${area}.x`, area, effect: 'neutral', text })
type Seen = Partial<Observation> & {
  readonly score?: number
  readonly listed?: number
  readonly rank?: number
  readonly reports?: ReportFacts
  readonly beside?: Facts['beside']
}
const base: Seen = { isBaseline: true }
const fine: Seen = {}
const gap: Seen = { facts: undefined, open: ['SPF: no answer'] }
const changed = (text: string, area?: string): Seen => ({ changes: [change(text, area)] })

const STATUSES = ['fail', 'warn', 'pass']
const reports = (failing: number, silentDays: number | null = 0): Seen => ({
  reports: { failing: { date: '2026-01-01', messages: 200, failing }, silentDays },
})
const newcomer = (text: string): Change => ({ ...change(text, 'Senders'), id: 'reports.new_sender' })
const observationOf = ({ score = 90, listed = 0, rank = 2, reports: facts, beside, ...rest }: Seen): Observation => ({
  facts: {
    ...{ status: STATUSES[rank]!, rank, score, listed, listedAs: listed > 0 ? `X and ${listed}` : '' },
    ...(facts && { reports: facts }),
    ...(beside && { beside }),
  },
  changes: [],
  open: [],
  isBaseline: false,
  ...rest,
})

/**
 * Runs a monitor through the days: `[minute, what the run sees]`; what is held is released when it is due. Each message
 * as a line.
 */
function told(runs: readonly (readonly [number, Seen])[], wanted: Wanted, quiet?: QuietHours): readonly string[] {
  const lines: string[] = []
  let state = NEW_STATE
  let before: Observation['before']
  let dueMs: number | undefined
  const take = (step: Step, atMs: number): void => {
    state = notifyState.parse(JSON.parse(JSON.stringify(step.state))) // it is kept as JSON
    dueMs = step.dueMs
    const { message } = step
    if (message)
      lines.push(`${(atMs - NOON) / MINUTE} ${message.type.slice(8)} ×${message.count}: ${message.lines.join(' | ')}`)
  }
  const release = (untilMs: number): void => {
    for (let rounds = 0; dueMs !== undefined && dueMs <= untilMs; rounds++) {
      if (rounds > 100) throw new Error('it is released forever')
      const atMs = dueMs
      take(afterWait(state, atMs, quietUntil(atMs, quiet)), atMs)
    }
  }
  for (const [minute, seen] of runs) {
    const atMs = NOON + minute * MINUTE
    release(atMs - 1)
    const observation = { ...observationOf(seen), before }
    before = observation.facts ?? before
    take(afterRun(state, observation, wanted, atMs, quietUntil(atMs, quiet)), atMs)
  }
  release(NOON + 100 * 1_440 * MINUTE)
  return lines
}

const NIGHT = { from: '22:00', to: '07:00', timezone: 'UTC' }
const HOURS = (hours: number): number => hours * 60

describe('what is told', () => {
  it.each<[string, readonly (readonly [number, Seen])[], Wanted, readonly string[], QuietHours?]>([
    [
      'nothing while nothing changes',
      [
        [0, base],
        [1_440, fine],
        [2_880, fine],
      ],
      ALL,
      [],
    ],
    [
      'the share of a day that fails, at its beginning and end',
      [
        [0, { ...base, ...reports(20) }],
        [1_440, reports(30)],
        [2_880, reports(10)],
        [4_320, reports(11)],
      ],
      { ...ONLY, failingAbove: 5 },
      [
        '0 changed ×1: 10.0 % of the 200 messages of 2026-01-01 fail DMARC, more than 5 %',
        '2880 recovered ×1: 5.0 % of the 200 messages of 2026-01-01 fail DMARC, not more than 5 %',
        '4320 changed ×1: 5.5 % of the 200 messages of 2026-01-01 fail DMARC, more than 5 %',
      ],
    ],
    [
      'no report for three days, also at the first run; not where there never was one',
      [
        [0, { ...base, ...reports(0, 3) }],
        [1_440, reports(0, 4)],
        [2_880, reports(0, 0)],
        [4_320, reports(0, null)],
      ],
      { ...ONLY, noReports: true },
      ['0 changed ×1: no report has come in for 3 days', '2880 recovered ×1: reports come in again'],
    ],
    [
      'a new sender, and no other change',
      [
        [0, base],
        [1_440, { changes: [newcomer('new sender A'), change('B is unknown', 'Senders')] }],
        [2_880, { changes: [change('B is authorized', 'Senders')] }],
      ],
      { ...ONLY, newSender: true },
      ['1440 changed ×1: Senders: new sender A'],
    ],
    ['nothing of the baseline', [[0, { ...base, changes: [change('x')] }]], ALL, []],
    [
      'worse beside what is accepted',
      [
        [0, { ...base, score: 90 }],
        [1_440, { score: 60, rank: 0, beside: { rank: 2, score: 90 } }],
        [2_880, { score: 40, rank: 0, beside: { rank: 1, score: 70 } }],
        [4_320, { score: 60, rank: 0, beside: { rank: 2, score: 90 } }],
      ],
      { ...ONLY, worse: true },
      [
        '2880 changed ×1: worse than before: score 70 instead of 90, without what is accepted',
        '4320 recovered ×1: as good as before again: fail, score 90, without what is accepted',
      ],
    ],
    [
      'the baseline, where a condition holds already',
      [
        [0, { ...base, listed: 2, score: 50 }],
        [1_440, { listed: 2, score: 50 }],
      ],
      ALL,
      ['0 changed ×1: on 2 blacklists: X and 2 | score 50 is below the limit of 80'],
    ],
    [
      'a change once',
      [
        [0, base],
        [60, changed('one')],
        [120, fine],
        [180, fine],
      ],
      ALL,
      ['60 changed ×1: SPF: one'],
    ],
    [
      'the way back as a change',
      [
        [0, base],
        [60, changed('there')],
        [300, changed('and back')],
      ],
      ALL,
      ['60 changed ×1: SPF: there', '300 changed ×1: SPF: and back'],
    ],
    [
      'no change to who wants none',
      [
        [0, base],
        [60, changed('one')],
      ],
      { ...ONLY, listed: true },
      [],
    ],
    [
      'a condition once, and once when it is over',
      [
        [0, base],
        [60, { listed: 1 }],
        [120, { listed: 1 }],
        [180, { listed: 3 }],
        [240, fine],
        [300, fine],
      ],
      { ...ONLY, listed: true },
      ['60 changed ×1: on a blacklist: X and 1', '240 recovered ×1: no longer on any blacklist'],
    ],
    [
      'a score below the limit',
      [
        [0, base],
        [60, { score: 79 }],
        [120, { score: 10 }],
        [180, { score: 80 }],
      ],
      { ...ONLY, scoreBelow: 80 },
      [
        '60 changed ×1: score 79 is below the limit of 80',
        '180 recovered ×1: score 80 is no longer below the limit of 80',
      ],
    ],
    [
      'worse, until it is as well as before',
      [
        [0, base],
        [60, { rank: 1 }],
        [120, { rank: 0 }],
        [180, { rank: 1 }],
        [240, { rank: 2 }],
      ],
      { ...ONLY, worse: true },
      [
        '60 changed ×1: worse than before: warn instead of pass',
        '240 recovered ×1: as good as before again: pass, score 90',
      ],
    ],
    [
      'better is not worse',
      [
        [0, { ...base, score: 50 }],
        [60, { score: 90 }],
        [120, { score: 90 }],
      ],
      { ...ONLY, worse: true },
      [],
    ],
    [
      'what made it worse, and better',
      [
        [0, base],
        [60, { score: 50, changes: [{ ...change('gone'), effect: 'worse' }, change('other', 'MX')] }],
        [120, { score: 90, changes: [{ ...change('there'), effect: 'better' }, change('other', 'MX')] }],
      ],
      { ...ONLY, worse: true },
      [
        '60 changed ×1: worse than before: score 50 instead of 90 | SPF: gone',
        '120 recovered ×1: as good as before again: pass, score 90 | SPF: there',
      ],
    ],
    [
      'a listing once: by the line of the condition',
      [
        [0, base],
        [60, { listed: 1, changes: [{ ...change('now on X', 'Blacklists'), id: 'blacklist.listed' }] }],
        [120, { changes: [{ ...change('no longer on X', 'Blacklists'), id: 'blacklist.delisted' }] }],
      ],
      { ...ONLY, listed: true },
      [
        '60 changed ×1: on a blacklist: X and 1',
        '120 recovered ×1: no longer on any blacklist | Blacklists: no longer on X',
      ],
    ],
    [
      'a condition and its changes in one message',
      [
        [0, base],
        [60, { listed: 1, ...changed('192.0.2.1 is now on X', 'Blacklists') }],
      ],
      ALL,
      ['60 changed ×1: on a blacklist: X and 1 | Blacklists: 192.0.2.1 is now on X'],
    ],
  ])('%s', (_, runs, wanted, lines, quiet) => expect(told(runs, wanted, quiet)).toEqual(lines))
})

describe('runs that could not find out', () => {
  const failing = 'could not be checked 3 times in a row: SPF: no answer'
  it.each<[string, readonly (readonly [number, Seen])[], readonly string[]]>([
    [
      'are told after three in a row, once',
      [
        [0, base],
        [15, gap],
        [30, gap],
        [45, gap],
        [60, gap],
        [1_500, gap],
      ],
      [`45 failing ×1: ${failing}`],
    ],
    [
      'are not told after two',
      [
        [0, base],
        [15, gap],
        [30, gap],
        [45, fine],
        [60, gap],
        [75, gap],
      ],
      [],
    ],
    [
      'are told when they end',
      [
        [0, base],
        [15, gap],
        [30, gap],
        [45, gap],
        [1_500, fine],
      ],
      [`45 failing ×1: ${failing}`, '1500 recovered ×1: can be checked again'],
    ],
    [
      'with what changed meanwhile',
      [
        [0, base],
        [15, gap],
        [30, gap],
        [45, gap],
        [1_500, changed('one')],
      ],
      [`45 failing ×1: ${failing}`, '1500 recovered ×1: can be checked again | SPF: one'],
    ],
    [
      'from the first run on',
      [
        [0, gap],
        [15, gap],
        [30, gap],
        [45, base],
      ],
      [`30 failing ×1: ${failing}`, '45 recovered ×1: can be checked again'],
    ],
    [
      'leave a condition as it is',
      [
        [0, { ...base, listed: 1 }],
        [15, gap],
        [30, fine],
      ],
      ['0 changed ×1: on a blacklist: X and 1', '30 recovered ×1: no longer on any blacklist'],
    ],
    [
      'that fail in part tell what changed in the rest',
      [
        [0, base],
        [60, { ...changed('one', 'MX'), open: ['SPF: no answer'] }],
      ],
      ['60 changed ×1: MX: one'],
    ],
    [
      'that come and go are told at most once an hour',
      [
        [0, base],
        [15, gap],
        [30, gap],
        [45, gap],
        [60, fine],
        [75, gap],
        [90, gap],
        [105, gap],
        [120, fine],
        [135, fine],
      ],
      [`45 failing ×1: ${failing}`, '60 recovered ×1: can be checked again', '120 recovered ×2: can be checked again'],
    ],
  ])('%s', (_, runs, lines) => expect(told(runs, ALL)).toEqual(lines))
})

describe('what flaps', () => {
  const flapping = (times: number): readonly (readonly [number, Seen])[] =>
    Array.from({ length: times }, (_, i) => [15 * (i + 1), i % 2 === 0 ? { listed: 1 } : fine] as const)
  it.each<[string, readonly (readonly [number, Seen])[], Wanted, readonly string[]]>([
    [
      'is told at most once an hour, with the count, and its first recovery always',
      [[0, base], ...flapping(12)],
      { ...ONLY, listed: true },
      [
        '15 changed ×1: on a blacklist: X and 1',
        '30 recovered ×1: no longer on any blacklist',
        '90 recovered ×4: no longer on any blacklist',
        '150 recovered ×4: no longer on any blacklist',
        '210 recovered ×2: no longer on any blacklist',
      ],
    ],
    [
      'and as it is in the end',
      [[0, base], ...flapping(3)],
      { ...ONLY, listed: true },
      [
        '15 changed ×1: on a blacklist: X and 1',
        '30 recovered ×1: no longer on any blacklist',
        '90 changed ×1: on a blacklist: X and 1',
      ],
    ],
    [
      'changes alike',
      [
        [0, base],
        [15, changed('there')],
        [30, changed('back')],
        [45, changed('there')],
        [60, changed('back')],
      ],
      ALL,
      ['15 changed ×1: SPF: there', '75 changed ×3: SPF: back'],
    ],
    [
      'and back at last: what was said since the last message is not told, but as it is',
      [
        [0, base],
        [15, changed('there')],
        [30, changed('back')],
        [45, changed('there')],
      ],
      ALL,
      ['15 changed ×1: SPF: there', '75 changed ×2: SPF: there'],
    ],
    [
      'is not what changes in several ways within the hour: all of it is told',
      [
        [0, base],
        [15, changed('one')],
        [30, changed('two')],
        [45, changed('three')],
      ],
      ALL,
      ['15 changed ×1: SPF: one', '75 changed ×2: SPF: two; three'],
    ],
    [
      'holds up nothing else',
      [
        [0, base],
        [15, changed('there')],
        [30, changed('back')],
        [45, changed('gone', 'DMARC')],
      ],
      ALL,
      ['15 changed ×1: SPF: there', '45 changed ×2: SPF: back | DMARC: gone'],
    ],
  ])('%s', (_, runs, wanted, lines) => expect(told(runs, wanted)).toEqual(lines))
})

describe('in the quiet hours', () => {
  it.each<[string, readonly (readonly [number, Seen])[], Wanted, readonly string[]]>([
    [
      'a change waits for the morning',
      [
        [0, base],
        [HOURS(11), changed('one')],
        [HOURS(12), fine],
      ],
      ALL,
      [`${HOURS(19)} changed ×1: SPF: one`],
    ],
    [
      'several are one message',
      [
        [0, base],
        [HOURS(11), changed('one')],
        [HOURS(13), changed('two', 'MX')],
      ],
      ALL,
      [`${HOURS(19)} changed ×2: SPF: one | MX: two`],
    ],
    [
      'a condition that came and went is told to nobody',
      [
        [0, base],
        [HOURS(11), { listed: 1 }],
        [HOURS(12), fine],
      ],
      { ...ONLY, listed: true },
      [],
    ],
    [
      'one that stays is told in the morning',
      [
        [0, base],
        [HOURS(11), { listed: 1 }],
        [HOURS(30), fine],
      ],
      { ...ONLY, listed: true },
      [`${HOURS(19)} changed ×1: on a blacklist: X and 1`, `${HOURS(30)} recovered ×1: no longer on any blacklist`],
    ],
    [
      'one that was told before and is over is told in the morning',
      [
        [0, base],
        [60, { listed: 1 }],
        [HOURS(12), fine],
      ],
      { ...ONLY, listed: true },
      ['60 changed ×1: on a blacklist: X and 1', `${HOURS(19)} recovered ×1: no longer on any blacklist`],
    ],
    [
      'runs that failed and went well again are told to nobody',
      [
        [0, base],
        [HOURS(11), gap],
        [HOURS(11.5), gap],
        [HOURS(12), gap],
        [HOURS(13), fine],
      ],
      ALL,
      [],
    ],
  ])('%s', (_, runs, wanted, lines) => expect(told(runs, wanted, NIGHT)).toEqual(lines))

  it.each<[string, QuietHours, number | undefined]>([
    ['2026-01-02T21:59:59Z', NIGHT, undefined],
    ['2026-01-02T22:00:00Z', NIGHT, Date.UTC(2026, 0, 3, 7)],
    ['2026-01-03T06:59:59Z', NIGHT, Date.UTC(2026, 0, 3, 7)],
    ['2026-01-03T07:00:00Z', NIGHT, undefined],
    ['2026-07-02T21:30:00Z', { ...NIGHT, timezone: 'Europe/Berlin' }, Date.UTC(2026, 6, 3, 5)], // 23:30 there
    ['2026-01-02T13:00:00Z', { from: '12:00', to: '14:00', timezone: 'UTC' }, Date.UTC(2026, 0, 2, 14)],
    ['2026-01-02T13:00:00Z', { from: '13:00', to: '13:00', timezone: 'UTC' }, undefined],
  ])('%s', (time, quiet, until) => expect(quietUntil(Date.parse(time), quiet)).toBe(until))
})

describe('a clock that steps', () => {
  it('back: what was told in the time ahead holds nothing up', () =>
    expect(
      told(
        [
          [0, base],
          [600, { listed: 1 }],
          [30, fine],
          [45, { listed: 1 }],
        ],
        { ...ONLY, listed: true },
      ),
    ).toEqual([
      '600 changed ×1: on a blacklist: X and 1',
      '30 recovered ×1: no longer on any blacklist',
      '90 changed ×1: on a blacklist: X and 1',
    ]))
  it('forward: nothing is told twice', () =>
    expect(
      told(
        [
          [0, base],
          [60, { listed: 1 }],
          [600_000, { listed: 1 }],
        ],
        { ...ONLY, listed: true },
      ),
    ).toEqual(['60 changed ×1: on a blacklist: X and 1']))
})
