import { expect, it } from 'vitest'
import { checkAnswer } from '../../src/answers/check.ts'
import { readStrict } from '../../src/answers/read-answer.ts'
import { domain } from '../../src/names/domain.ts'
import { repeatable } from '../../src/operations/context.ts'
import { judgeDomain } from '../../src/operations/judge-domain.ts'
import { composeCheck } from '../../src/score/compose.ts'
import { countedWorld } from './worlds.ts'

/** Whole answers as they are: what a change does to them shows in the difference. `npm run golden` writes them anew. */
it.each(['healthy', 'neglected', 'parked', 'abandoned', 'servfail'])('the check of %s.test', async (name) => {
  const at = domain(`${name}.test`)
  const judged = await judgeDomain(repeatable(countedWorld()), at, {})
  const answer = composeCheck(at, judged, judged.score)
  expect(readStrict(checkAnswer, JSON.parse(JSON.stringify(answer)))).toMatchObject({ ok: true })
  await expect(`${JSON.stringify(answer, null, 2)}\n`).toMatchFileSnapshot(`check/${name}.json`)
})
