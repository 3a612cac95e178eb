import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  applyEvent,
  LONGEST_PAUSE_MS,
  newSourceState,
  REFUSED_PAUSE_MS,
  rankSources,
  type SourceEvent,
  type SourceState,
  THROTTLED_PAUSE_MS,
  unavailableReason,
} from './circuit-breaker.ts'

const T = 1_000_000
const refused: SourceEvent = { kind: 'refused', reason: 'source_blocked', text: 'listed' }
const throttled: SourceEvent = { kind: 'throttled', reason: 'rate_limited', text: 'slow down' }
const answered: SourceEvent = { kind: 'answered', latencyMs: 100 }
const begun: SourceEvent = { kind: 'begun' }
const through = (
  events: readonly (readonly [SourceEvent, number])[],
  start: SourceState = newSourceState(60),
): SourceState => events.reduce((state, [event, at]) => applyEvent(state, event, at), start)

describe('the state of a source address', () => {
  it.each<[string, (readonly [SourceEvent, number])[], Partial<SourceState>]>([
    [
      'a refusal opens the breaker',
      [[refused, T]],
      { breaker: 'open', pausedUntilMs: T + REFUSED_PAUSE_MS, refusals: 1 },
    ],
    [
      'throttling pauses for less time, and halves the rate',
      [[throttled, T]],
      { breaker: 'open', pausedUntilMs: T + THROTTLED_PAUSE_MS, perMinute: 15 },
    ],
    [
      'a refused trial doubles the pause',
      [
        [refused, T],
        [begun, T + REFUSED_PAUSE_MS],
        [refused, T + REFUSED_PAUSE_MS],
      ],
      { coolDownMs: REFUSED_PAUSE_MS * 2, pausedUntilMs: T + REFUSED_PAUSE_MS * 3 },
    ],
    [
      'refusals of sessions at the same time count as one',
      [
        [refused, T],
        [refused, T + 1],
      ],
      { coolDownMs: REFUSED_PAUSE_MS, pausedUntilMs: T + 1 + REFUSED_PAUSE_MS, refusals: 2 },
    ],
    [
      'a pause has an end',
      Array.from({ length: 40 }, (_, i) => [i % 2 === 0 ? begun : refused, T] as const),
      { coolDownMs: LONGEST_PAUSE_MS },
    ],
    [
      'a try after the pause is half-open',
      [
        [refused, T],
        [begun, T + REFUSED_PAUSE_MS],
      ],
      { breaker: 'half_open' },
    ],
    [
      'an answer closes it',
      [
        [refused, T],
        [begun, T + REFUSED_PAUSE_MS],
        [answered, T],
      ],
      { breaker: 'closed', coolDownMs: 0, pausedUntilMs: 0 },
    ],
    [
      'a dead host tells nothing of us',
      [
        [refused, T],
        [begun, T + 1],
        [{ kind: 'unanswered' }, T + 2],
      ],
      { breaker: 'open', pausedUntilMs: T + 2 },
    ],
    [
      'success raises the rate, not beyond the row',
      Array.from({ length: 100 }, () => [answered, T] as const),
      { perMinute: 60, successes: 100, latencyMs: 100 },
    ],
    ['a dead host changes nothing', [[{ kind: 'unanswered' }, T]], newSourceState(60)],
  ])('%s', (_, events, expected) => expect(through(events)).toMatchObject(expected))

  it('tells why an address is paused', () => {
    expect(unavailableReason(through([[refused, T]]), T + 1)).toBe(
      'is paused until 1970-01-01T00:26:40.000Z after source_blocked: listed',
    )
    expect(unavailableReason(through([[refused, T]]), T + REFUSED_PAUSE_MS)).toBeUndefined()
    const trial = through([
      [refused, T],
      [begun, T + REFUSED_PAUSE_MS],
    ])
    expect(unavailableReason(trial, T + REFUSED_PAUSE_MS + 1)).toBe('a trial attempt is in progress: listed')
    expect(unavailableReason(trial, T + REFUSED_PAUSE_MS + 60_000)).toBeUndefined() // a trial that never ended
  })
  it('stays in bounds and survives JSON, whatever happens', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.constantFrom(refused, throttled, answered, begun, { kind: 'unanswered' as const }), fc.nat(1e7)),
        ),
        (events) => {
          const state = through(events.map(([event, at]) => [event, T + at] as const))
          expect(state.perMinute).toBeGreaterThanOrEqual(1)
          expect(state.perMinute).toBeLessThanOrEqual(60)
          expect(state.coolDownMs).toBeLessThanOrEqual(LONGEST_PAUSE_MS)
          expect(JSON.parse(JSON.stringify(state))).toEqual(state)
        },
      ),
    ))
})

describe('the choice', () => {
  const fresh = newSourceState(60)
  const used = (at: number): SourceState => ({ ...fresh, lastUsedMs: at })
  it.each([
    [
      [
        ['a', used(2)],
        ['b', used(1)],
        ['c', used(3)],
      ],
      ['b', 'a', 'c'],
    ], // least recently used
    [
      [
        ['a', through([[refused, T - REFUSED_PAUSE_MS]])],
        ['b', used(9)],
      ],
      ['b', 'a'],
    ], // healthy before half-open
    [
      [
        ['a', through([[refused, T]])],
        ['b', used(9)],
      ],
      ['b'],
    ], // a paused one not at all
    [[['a', through([[refused, T]])]], []],
  ] as [[string, SourceState][], string[]][])('%j', (candidates, expected) =>
    expect(
      rankSources(
        candidates.map(([source, state]) => ({ source, state })),
        T,
      ).usable,
    ).toEqual(expected),
  )
  it('skips a listed one with the reason', () =>
    expect(rankSources([{ source: 'a', state: fresh, listed: 'on a list' }], T)).toEqual({
      usable: [],
      skipped: [{ source: 'a', why: 'on a list', untilMs: T }],
    }))
})
