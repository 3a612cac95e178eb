import { expect, it } from 'vitest'
import { countedWorld } from '../../test/golden/worlds.ts'
import { DOMAINS } from '../../test/real/world.ts'
import { domain } from '../names/domain.ts'
import { repeatable } from './context.ts'
import { judgeDomain } from './judge-domain.ts'
import { planSteps } from './plan-steps.ts'

/** What a plan asks, beside the check's own questions. */
const DEPS = { smtpPort: 25, heloName: async () => 'sonde.test' }
async function asked(name: string) {
  const [one, other] = [countedWorld(), countedWorld()]
  const input = { selectors: [], helo: DEPS.heloName, smtpPort: DEPS.smtpPort }
  const shared = repeatable(one)
  const judged = await judgeDomain(shared, domain(name), input)
  const check = [...one.asked]
  await planSteps(shared, domain(name), input, judged)
  await planSteps(repeatable(other), domain(name), input)
  return { check, beside: one.asked.slice(check.length), alone: [...other.asked] }
}

it.each(DOMAINS.map(({ name }) => name))('%s: a plan asks nothing that the check does not ask', async (name) => {
  const { check, beside, alone } = await asked(name)
  const own = new Set(check)
  expect(beside).toEqual([])
  expect(alone.filter((question) => !own.has(question))).toEqual([])
})
