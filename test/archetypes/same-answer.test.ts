import { expect, it } from 'vitest'
import { domain } from '../../src/names/domain.ts'
import { checkDomain } from '../../src/operations/check.ts'
import type { World } from '../../src/world.ts'
import { countedWorld } from '../golden/worlds.ts'
import { DOMAINS } from '../real/world.ts'
import { type DomainCase, domains } from './cases.ts'
import { worldOf } from './lab.ts'
import { shuffled } from './shuffled.ts'

/**
 * The same zone gives the same answer, in whichever order the answers of the DNS come: each domain is checked with
 * answers that are delayed and reordered at random, and those that come near the limit of queries twenty times.
 */
const { cases, ...shared } = domains()
const CASES = cases.filter(({ domain: name, path, expect: { refused } }) => name && !path && !refused)
const TIMES = 20
/** So many queries below its limit a check may leave something out in another order. */
const NEAR = 4

type Row = { readonly id: string; readonly world: () => World; readonly row: Partial<DomainCase> }

async function answerIn(world: World, { domain: name = '', query = {}, class: kind }: Partial<DomainCase>) {
  const ctx = { ...world, signal: AbortSignal.timeout(20_000) }
  const { starttls, selector } = query
  const { observed_at: _, ...answer } = await checkDomain(
    ctx,
    { smtpPort: 25, heloName: async () => 'sonde.test' },
    domain(name),
    { selectors: selector?.split(',') ?? [], starttls: starttls === 'true', plan: kind !== 'bounds' },
  )
  return JSON.parse(JSON.stringify(answer)) as typeof answer
}

const ROWS: readonly Row[] = [
  ...CASES.map((row) => ({ id: row.id, world: () => worldOf(row, shared), row })),
  ...DOMAINS.map(({ name }) => ({ id: name, world: () => countedWorld(), row: { domain: name } })),
]

it.each(ROWS.map((row) => [row.id, row] as const))('%s', async (_, { world, row }) => {
  const first = shuffled(world(), 1)
  const answer = await answerIn(first, row)
  const addresses = new Set(answer.mx.flatMap((host) => host.addresses.map(({ address }) => address)))
  const isNear = first.count() > Math.min(120, 60 + 12 * addresses.size) - NEAR
  const times = isNear ? TIMES : 2
  for (let seed = 2; seed <= times; seed++) expect(await answerIn(shuffled(world(), seed), row)).toEqual(answer)
})
