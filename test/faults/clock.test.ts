import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/operations/registry.ts'
import type { Json } from './honest.ts'
import { ROWS, type Row } from './rows.ts'
import { type Setting, setting } from './setting.ts'
import { STEPS } from './world.ts'

/**
 * The system's clock steps by an hour at the N-th call to the outside: the answer is the same to the last duration, and
 * so is the one that is asked for afterwards. Only times of day may differ. `npm run test:faults` tries every N.
 */
const ALL = process.env.FAULTS === 'all'
/** Calls of one kind at which it steps, without `FAULTS=all`. */
const SAMPLED = 2
const SAMPLED_OF_HEAVY = 1
const HOUR_MS = 3_600_000
const TIMES_OF_DAY = new Set(['observed_at', 'registered_at', 'last_seen_at', 'tested_at', 'at', 'last_used_at'])

const timed = (answer: unknown): Json =>
  JSON.parse(JSON.stringify(answer, (key, value) => (TIMES_OF_DAY.has(key) ? undefined : value))) as Json

const ask = async ({ execute }: Setting, { operation, input }: Pick<Row, 'operation' | 'input'>) =>
  timed((await execute(await OPERATIONS[operation](), input, {})).answer)

async function begun(row: Row): Promise<Setting> {
  const made = setting()
  if (row.before) await ask(made, row.before)
  return made
}

describe.each(ROWS.map((row) => [row.operation, JSON.stringify(row.input), row] as const))('%s %s', (_, __, row) => {
  it.each([HOUR_MS, -HOUR_MS])(
    'a clock that steps by %i ms changes nothing',
    async (stepMs) => {
      const first = await begun(row)
      first.world.plan(undefined)
      const plain = await ask(first, row)
      const calls = { ...first.world.counts }
      const again = await ask(first, row)
      for (const step of STEPS) {
        const stride = ALL ? 1 : Math.max(1, Math.ceil(calls[step] / (row.isHeavy ? SAMPLED_OF_HEAVY : SAMPLED)))
        for (let nth = 1; nth <= calls[step]; nth += stride) {
          const one = await begun(row)
          one.world.plan({ step, nth, fault: '', stepMs })
          const where = `${step} ${nth}`
          expect(await ask(one, row), where).toEqual(plain)
          one.world.plan(undefined)
          expect(await ask(one, row), `${where}, asked again`).toEqual(again)
        }
      }
    },
    ALL ? 3_600_000 : 20_000,
  )
})
