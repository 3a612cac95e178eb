import { z } from 'zod'
import { isTimeMs } from '../base/clock.ts'
import type { Json } from '../base/json.ts'
import type { Family } from '../names/ip.ts'
import type { Ctx } from '../world.ts'
import { MAX_HISTORY, type TestState, UNTESTED } from './self-test.ts'
import type { List } from './zone-type.ts'

/** A store that is slower than this does not delay an answer; its content is used when it arrives. */
const LOAD_MS = 250
/** Maximum number of rows read: two address families of 29 lists, and those of replaced lists. */
const MAX_ROWS = 1_000

export type TestStates = {
  readonly get: (list: List, family: Family) => TestState
  /** Changes the state at once; the store gets it soon after, in one write. */
  readonly set: (ctx: Pick<Ctx, 'store' | 'log'>, list: List, family: Family, state: TestState) => void
  /** Settles when the content of the store was read, or after a quarter of a second. Never rejects. */
  readonly loaded: (ctx: Pick<Ctx, 'store' | 'log'>) => Promise<void> | undefined
  /** Settles when the store has everything. Never rejects. */
  readonly saved: () => Promise<void>
}

/** The states of all lists by zone and family. Rows of another shape are ignored. */
export function testStates(): TestStates {
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
    get: (list, family) => states[family].get(list.zone) ?? UNTESTED,
    set: (ctx, list, family, state) => {
      states[family].set(list.zone, state)
      unsaved.add(`${family} ${list.zone}`)
      saving ??= save(ctx)
    },
    loaded: (ctx) => {
      if (isLoaded) return undefined
      loading ??= patient(load(ctx)).then(() => {
        isLoaded = isReadable
      })
      return loading
    },
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
