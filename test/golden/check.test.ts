import { expect, it } from 'vitest'
import { domain } from '../../src/names/domain.ts'
import { repeatable } from '../../src/operations/context.ts'
import { judgeDomain } from '../../src/operations/judge-domain.ts'
import { composeCheck } from '../../src/report/compose.ts'
import { countedWorld } from './worlds.ts'

/** Whole answers as they are: what a change does to them shows in the difference. `npm run golden` writes them anew. */
it.each(['healthy', 'neglected', 'parked', 'abandoned', 'servfail'])('the check of %s.test', async (name) => {
  const at = domain(`${name}.test`)
  const judged = await judgeDomain(repeatable(countedWorld()), at, {})
  const answer = JSON.stringify(composeCheck(at, judged, judged.score), null, 2)
  await expect(`${answer}\n`).toMatchFileSnapshot(`check/${name}.json`)
})
