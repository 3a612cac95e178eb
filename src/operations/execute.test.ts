import { expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../test/lab/app.ts'
import { labWorld } from '../../test/lab/world.ts'
import { check } from './check.ts'
import { type By, type Execute, inParts } from './execute.ts'
import { health } from './health.ts'
import type { Raw } from './operation.ts'

const { lines } = labExecutor(labWorld(), labDeps(labWorld()))
const executing = (run: (by: By) => Promise<never>): Execute =>
  Object.assign((_operation: unknown, _raw: Raw, by: By) => run(by), { lines })

it('ends the operation when its reader leaves', async () => {
  let signal: AbortSignal | undefined
  const execute = executing(async (by) => {
    signal = by.signal
    by.onPart?.({ check: 'spf' })
    return new Promise<never>(() => {})
  })
  for await (const one of inParts(execute, health, {}, {})) {
    expect([one.kind, signal?.aborted]).toEqual(['part', false])
    break
  }
  expect(signal?.aborted).toBe(true)
})

it('tells parts that come while it is waited for, and the fault at last', async () => {
  const execute = executing(async (by) => {
    for (const check of ['spf', 'mx']) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      by.onPart?.({ check })
    }
    throw new Error('it broke')
  })
  const told = []
  for await (const one of inParts(execute, health, {}, {})) told.push(one.kind === 'part' ? one.part.check : one.kind)
  expect(told).toEqual(['spf', 'mx', 'error'])
})

it.each(['redirect=', 'include:'])('a chain of 39 records by %s has an answer', async (term) => {
  const chain = Array.from({ length: 39 }, (_, i) => [`i${i}.example`, { TXT: [`v=spf1 ${term}i${i + 1}.example`] }])
  const world = labWorld({ ...Object.fromEntries(chain), 'a.example': { TXT: [`v=spf1 ${term}i0.example`] } })
  const { answer } = await labExecutor(world, labDeps(world))(check, { domain: 'a.example' }, {})
  expect(answer).toMatchObject({ spf: { valid: false, lookups: 11 } })
})
