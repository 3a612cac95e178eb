import { describe, expect, it } from 'vitest'
import { repeatable } from '../../src/checks/repeatable.ts'
import { domain } from '../../src/names/domain.ts'
import { lookUp, type Snapshot, subjectOf } from '../../src/plan/snapshot.ts'
import { DOMAINS } from '../real/world.ts'
import { countedWorld } from './worlds.ts'

/**
 * What a check asks when nothing is cached: within its budget for every domain of the lab, and kept to the number for
 * some. `npm run golden` writes the numbers anew.
 */
type Cost = {
  readonly questions: number
  readonly dkim: number
  readonly to_name_servers: number
  readonly waits: number
}

async function costOf(name: string): Promise<Cost & Snapshot> {
  const world = countedWorld()
  const judged = await lookUp(subjectOf(repeatable(world, name), domain(name), {}))
  return {
    ...judged,
    questions: world.asked.length - world.askedServers.length,
    dkim: world.asked.filter((question) => question.includes('_domainkey.')).length,
    to_name_servers: world.askedServers.length,
    waits: world.waits(),
  }
}

it.each(DOMAINS.map(({ name }) => name))('%s is within the budget', async (name) => {
  const { questions, to_name_servers, waits, outcomes } = await costOf(name)
  const hosts = outcomes.mx.facts?.mail.hosts ?? []
  const addresses = new Set(hosts.flatMap((host) => host.addresses)).size
  expect(questions + to_name_servers).toBeLessThanOrEqual(Math.min(120, 60 + 12 * addresses))
  // Beyond its own number a part of the queries waits for those before it; SPF trees at the limit are what takes longest.
  expect(waits).toBeLessThanOrEqual(7)
})

describe('what a check costs', () => {
  const kept = [
    'healthy.test',
    'accept.test',
    'neglected.test',
    'parked.test',
    'abandoned.test',
    'servfail.test',
    'ent.test',
    'manylookups.test',
    'manymx.test',
    'manyrua.test',
    'bomb.test',
    'missing.test',
  ]
  it('as kept', async () => {
    const costs = await Promise.all(
      kept.map(async (name) => {
        const { questions, dkim, to_name_servers, waits } = await costOf(name)
        return [name, { questions, dkim, to_name_servers, waits }]
      }),
    )
    await expect(`${JSON.stringify(Object.fromEntries(costs), null, 2)}\n`).toMatchFileSnapshot('questions.json')
  })
})
