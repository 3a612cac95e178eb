import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Change, changesIn, moduleOf } from './mutate/changes.ts'
import { nearestTests } from './mutate/nearest.ts'
import type { Outcome } from './mutate/worker.ts'

/**
 * `node scripts/mutate.ts [--count 200] [--seed 1] [--from 0] [--only PATTERN] [--with TESTS]`: makes small changes of the
 * code, one at a time, and runs the test files that should notice, those of its module and nearest first, until one
 * fails. A change that no test notices survives: it is printed with its line. Modules have their share of the changes by
 * their lines; the same seed makes the same changes. `--from` leaves out so many of the first; `--only` tries those whose
 * `file:line` contains the pattern; `--with` names the tests to run (files or folders, by comma) in place of the nearest.
 * Two changes are tried at a time, each in a worktree of HEAD of its own.
 */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    from: { type: 'string', default: '0' },
    with: { type: 'string' },
  },
})
const AT_A_TIME = 2
/** Time limit for the tests of one change; they end without the change within it. */
const LONGEST_MS = 600_000

const folder = mkdtempSync(join(tmpdir(), 'mutants-'))
const chosen = changesIn('.', { count: Number(values.count), seed: values.seed })
  .slice(Number(values.from))
  .filter((change) => placeOf(change).includes(values.only))
const testsOf = nearestTests('.', values.with?.split(','))
const tally = new Map<string, { noticed: number; of: number }>()

function placeOf({ file, line }: Change): string {
  return `${file}:${line}`
}

/** A worktree with a vitest that runs tests in it, one list at a time. */
function place(n: number) {
  const tree = join(folder, String(n))
  git('worktree', 'add', '-q', '--detach', tree, 'HEAD')
  symlinkSync(resolve('node_modules'), join(tree, 'node_modules'))
  let worker: ChildProcess | undefined
  /** Whether a test file holds in this process without a change. */
  const fit = new Map<string, boolean>()

  async function firstFailing(file: string, tests: readonly string[]): Promise<Outcome | undefined> {
    if (!worker) {
      worker = fork(join(import.meta.dirname, 'mutate/worker.ts'), [tree], {
        cwd: tree,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      await once(worker, 'message')
    }
    const running = worker
    running.send({ file, tests })
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(LONGEST_MS)])
    const outcome = await Promise.race([
      once(running, 'message', { signal }).then(([told]: { outcome?: Outcome }[]) => told!),
      once(running, 'exit', { signal }).then(() => undefined),
    ]).catch(() => undefined)
    over.abort()
    if (outcome) return outcome.outcome
    running.kill('SIGKILL')
    worker = undefined
    return { test: tests.at(-1)!, problem: 'does not end' }
  }

  /** The test that notices a change, with its name; undefined if the change survives. */
  async function noticedBy({ file, at, was, now }: Change): Promise<string | undefined> {
    const path = join(tree, file)
    const source = readFileSync(path, 'utf8')
    const changed = source.slice(0, at) + now + source.slice(at + was.length)
    let tests = testsOf(file).filter((test) => fit.get(test) !== false)
    try {
      while (tests.length > 0) {
        writeFileSync(path, changed)
        const failed = await firstFailing(file, tests)
        if (!failed) break
        const { test, problem } = failed
        // What fails without a change shows nothing.
        writeFileSync(path, source)
        if (!fit.has(test)) fit.set(test, (await firstFailing(file, [test])) === undefined)
        if (fit.get(test)) return `${test}: ${problem}`
        tests = tests.filter((one) => one !== test)
      }
      return undefined
    } finally {
      writeFileSync(path, source)
    }
  }

  async function tryNext(): Promise<void> {
    for (let change = chosen.shift(); change; change = chosen.shift()) {
      const { file, at, was, now } = change
      const by = await noticedBy(change)
      const source = readFileSync(join(tree, file), 'utf8')
      const line = source.split('\n')[change.line - 1]!
      const what = `${placeOf(change)}: ${JSON.stringify(source.slice(at, at + was.length).trim())} as ${JSON.stringify(now)}`
      console.log(`${by === undefined ? 'SURVIVES' : 'noticed '} ${what} | ${line.trim()} | ${by ?? ''}`)
      const counts = tally.get(moduleOf(file)) ?? { noticed: 0, of: 0 }
      tally.set(moduleOf(file), { noticed: counts.noticed + (by === undefined ? 0 : 1), of: counts.of + 1 })
    }
    worker?.kill()
  }

  const remove = (): void => {
    worker?.kill()
    git('worktree', 'remove', '--force', tree)
  }
  return { tryNext, remove }
}

function git(...args: readonly string[]): void {
  const ran = spawnSync('git', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (ran.status !== 0) throw new Error(`git ${args.join(' ')} ended with ${ran.status}`)
}

const places = Array.from({ length: AT_A_TIME }, (_, n) => place(n))
try {
  await Promise.all(places.map(({ tryNext }) => tryNext()))
} finally {
  for (const { remove } of places) remove()
  rmSync(folder, { recursive: true, force: true })
}
console.log('\n| module | noticed | of |\n|---|--:|--:|')
for (const [name, { noticed, of }] of [...tally].sort()) console.log(`| ${name} | ${noticed} | ${of} |`)
const all = [...tally.values()]
console.log(`| all | ${all.reduce((n, { noticed }) => n + noticed, 0)} | ${all.reduce((n, { of }) => n + of, 0)} |`)
