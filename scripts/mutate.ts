import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Change, changesIn } from './mutate/changes.ts'
import { nearestTests } from './mutate/nearest.ts'
import type { Outcome } from './mutate/worker.ts'

/**
 * `node scripts/mutate.ts MODULE… [--count 40] [--seed 1] [--only PATTERN] [--with TESTS]`: makes one small change in a
 * file of the module (src/dnsbl) at a time, in a worktree of its own, and runs the tests that import the file, those
 * beside it first, then the quickest, until one fails. A change that no test notices survives: it is printed with its
 * line. The same seed makes the same changes; `--only` tries those whose `file:line` contains the pattern; `--with`
 * names the tests to run (files or folders, by comma) in place of all that belong to the module. Exit status 1 under 85
 * %.
 */
const WITH: Readonly<Record<string, readonly string[]>> = {
  'src/checks': [
    'src/checks',
    'src/score',
    'src/operations',
    'test/golden',
    'test/conformance',
    'test/archetypes',
    'test/bounds',
  ],
  'src/dnsbl': ['src/dnsbl', 'src/operations', 'test/golden', 'test/adapters.test.ts', 'test/bounds'],
  'src/http': ['src/http', 'test/http', 'test/bounds'],
  'src/jobs': ['src/jobs', 'test/http/jobs.test.ts', 'test/bounds'],
  'src/mailbox': ['src/mailbox', 'test/archetypes', 'src/operations', 'test/bounds'],
  'src/net': ['src/net', 'src/mailbox', 'test/fuzz', 'src/start', 'test/bounds'],
  'src/operations': [
    'src/operations',
    'test/adapters.test.ts',
    'test/nodes.test.ts',
    'test/cluster.test.ts',
    'test/http',
    'test/bounds',
  ],
  'src/peers': ['src/peers', 'test/nodes.test.ts', 'test/http/proofs.test.ts', 'test/bounds'],
  'src/score': ['src/score', 'src/operations', 'test/golden', 'test/bounds'],
}
const NOTICED = 0.85
/** Time limit for the tests of one change; a change that exceeds it counts as detected. */
const LONGEST_MS = 600_000

const args = process.argv.slice(2)
const option = (name: string): string | undefined => {
  const at = args.indexOf(name)
  return at < 0 ? undefined : args.splice(at, 2)[1]
}
const count = Number(option('--count') ?? 40)
const seed = Number(option('--seed') ?? 1)
const only = option('--only') ?? ''
const given = option('--with')?.split(',')
const unknown = args.find((name) => WITH[name] === undefined)
if (args.length === 0 || unknown !== undefined) {
  console.error(`name modules: ${Object.keys(WITH).join(', ')}`)
  process.exit(2)
}
const tree = join(mkdtempSync(join(tmpdir(), 'mutants-')), 'tree')
let worker: ChildProcess | undefined
/** How long the tests of a file take without a change, ms. */
const times = new Map<string, number>()

async function mutate(name: string): Promise<void> {
  const nearest = nearestTests(tree)
  const chosen = changesIn(tree, name, { count, seed }).filter((change) => placeOf(change).includes(only))
  // Tests that fail in one process even without a change show nothing.
  const unfit: string[] = []
  const testsOf = (file: string): readonly string[] =>
    nearest(file, given ?? WITH[name]!)
      .filter((test) => !unfit.includes(test))
      .toSorted((a, b) => costOf(a, file) - costOf(b, file))
  const files = [...new Set(chosen.map(({ file }) => file))]
  const all = (): readonly string[] => [...new Set(files.flatMap(testsOf))]
  for (let failed = await failing(files[0]!, all()); failed.length > 0; failed = await failing(files[0]!, all())) {
    console.log(`left out: ${failed[0]}`)
    const test = failed[0]!.split(':')[0]!
    if (!all().includes(test)) throw new Error(`the tests cannot be run: ${failed[0]}`)
    unfit.push(test)
  }
  let noticed = 0
  for (const change of chosen) {
    const by = await noticedBy(change, testsOf(change.file))
    if (by.length > 0) noticed++
    const line = readFileSync(join(tree, change.file), 'utf8').split('\n')[lineOf(change) - 1]!
    const what = `${placeOf(change)}: ${JSON.stringify(change.was.trim())} as ${JSON.stringify(change.now)}`
    console.log(`${by.length > 0 ? 'noticed ' : 'SURVIVES'} ${what} | ${line.trim()} | ${by[0] ?? ''}`)
  }
  const share = noticed / chosen.length
  console.log(`${name}: ${noticed} of ${chosen.length} noticed (${(share * 100).toFixed(0)} %), seed ${seed}`)
  if (share < NOTICED) process.exitCode = 1
}

const costOf = (test: string, file: string): number => (dirname(test) === dirname(file) ? 0 : (times.get(test) ?? 0))
const lineOf = ({ file, at }: Change): number => readFileSync(join(tree, file), 'utf8').slice(0, at).split('\n').length
const placeOf = (change: Change): string => `${change.file}:${lineOf(change)}`

/** The tests that detect a change; none if it survives. */
async function noticedBy({ file, at, was, now }: Change, tests: readonly string[]): Promise<readonly string[]> {
  const path = join(tree, file)
  const source = readFileSync(path, 'utf8')
  writeFileSync(path, source.slice(0, at) + now + source.slice(at + was.length))
  try {
    const failed = await failing(file, tests)
    return failed.length === 0 && !areDocumentsFresh() ? ['the generated documents are stale'] : failed
  } finally {
    writeFileSync(path, source)
  }
}

/** The check for up-to-date generated documents counts too. */
const areDocumentsFresh = (): boolean =>
  spawnSync(process.execPath, ['scripts/gen-docs.ts', '--check'], { cwd: tree, stdio: 'ignore' }).status === 0

async function failing(file: string, tests: readonly string[]): Promise<readonly string[]> {
  worker ??= await started()
  const running = worker
  running.send({ file, tests })
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(LONGEST_MS)])
  const outcome = await Promise.race([
    once(running, 'message', { signal }).then(([told]: Outcome[]) => told),
    once(running, 'exit', { signal }).then(() => undefined),
  ]).catch(() => undefined)
  over.abort()
  for (const [test, ms] of outcome?.took ?? []) if (!times.has(test)) times.set(test, ms)
  if (outcome) return outcome.failed
  running.kill('SIGKILL')
  worker = undefined
  return ['they do not end']
}

/** A worker that is ready. It leads a process group of its own. */
async function started(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'mutate/worker.ts'), [tree], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

function git(...args: readonly string[]): void {
  const ran = spawnSync('git', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (ran.status !== 0) throw new Error(`git ${args.join(' ')} ended with ${ran.status}`)
}

git('worktree', 'add', '-q', '--detach', tree, 'HEAD')
symlinkSync(resolve('node_modules'), join(tree, 'node_modules'))
try {
  for (const name of args) await mutate(name)
} finally {
  worker?.kill()
  git('worktree', 'remove', '--force', tree)
  rmSync(dirname(tree), { recursive: true, force: true })
}
