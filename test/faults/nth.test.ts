import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/base/errors.ts'
import { OPERATIONS } from '../../src/operations/registry.ts'
import { type Json, timeless } from './honest.ts'
import { ROWS, type Row } from './rows.ts'
import { type Setting, setting } from './setting.ts'
import { FAULTS, type FaultyWorld, type Plan, STEPS } from './world.ts'

/**
 * A fault at every N-th call to the outside, for N = 1, 2, 3 … until none fires: nothing firm is said that would not be
 * said without it, nothing stays open, and the same answer comes when it is asked again. `npm run test:faults` tries
 * every N with every kind of fault, alone and lasting; without `FAULTS=all` the kinds take turns and long rows are
 * sampled.
 */
const ALL = process.env.FAULTS === 'all'
/** Calls of one kind that are made to fail in a row, without `FAULTS=all`. */
const SAMPLED = 3
const SAMPLED_OF_HEAVY = 1

const ask = async (
  { execute }: Setting,
  { operation, input }: Pick<Row, 'operation' | 'input'>,
  signal?: AbortSignal,
) => timeless((await execute(await OPERATIONS[operation](), input, signal ? { signal } : {})).answer)

/** The program after what the row wants asked before. */
async function begun(row: Row): Promise<Setting> {
  const made = setting()
  if (row.before) await ask(made, row.before)
  return made
}

/** Faults as they are tried at the n-th call: all of them, or one in turn. */
function faultsAt(kinds: readonly string[], n: number): readonly string[] {
  return ALL ? kinds : [kinds[n % kinds.length]!]
}

/** What is wrong after one fault; undefined where it did not fire. */
async function tried(row: Row, plain: Json, plan: Plan): Promise<readonly string[] | undefined> {
  const control = new AbortController()
  const one = await begun(row)
  const timers = timersOf()
  one.world.plan(plan.abort ? { ...plan, abort: () => queueMicrotask(() => control.abort()) } : plan)
  const wrong: string[] = []
  try {
    const seen = await ask(one, row, control.signal)
    if (one.world.fired() === 0) return undefined
    wrong.push(...row.judge(plain, seen, plan.lasting === true))
  } catch (error) {
    if (one.world.fired() === 0) throw error
    if (!(error instanceof AppError) && !control.signal.aborted) wrong.push(`rejects with ${String(error)}`)
  }
  await settled()
  if (one.net.open() > 0) wrong.push(`${one.net.open()} connections are open`)
  if (timersOf() > timers) wrong.push(`${timersOf() - timers} timers are left`)
  const heard = [...one.world.signals].filter(
    (signal) => !signal.aborted && getEventListeners(signal, 'abort').length > 0,
  )
  if (heard.length > 0) wrong.push(`${heard.length} signals are still listened to`)
  one.world.plan(undefined)
  one.world.advance(7_200_000)
  const again = JSON.stringify(await ask(one, row))
  if (again !== JSON.stringify(plain)) wrong.push(`asked again: ${differenceOf(again, JSON.stringify(plain))}`)
  return wrong
}

const timersOf = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

function differenceOf(a: string, b: string): string {
  let at = 0
  while (a[at] === b[at]) at++
  return `${a.slice(Math.max(0, at - 40), at + 60)} and not ${b.slice(Math.max(0, at - 40), at + 60)}`
}

describe.each(ROWS.map((row) => [row.operation, JSON.stringify(row.input), row] as const))('%s %s', (_, __, row) => {
  it.each(['a fault', 'an outage', 'a caller that goes away'] as const)(
    '%s at every call',
    async (what) => {
      const plain = await ask(await begun(row), row)
      const calls = await callsOf(row)
      const wrong: Record<string, number> = {}
      let tries = 0
      for (const step of STEPS) {
        const kinds = what === 'a caller that goes away' ? ['abort'] : Object.keys(FAULTS[step])
        const stride = ALL ? 1 : Math.max(1, Math.ceil(calls[step] / (row.isHeavy ? SAMPLED_OF_HEAVY : SAMPLED)))
        for (let nth = 1 + (stride > 1 ? modeOf(what) : 0); ; nth += stride) {
          let isOver = false
          for (const fault of faultsAt(kinds, nth)) {
            const plan = {
              step,
              nth,
              fault,
              lasting: what === 'an outage',
              ...(fault === 'abort' && { abort: () => {} }),
            }
            const found = await tried(row, plain, plan)
            isOver = found === undefined
            tries += Number(!isOver)
            for (const one of found ?? []) wrong[`${step}: ${fault}: ${one}`] ??= nth
          }
          if (isOver) break
        }
      }
      if (ALL) console.log(`${row.operation} ${JSON.stringify(row.input)}: ${what}, ${tries} tried`)
      expect(wrong, JSON.stringify(wrong, null, 1)).toEqual({})
    },
    ALL ? 3_600_000 : 20_000,
  )
})

/** Each mode samples other calls. */
const modeOf = (what: string): number => what.length % 5

async function callsOf(row: Row): Promise<FaultyWorld['counts']> {
  const made = await begun(row)
  made.world.plan(undefined)
  await ask(made, row)
  return made.world.counts
}
