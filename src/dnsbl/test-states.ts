import { z } from 'zod'
import type { Json } from '../base/json.ts'
import type { Family } from '../names/ip.ts'
import type { Ctx } from '../world.ts'
import { MAX_HISTORY, type TestState, UNTESTED } from './self-test.ts'
import type { List } from './zone-type.ts'

/** Where the self-test's findings are remembered over a restart. */
export const STORE_KEY = 'dnsbl.self_test'
/** A store that is slower than this does not hold an answer up: what it remembers is used when it comes. */
const LOAD_MS = 250

export type TestStates = {
  readonly get: (list: List, family: Family) => TestState
  /** Remembers at once; the store is told soon after, in one piece. */
  readonly set: (ctx: Pick<Ctx, 'store' | 'log'>, list: List, family: Family, state: TestState) => void
  /** Settles when what the store remembers was read, or after a quarter of a second. Never rejects. */
  readonly loaded: (ctx: Pick<Ctx, 'store' | 'log'>) => Promise<void> | undefined
  /** Settles when the store has everything. Never rejects. */
  readonly saved: () => Promise<void>
}

/** The states of all lists by zone and family. What a store gives that is not of this shape is passed over. */
export function testStates(): TestStates {
  const states = { 4: new Map<string, TestState>(), 6: new Map<string, TestState>() }
  let loading: Promise<void> | undefined
  let isLoaded = false
  let saving: Promise<void> | undefined
  let dirty = false

  async function load({ store, log }: Pick<Ctx, 'store' | 'log'>): Promise<void> {
    try {
      const kept = KEPT.safeParse(await store.get(STORE_KEY))
      if (!kept.success) return
      for (const family of [4, 6] as const) {
        for (const [zone, state] of Object.entries(kept.data[family])) {
          if (!states[family].has(zone)) states[family].set(zone, state)
        }
      }
    } catch (error) {
      log.warn('dnsbl.states_not_read', { error: String(error) })
    }
  }

  async function save({ store, log }: Pick<Ctx, 'store' | 'log'>): Promise<void> {
    while (dirty) {
      await Promise.resolve() // tests that end together are written together
      dirty = false
      try {
        await store.set(STORE_KEY, { 4: plain(states[4]), 6: plain(states[6]) })
      } catch (error) {
        log.warn('dnsbl.states_not_saved', { error: String(error) })
      }
    }
    saving = undefined
  }

  return {
    get: (list, family) => states[family].get(list.zone) ?? UNTESTED,
    set: (ctx, list, family, state) => {
      states[family].set(list.zone, state)
      dirty = true
      saving ??= save(ctx)
    },
    loaded: (ctx) => {
      if (isLoaded) return undefined
      loading ??= patient(load(ctx)).then(() => {
        isLoaded = true
      })
      return loading
    },
    saved: async () => saving,
  }
}

const plain = (states: ReadonlyMap<string, TestState>): Json => Object.fromEntries(states) as unknown as Json

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
const STATE = z.object({
  status: STATUS,
  reason: z.string().nullable(),
  testedAtMs: z.number().nullable(),
  missingSinceMs: z.number().nullable(),
  cleanTests: z.number(),
  codes: z.array(z.string()).max(32),
  history: z.array(z.object({ atMs: z.number(), status: STATUS, reason: z.string().nullable() })).max(MAX_HISTORY),
})
const STATES = z.record(z.string(), STATE).default({})
const KEPT = z.object({ 4: STATES, 6: STATES })
