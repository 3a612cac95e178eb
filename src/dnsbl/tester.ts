import { z } from 'zod'
import { timedOut, within } from '../base/deadline.ts'
import type { Json } from '../base/json.ts'
import { type Lifetime, sharedWork, type Work } from '../base/share-work.ts'
import { isTimeMs } from '../base/time.ts'
import type { Family } from '../names/ip.ts'
import type { Ctx } from '../world.ts'
import { unlimited } from './allowance.ts'
import { askA } from './ask.ts'
import { askedZone, negativePoint, positivePoint } from './query.ts'
import {
  isDue,
  MAX_HISTORY,
  nextState,
  readTestPoint,
  type Seen,
  type TestResult,
  type TestState,
  UNTESTED,
} from './self-test.ts'
import type { List, ListKeys } from './zone-type.ts'

/** The parameters of a test. It continues after its caller. */
export type TestCtx = Pick<Ctx, 'resolve' | 'store' | 'log' | 'now' | 'monotonic' | 'random'>

/** A test in progress. None of its promises rejects. */
type Test = Work<void> & {
  readonly negative: Promise<Seen>
  /**
   * Settles when both points were answered and the state has the result: one round trip. For `result` the negative
   * point is queried once more.
   */
  readonly answered: Promise<void>
}

type Round = { readonly ctx: TestCtx; readonly list: List; readonly family: Family; readonly signal: AbortSignal }

/** How long a clean result of a negative point is used, ms. */
const CLEAN_MS = 60_000

/** Tests lists by RFC 5782 §5 through the same resolver as all other queries. */
export function tester(options: { readonly states: TestStates; readonly keys: ListKeys; readonly deadlineMs: number }) {
  const { states, keys, deadlineMs } = options
  const share = sharedWork<void, Test>()
  const checks = sharedWork<Seen>()
  const underWay = new Set<Promise<void>>()
  const cleanAtMs = new Map<string, number>()

  async function look(round: Round, point: 'positive' | 'negative') {
    const { ctx, list, family, signal } = round
    const at = point === 'positive' ? positivePoint(list, family) : negativePoint(list, family, ctx.random)
    const answer = await askA(list, `${at}.${askedZone(list, family, keys)}`, {
      resolve: ctx.resolve,
      allow: unlimited, // a handful an hour
      keys,
      first: signal,
      whole: signal,
      leftMs: () => deadlineMs,
      retry: false,
    })
    const read = answer === 'own_limit' ? UNANSWERED : readTestPoint(list, point, answer)
    if (point === 'negative' && read.seen === 'absent') cleanAtMs.set(keyOf(list, family), ctx.monotonic())
    return read
  }

  function note({ ctx, list, family }: Round, test: Omit<TestResult, 'atMs'>): void {
    const before = states.get(list, family)
    const state = nextState(before, { ...test, atMs: ctx.now() })
    states.set(ctx, list, family, state)
    if (state.status === before.status && state.reason === before.reason) return
    const fields = { blacklist: list.name, family, status: state.status, reason: state.reason }
    ctx.log[state.status === 'healthy' ? 'info' : 'warn']('dnsbl.list_state', fields)
  }

  function begin(ctx: TestCtx, list: List, family: Family, lifetime: Lifetime): Test {
    const round = { ctx, list, family, signal: within(deadlineMs, lifetime.signal) }
    const negative = look(round, 'negative').then(({ seen }) => seen)
    const answered = Promise.all([negative, look(round, 'positive')]).then(([seen, { seen: positive, codes }]) => {
      if (!lifetime.signal.aborted) note(round, { negative: seen, positive, codes })
    })
    return { negative, answered, result: answered.then(() => again(round, lifetime.signal)) }
  }

  /** The negative point once more: two queries in a row detect a zone that answers inconsistently. */
  async function again(round: Round, gone: AbortSignal): Promise<void> {
    if (gone.aborted || states.get(round.list, round.family).status === 'quarantined') return
    const { seen } = await look(round, 'negative')
    if (!gone.aborted && ANSWERS_EVERYTHING.has(seen))
      note(round, { negative: seen, positive: 'unanswered', codes: [] })
  }

  /**
   * The present result of the negative test point: from the test in progress, or from a new query if the last answer is
   * over a minute old.
   */
  async function negative(ctx: TestCtx, list: List, family: Family, signal: AbortSignal): Promise<Seen> {
    const key = keyOf(list, family)
    const test = share.running(key)
    if (test) return test.negative
    const cleanMs = ctx.monotonic() - (cleanAtMs.get(key) ?? Number.NEGATIVE_INFINITY)
    if (cleanMs < CLEAN_MS) return 'absent'
    const check = async (lifetime: Lifetime): Promise<Seen> => {
      const round = { ctx, list, family, signal: within(deadlineMs, lifetime.signal) }
      const { seen } = await look(round, 'negative')
      if (ANSWERS_EVERYTHING.has(seen)) note(round, { negative: seen, positive: 'unanswered', codes: [] })
      return seen
    }
    return checks(key, (lifetime) => ({ result: check(lifetime) }), { signal }).result
  }

  function startOne(ctx: TestCtx, list: List, family: Family, signal: AbortSignal): void {
    const { result } = share(keyOf(list, family), (lifetime) => begin(ctx, list, family, lifetime), { signal })
    const ended = result
      .catch((error) => {
        if (signal.aborted) return
        ctx.log.error('dnsbl.test_failed', { blacklist: list.name, err: error })
        note({ ctx, list, family, signal }, { negative: 'unanswered', positive: 'unanswered', codes: [] })
      })
      .finally(() => underWay.delete(ended))
    underWay.add(ended)
  }

  return {
    state: states.get,
    isDue: (list: List, family: Family, nowMs: number) =>
      !share.running(keyOf(list, family)) && isDue(states.get(list, family), nowMs),
    /**
     * Starts the tests of `lists`, or joins those in progress. A test continues until it is done or all its callers
     * have disconnected; their deadlines do not end it.
     */
    start: (ctx: TestCtx, lists: readonly List[], family: Family, signal: AbortSignal): void => {
      if (lists.length === 0 || signal.aborted) return
      const gone = hungUp(signal)
      for (const list of lists) startOne(ctx, list, family, gone)
    },
    running: (list: List, family: Family) => share.running(keyOf(list, family)),
    negative,
    /** Settles when no test is in progress and the store has the results. At most the deadline of a test. */
    settled: async (): Promise<void> => {
      await Promise.all(underWay)
      await states.saved()
    },
  }
}

