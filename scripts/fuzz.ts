import { parseArgs } from 'node:util'
import { beginCoverage } from '../test/fuzz/coverage.ts'
import type { Bounds } from '../test/fuzz/run.ts'
import type { Target } from '../test/fuzz/targets.ts'

/**
 * `npm run fuzz -- [--time 60] [--cases N] [--target NAME] [--seed N] [--guided]`: random input for every parser of
 * outside data, for a number of seconds in total, or a number of cases of each target. With `--guided`, inputs that
 * reach new code are kept and changed further; each case takes several times as long. A find is printed with the data
 * to reproduce it; add it to test/fuzz/corpus.json. Exit status 1 if there is one. `--cases N --counts FILE` makes a
 * run that can be stopped and continued: the file has the number of cases of each target so far. `--part 1/2` takes
 * every second target, for a process on each core.
 */
const { values } = parseArgs({
  options: {
    time: { type: 'string' },
    cases: { type: 'string' },
    target: { type: 'string' },
    seed: { type: 'string' },
    guided: { type: 'boolean', default: false },
    counts: { type: 'string' },
    part: { type: 'string', default: '1/1' },
  },
})
const { cases } = values
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
const seconds = Number(values.time ?? (cases === undefined ? 60 : 36_000))
// Counting begins before the code under test is loaded.
const coverage = values.guided ? beginCoverage() : undefined
const { fuzz, targetNamed } = await import('../test/fuzz/run.ts')
const { guided } = await import('../test/fuzz/guided.ts')
const { continued } = await import('../test/fuzz/continued.ts')
const { TARGETS } = await import('../test/fuzz/targets.ts')
const [part = 1, parts = 1] = values.part.split('/').map(Number)
const targets =
  values.target === undefined ? TARGETS.filter((_, n) => n % parts === part - 1) : [targetNamed(values.target)]
Error.stackTraceLimit = 0 // errors that are answers need no stack

const search = async (target: Target, bounds: Bounds) => {
  const fuzzed = await (coverage ? guided(coverage, target, bounds) : fuzz(target, bounds))
  const { cases: tried, slowestMs, find } = fuzzed
  console.log(`| ${target.name} | ${tried} | ${slowestMs.toFixed(1)} | ${find ? find.problem : ''} |`)
  if (find) {
    process.exitCode = 1
    console.log(`\n${JSON.stringify({ target: find.target, input: find.input.slice(0, 2_000), why: find.problem })}\n`)
  }
  return fuzzed
}

console.log(`seed ${seed}\n\n| target | cases | slowest, ms | |\n|---|--:|--:|---|`)
const bounds = { cases: Number(cases ?? 100_000_000), ms: seconds * 1_000, seed }
let all = 0
if (values.counts !== undefined) all = await continued(values.counts, targets, bounds, search)
else for (const target of targets) all += (await search(target, { ...bounds, ms: bounds.ms / targets.length })).cases
console.log(`\n${all} cases`)
