import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { flags, machine, median, report } from './figures.ts'
import type { Figure } from './history.ts'
import { insideLab } from './inside-lab.ts'
import { startServing } from './serving.ts'

/**
 * The time of whole commands, from the sources and built, in turns: `node bench/commands.ts [--rounds 9]`. The compile
 * cache is that of a service which has run in the same data folder.
 */
const rounds = Number(flags(process.argv.slice(2)).rounds ?? 9)
const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')

/** A domain of the test network. */
const CHECK = ['check', 'accept.test', '--format', 'json', '--exit-zero']
const COMMANDS: readonly (readonly [what: string, goalMs: number, main: string, words: readonly string[]])[] = [
  ['mailsonde --help, built', 500, 'dist/main.js', ['--help']],
  ['mailsonde check, built', 500, 'dist/main.js', CHECK],
  ['mailsonde check, from the sources', 1_500, 'src/main.js', CHECK],
]

if (await insideLab([], () => execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }))) {
  console.log(`${machine()}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
  const dataOf = (main: string): string => join(folder, main.split('/')[0]!)
  for (const main of new Set(COMMANDS.map(([, , one]) => one))) {
    const service = await startServing([join(ROOT, main), 'serve', '--data-dir', dataOf(main), '--log-level', 'error'])
    await fetch(`${service.url}/v1/check?domain=accept.test`)
    await service.stop() // which writes what it has compiled
  }
  const times = new Map<string, number[]>(COMMANDS.map(([what]) => [what, []]))
  for (let round = 0; round <= rounds; round++)
    for (const [what, , main, words] of COMMANDS) {
      const env = { ...process.env, MAILSONDE_DATA_DIR: dataOf(main) }
      const begun = performance.now()
      await run(process.execPath, [join(ROOT, main), ...words], { env, cwd: folder })
      if (round > 0) times.get(what)!.push(performance.now() - begun) // the first reads everything from the disk
    }
  rmSync(folder, { recursive: true })
  const measured = COMMANDS.map(([what, goal]): Figure => {
    const value = median(times.get(what)!)
    console.log(`${what.padEnd(36)} ${value.toFixed(0)} ms, at least ${Math.min(...times.get(what)!).toFixed(0)}`)
    return { what, value, unit: 'ms', goal, isLessBetter: true }
  })
  report('commands', measured)
}
