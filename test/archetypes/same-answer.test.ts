import { expect, it } from 'vitest'
import { sequence } from '../../src/checks/repeatable.ts'
import { domain } from '../../src/names/domain.ts'
import { checkDomain } from '../../src/operations/check.ts'
import type { World } from '../../src/world.ts'
import { countedWorld } from '../golden/worlds.ts'
import { DOMAINS } from '../real/world.ts'
import { type DomainCase, domains } from './cases.ts'
import { worldOf } from './lab.ts'

/**
 * The same zone gives the same answer, in whichever order the answers of the DNS come: each domain is checked with
 * answers that are delayed and reordered at random, and those that come near the limit of queries twenty times.
 */
const { cases, ...shared } = domains()
const CASES = cases.filter(({ domain: name, path, expect: { refused } }) => name && !path && !refused)
const TIMES = 20
/** So many queries below its limit a check may leave something out in another order. */
const NEAR = 4

type Ask = (...args: never[]) => Promise<unknown>
type Row = { readonly id: string; readonly world: () => World; readonly row: Partial<DomainCase> }

/** A world whose answers come in an order of chance: each waits for a turn of the event loop, some kinds for many. */
function shuffled(world: World, seed: number): World & { readonly count: () => number } {
  const random = sequence(seed)
  const slow = new Map<string, number>()
  const waiting: { readonly rank: number; readonly go: () => void }[] = []
  let count = 0
  const turn = (): void => {
    waiting.sort((a, b) => a.rank - b.rank)
    for (const { go } of waiting.splice(0, 1 + Math.floor(random() * waiting.length))) go()
    if (waiting.length > 0) setImmediate(turn)
  }
  const late =
    (kindOf: (...args: never[]) => string, ask: Ask) =>
    async (...args: never[]): Promise<unknown> => {
      count++
      const kind = kindOf(...args)
      if (!slow.has(kind)) slow.set(kind, random() * 3)
      await new Promise<void>((go) => {
        waiting.push({ rank: slow.get(kind)! + random(), go })
        if (waiting.length === 1) setImmediate(turn)
      })
      return ask(...args)
    }
  const place = (name: string, type: string): string => `${type} ${name.split('.').slice(-3).join('.')}`
  return {
    ...world,
    resolve: late((name: string, type: string) => place(name, type), world.resolve as Ask) as World['resolve'],
    askServer: late(
      (server: string, name: string, type: string) => `${server} ${place(name, type)}`,
      world.askServer as Ask,
    ) as World['askServer'],
    fetch: late(() => 'page', world.fetch as Ask) as World['fetch'],
    count: () => count,
  }
}

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
