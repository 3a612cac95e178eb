import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/**
 * `node scripts/mutate.ts MODULE… [--count 40] [--seed 1]`: makes one small change in a file of the module (src/dnsbl) at a time, in a worktree of its own, and runs the tests of its folder,
 * then those that go with the module. A change that no test notices survives: it is printed with its line. The same seed makes the same changes. Exit status 1 under 85 %.
 */
const WITH: Readonly<Record<string, readonly string[]>> = {
  'src/checks': ['src/checks', 'src/report', 'test/golden', 'test/faults'],
  'src/dnsbl': ['src/dnsbl', 'test/faults'],
  'src/http': ['src/http', 'test/http'],
  'src/jobs': ['src/jobs', 'test/http/jobs.test.ts'],
  'src/mailbox': ['src/mailbox', 'test/archetypes'],
  'src/net': ['src/net', 'src/mailbox/hostile.test.ts', 'test/fuzz'],
  'src/operations': ['src/operations', 'test/adapters.test.ts', 'test/faults'],
  'src/peers': ['src/peers', 'test/nodes.test.ts'],
  'src/report': ['src/report', 'test/golden'],
}
const NOTICED = 0.85
/** Time for the tests of one change; a change that makes them hang is noticed. */
const LONGEST_MS = 120_000

type Change = { readonly file: string; readonly at: number; readonly was: string; readonly now: string }

const args = process.argv.slice(2)
const option = (name: string, otherwise: number): number => {
  const at = args.indexOf(name)
  return at < 0 ? otherwise : Number(args.splice(at, 2)[1])
}
const [count, seed] = [option('--count', 40), option('--seed', 1)]
const unknown = args.find((name) => WITH[name] === undefined)
if (args.length === 0 || unknown !== undefined) {
  console.error(`name modules: ${Object.keys(WITH).join(', ')}`)
  process.exit(2)
}
const tree = join(mkdtempSync(join(tmpdir(), 'mutants-')), 'tree')

function mutate(name: string): void {
  const all = filesOf(name).flatMap((file) => changesOf(file, readFileSync(join(tree, file), 'utf8')))
  const next = randomOf(seed)
  const chosen = Array.from(
    { length: Math.min(count, all.length) },
    () => all.splice(Math.floor(next() * all.length), 1)[0]!,
  )
  const survivors = chosen.filter((change) => !isNoticed(name, change))
  const share = 1 - survivors.length / chosen.length
  console.log(
    `${name}: ${chosen.length - survivors.length} of ${chosen.length} noticed (${(share * 100).toFixed(0)} %), seed ${seed}`,
  )
  if (share < NOTICED) process.exitCode = 1
}

const filesOf = (name: string): readonly string[] =>
  readdirSync(join(tree, name), { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.ts') && !file.endsWith('.test.ts') && !/table-|findings\.ts|examples|zones\.ts/.test(file),
    )
    .map((file) => join(name, file))
    .sort()

const SWAPS: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/(?<= )(?:===|!==|<=|>=|<|>|&&|\|\||\+|-|\?\?)(?= )/g, (found) => OTHER[found] ?? found],
  [/(?<![\w.$'`-])\d[\d_]*(?![\w.'`])/g, (found) => String(Number(found.replaceAll('_', '')) + 1)],
  [/\b(?:true|false)\b/g, (found) => (found === 'true' ? 'false' : 'true')],
  [/(?<=[ (])!(?=[a-zA-Z(])/g, () => ''],
  [/^ +(?:void |await )?[a-z]\w*(?:\.\w+)*\([^{}]*\)$/gm, () => ''],
]
const OTHER: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<=': '<',
  '>=': '>',
  '<': '<=',
  '>': '>=',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '??': '&&',
}

/** Every change that may be made in a file; imports, types, comments and text in quotes are left alone. */
function changesOf(file: string, source: string): readonly Change[] {
  const blank = (text: string): string => text.replace(/[^\n]/g, '\u0001')
  const code = source
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, blank)
    .replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(,= ])\/(?![*/ ])(?:[^/\\\n]|\\.)+\/[a-z]*/g, blank)
    .replace(/^import [\s\S]*?(?=\n(?! {2}|\}))/gm, blank)
    .replace(/^(?:export )?type [\s\S]*?\n(?=\S)/gm, blank)
    .replace(/^ +readonly [^\n]*/gm, blank)
  return SWAPS.flatMap(([pattern, other]) =>
    [...code.matchAll(pattern)].map((found) => ({ file, at: found.index, was: found[0], now: other(found[0]) })),
  ).filter(({ was, now }) => was !== now)
}

function isNoticed(name: string, { file, at, was, now }: Change): boolean {
  const path = join(tree, file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, source.slice(0, at) + now + source.slice(at + was.length))
  const isKilled = fails([dirname(file)]) || fails(WITH[name]!)
  writeFileSync(path, source)
  const line = source.slice(0, at).split('\n').length
  if (!isKilled)
    console.log(
      `${file}:${line}: ${JSON.stringify(was.trim())} as ${JSON.stringify(now)} | ${source.split('\n')[line - 1]!.trim()}`,
    )
  return isKilled
}

function fails(tests: readonly string[]): boolean {
  const vitest = resolve('node_modules/vitest/vitest.mjs')
  const ran = spawnSync(
    process.execPath,
    [vitest, 'run', '--bail=1', '--passWithNoTests', '--reporter=dot', ...tests],
    {
      cwd: tree,
      timeout: LONGEST_MS,
      stdio: 'ignore',
    },
  )
  return ran.status !== 0
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function git(...args: readonly string[]): void {
  const ran = spawnSync('git', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (ran.status !== 0) throw new Error(`git ${args.join(' ')} ended with ${ran.status}`)
}

git('worktree', 'add', '-q', '--detach', tree, 'HEAD')
symlinkSync(resolve('node_modules'), join(tree, 'node_modules'))
try {
  for (const name of args) mutate(name)
} finally {
  git('worktree', 'remove', '--force', tree)
  rmSync(dirname(tree), { recursive: true, force: true })
}
