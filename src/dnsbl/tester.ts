import { within } from '../base/deadline.ts'
import type { Family } from '../names/ip.ts'
import type { Ctx } from '../world.ts'
import { unlimited } from './allowance.ts'
import { askA } from './ask.ts'
import { askedZone, TEST_POINTS } from './query.ts'
import { isDue, nextState, readTestPoint, type Seen, type TestState } from './self-test.ts'
import type { TestStates } from './test-states.ts'
import type { List, ListKeys } from './zone-type.ts'

/** The parts of the world that a test outlives its caller with. */
export type TestCtx = Pick<Ctx, 'resolve' | 'store' | 'log' | 'now'>

export type Tester = {
  readonly state: (list: List, family: Family) => TestState
  readonly isDue: (list: List, family: Family, nowMs: number) => boolean
  /** Starts the tests of `lists` that are due and not under way. */
  readonly start: (ctx: TestCtx, lists: readonly List[], family: Family) => void
  /** What the negative test point of a test under way shows; undefined when none is under way. */
  readonly negative: (list: List, family: Family) => Promise<Seen> | undefined
  /** Settles when the test of a list that is under way is done, at most its deadline; undefined when none is under way. */
  readonly underWay: (list: List, family: Family) => Promise<void> | undefined
  /** Settles when no test is under way and the store knows. At most the deadline of a test. */
  readonly settled: () => Promise<void>
}

type Running = { readonly negative: Promise<Seen>; readonly done: Promise<void> }
type Round = { readonly ctx: TestCtx; readonly family: Family; readonly signal: AbortSignal }

/** Tests lists by RFC 5782 §5, lazily and at most hourly, through the same resolver as every question. A test belongs to nobody: it goes on when its caller leaves. */
export function tester(options: {
  readonly states: TestStates
  readonly keys: ListKeys
  readonly deadlineMs: number
}): Tester {
  const { states, keys, deadlineMs } = options
  const running = { 4: new Map<List, Running>(), 6: new Map<List, Running>() }

  async function look(list: List, point: 'positive' | 'negative', { ctx, family, signal }: Round) {
    const name = `${TEST_POINTS[family][point]}.${askedZone(list, family, keys)}`
    const answer = await askA(list, name, {
      resolve: ctx.resolve,
      allow: unlimited, // a handful an hour
      keys,
      first: signal,
      whole: signal,
      leftMs: () => deadlineMs,
      retry: false,
    })
    return answer === 'own_limit' ? { seen: 'unanswered' as const, codes: [] } : readTestPoint(list, point, answer)
  }

  async function finish(list: List, first: Promise<Seen>, round: Round): Promise<void> {
    const seen = await first
    const rest = ANSWERS_EVERYTHING.has(seen)
      ? { again: seen, positive: { seen: 'unanswered' as const, codes: [] } }
      : await askRest(list, round)
    const before = states.get(list, round.family)
    const state = nextState(before, {
      atMs: round.ctx.now(),
      positive: rest.positive.seen,
      negative: !list.testPoint.negative ? 'skipped' : ANSWERS_EVERYTHING.has(rest.again) ? rest.again : seen,
      codes: rest.positive.codes,
    })
    states.set(round.ctx, list, round.family, state)
    if (state.status === before.status && state.reason === before.reason) return
    const fields = { blacklist: list.name, family: round.family, status: state.status, reason: state.reason }
    round.ctx.log[state.status === 'healthy' ? 'info' : 'warn']('dnsbl.list_state', fields)
  }

  /** The negative point once more: a zone that answers by whim is caught between two questions that follow each other. */
  async function askRest(list: List, round: Round) {
    const again = list.testPoint.negative ? look(list, 'negative', round) : undefined
    const positive = await look(list, 'positive', round)
    return { again: (await again)?.seen ?? 'absent', positive }
  }

  return {
    state: states.get,
    isDue: (list, family, nowMs) => !running[family].has(list) && isDue(states.get(list, family), nowMs),
    start: (ctx, lists, family) => {
      if (lists.length === 0) return
      const round = { ctx, family, signal: within(deadlineMs) }
      for (const list of lists) {
        if (running[family].has(list)) continue
        const negative = list.testPoint.negative
          ? look(list, 'negative', round).then(({ seen }) => seen)
          : Promise.resolve<Seen>('absent')
        const done = finish(list, negative, round)
          .catch((error) => ctx.log.error('dnsbl.test_failed', { blacklist: list.name, error: String(error) }))
          .finally(() => running[family].delete(list))
        running[family].set(list, { negative, done })
      }
    },
    negative: (list, family) => running[family].get(list)?.negative,
    underWay: (list, family) => running[family].get(list)?.done,
    settled: async () => {
      await Promise.allSettled([...running[4].values(), ...running[6].values()].map(({ done }) => done))
      await states.saved()
    },
  }
}

const ANSWERS_EVERYTHING: ReadonlySet<Seen> = new Set(['listed', 'rewritten'])