const UNANSWERED = { seen: 'unanswered', codes: [] } as const
const ANSWERS_EVERYTHING: ReadonlySet<Seen> = new Set(['listed', 'rewritten'])
const keyOf = (list: List, family: Family): string => `${family} ${list.zone}`

/** Fires when the caller disconnects; not at its deadline. */
function hungUp(signal: AbortSignal): AbortSignal {
  const control = new AbortController()
  const stop = (): void => {
    if (!timedOut(signal)) control.abort(signal.reason)
  }
  signal.addEventListener('abort', stop, { once: true })
  return control.signal
}

/** A store that is slower than this does not delay an answer; its content is used when it arrives. */
const LOAD_MS = 250
/** Maximum number of rows read: two address families of 29 lists, and those of replaced lists. */
const MAX_ROWS = 1_000

type TestStates = ReturnType<typeof testStates>

/** The states of all lists by zone and family. Rows of another shape are ignored. */
export function testStates() {
  const states = { 4: new Map<string, TestState>(), 6: new Map<string, TestState>() }
  let loading: Promise<void> | undefined
  let isLoaded = false
  let isReadable = true
  let saving: Promise<void> | undefined
  const unsaved = new Set<string>()

  async function load({ store, log }: Pick<Ctx, 'store' | 'log'>): Promise<void> {
    isReadable = true
    try {
      for (const { key, value } of await store.selfTests.list({ limit: MAX_ROWS })) {
        const { family, zone } = /^(?<family>[46]) (?<zone>.+)$/.exec(key)?.groups ?? {}
        const state = STATE.safeParse(value)
        const known = states[family === '6' ? 6 : 4]
        if (zone !== undefined && state.success && !known.has(zone)) known.set(zone, state.data)
      }
    } catch (error) {
      isReadable = false // the next lookup repeats it
      isLoaded = false
      loading = undefined
      log.warn('dnsbl.states_not_read', { error: String(error) })
    }
  }

  async function save({ store, log }: Pick<Ctx, 'store' | 'log'>): Promise<void> {
    while (unsaved.size > 0) {
      await Promise.resolve() // results of tests that end together are written together
      const keys = [...unsaved]
      unsaved.clear()
      try {
        await store.selfTests.putAll(keys.map((key) => ({ key, value: plain(stateAt(key)) })))
      } catch (error) {
        log.warn('dnsbl.states_not_saved', { error: String(error) })
      }
    }
    saving = undefined
  }

  const stateAt = (key: string): TestState | undefined => states[key.startsWith('6') ? 6 : 4].get(key.slice(2))

  return {
    get: (list: List, family: Family) => states[family].get(list.zone) ?? UNTESTED,
    /** Changes the state at once; the store gets it soon after, in one write. */
    set: (ctx: Pick<Ctx, 'store' | 'log'>, list: List, family: Family, state: TestState): void => {
      states[family].set(list.zone, state)
      unsaved.add(`${family} ${list.zone}`)
      saving ??= save(ctx)
    },
    /** Settles when the content of the store was read, or after a quarter of a second. Never rejects. */
    loaded: (ctx: Pick<Ctx, 'store' | 'log'>): Promise<void> | undefined => {
      if (isLoaded) return undefined
      loading ??= patient(load(ctx)).then(() => {
        isLoaded = isReadable
      })
      return loading
    },
    /** Settles when the store has everything. Never rejects. */
    saved: async () => saving,
  }
}

const plain = (state: TestState | undefined): Json => state ?? null

function patient(work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LOAD_MS)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const STATUS = z.enum(['untested', 'healthy', 'failing', 'dead', 'quarantined', 'refused', 'unanswered'])
const TIME = z.number().refine(isTimeMs)
const STATE = z.object({
  status: STATUS,
  reason: z.string().nullable(),
  testedAtMs: TIME.nullable(),
  missingSinceMs: TIME.nullable(),
  heldAtMs: TIME.nullable().default(null),
  cleanTests: z.number(),
  codes: z.array(z.string()).max(32),
  history: z.array(z.object({ atMs: TIME, status: STATUS, reason: z.string().nullable() })).max(MAX_HISTORY),
})
