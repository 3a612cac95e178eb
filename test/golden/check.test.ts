import { expect, it } from 'vitest'
import { checkAnswer } from '../../src/answers/check.ts'
import { readStrict } from '../../src/answers/read-answer.ts'
import { repeatable } from '../../src/checks/repeatable.ts'
import { domain } from '../../src/names/domain.ts'
import { planOf } from '../../src/plan/plan.ts'
import { presentWithPlan } from '../../src/plan/present.ts'
import { lookUp, subjectOf } from '../../src/plan/snapshot.ts'
import { composeCheck } from '../../src/score/compose.ts'
import { countedWorld } from './worlds.ts'

/** Whole answers as they are: what a change does to them shows in the difference. `npm run golden` writes them anew. */
it.each(['healthy', 'neglected', 'parked', 'abandoned', 'servfail'])('the check of %s.test', async (name) => {
  const at = domain(`${name}.test`)
  const subject = subjectOf(repeatable(countedWorld(), at), at, {})
  const start = await lookUp(subject)
  const plan = await planOf(subject, start)
  const answer = { ...composeCheck(at, start, presentWithPlan(start, plan)), plan }
  expect(readStrict(checkAnswer, JSON.parse(JSON.stringify(answer)))).toMatchObject({ ok: true })
  await expect(`${JSON.stringify(answer, null, 2)}\n`).toMatchFileSnapshot(`check/${name}.json`)
})
