import { fuzz, targetNamed } from '../test/fuzz/run.ts'
import { TARGETS } from '../test/fuzz/targets.ts'

/**
 * `npm run fuzz -- [--time 60] [--cases N] [--target NAME] [--seed N]`: random input for everything that reads what others wrote, for so many seconds in all, or so many cases of each
 * target. A find is printed with what reproduces it; keep it in test/fuzz/corpus.json. Exit status 1 where there is one.
 */
const options = new Map<string, string>()
for (let i = 2; i + 1 < process.argv.length; i += 2) options.set(process.argv[i]!, process.argv[i + 1]!)
const seed = Number(options.get('--seed') ?? Date.now() % 2 ** 31)
const cases = options.get('--cases')
const only = options.get('--target')
const targets = only === undefined ? TARGETS : [targetNamed(only)]
const seconds = Number(options.get('--time') ?? (cases === undefined ? 60 : 3_600))

console.log(`seed ${seed}\n\n| target | cases | slowest, ms | |\n|---|--:|--:|---|`)
let all = 0
for (const target of targets) {
  const bounds = { cases: Number(cases ?? 100_000_000), ms: (seconds * 1_000) / targets.length, seed }
  const { cases: tried, slowestMs, find } = await fuzz(target, bounds)
  all += tried
  console.log(`| ${target.name} | ${tried} | ${slowestMs.toFixed(1)} | ${find ? find.problem : ''} |`)
  if (!find) continue
  process.exitCode = 1
  console.log(`\n${JSON.stringify({ target: find.target, input: find.input.slice(0, 2_000), why: find.problem })}\n`)
}
console.log(`\n${all} cases`)
