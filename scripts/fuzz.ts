import { parseArgs } from 'node:util'
import { beginCoverage } from '../test/fuzz/coverage.ts'

/**
 * `npm run fuzz -- [--time 60] [--cases N] [--target NAME] [--seed N] [--guided]`: random input for everything that reads what others wrote, for so many seconds in all, or so many cases of
 * each target. With `--guided`, inputs that reach code that none before them reached are kept and changed further; each case takes several times as long. A find is printed with what
 * reproduces it; keep it in test/fuzz/corpus.json. Exit status 1 where there is one.
 */
const { values } = parseArgs({
  options: {
    time: { type: 'string' },
    cases: { type: 'string' },
    target: { type: 'string' },
    seed: { type: 'string' },
    guided: { type: 'boolean', default: false },
  },
})
const { cases } = values
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
const seconds = Number(values.time ?? (cases === undefined ? 60 : 3_600))
// Counting begins before the code under test is loaded.
const coverage = values.guided ? beginCoverage() : undefined
const { fuzz, targetNamed } = await import('../test/fuzz/run.ts')
const { guided } = await import('../test/fuzz/guided.ts')
const { TARGETS } = await import('../test/fuzz/targets.ts')
const targets = values.target === undefined ? TARGETS : [targetNamed(values.target)]

console.log(`seed ${seed}\n\n| target | cases | slowest, ms | |\n|---|--:|--:|---|`)
let all = 0
for (const target of targets) {
  const bounds = { cases: Number(cases ?? 100_000_000), ms: (seconds * 1_000) / targets.length, seed }
  const { cases: tried, slowestMs, find } = await (coverage ? guided(coverage, target, bounds) : fuzz(target, bounds))
  all += tried
  console.log(`| ${target.name} | ${tried} | ${slowestMs.toFixed(1)} | ${find ? find.problem : ''} |`)
  if (!find) continue
  process.exitCode = 1
  console.log(`\n${JSON.stringify({ target: find.target, input: find.input.slice(0, 2_000), why: find.problem })}\n`)
}
console.log(`\n${all} cases`)
