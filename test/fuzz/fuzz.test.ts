import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import corpus from './corpus.json' with { type: 'json' }
import { fuzz, targetNamed, tried } from './run.ts'
import { TARGETS } from './targets.ts'

/** The short version of `npm run fuzz`; the seed of each run is another, and stands in the failure. */
const SEED = Date.now() % 2 ** 31

describe('random input', () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))('%s', async (_, target) => {
    const { find } = await fuzz(target, { cases: 200, ms: 100, seed: SEED })
    expect(find, `seed ${SEED}`).toBeUndefined()
  })
})

/** Inputs that once were a find. */
// JSON files cannot hold it
const HALF = { target: 'svg', why: 'half a character at the end of the text threw', input: '<![x]]>\ud800' }
it.each([...corpus, HALF])('$target: $why', async ({ target, input }) => {
  expect(await tried(targetNamed(target), input)).toBeUndefined()
})

/** A process of its own, since V8 counts blocks only in code that it compiles after counting has begun. */
it('led by coverage finds a defect that random input does not', { timeout: 120_000 }, async () => {
  const search = new URL('maze-search.ts', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(process.execPath, [search, String(SEED), '20000'])
  expect(JSON.parse(stdout), `seed ${SEED}`).toMatchObject({
    guided: { find: { problem: 'Error: the end of the maze' } },
    random: { cases: 20_000 },
  })
})
