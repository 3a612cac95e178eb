import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { atMost } from '../src/base/at-most.ts'
import { STATE } from '../test/real/addresses.ts'
import { startProgram } from '../test/real/program.ts'
import { listeners } from '../test/real/smtp/listeners.ts'
import { flags, machine, type Resident, report, residentMiB, sleep } from './figures.ts'
import type { Figure } from './history.ts'
import { insideLab } from './inside-lab.ts'

/**
 * Resident memory of the server at rest, over many checks, and at rest after them; first of the same 30 domains, then
 * each of a new one, which fills the DNS cache: `node bench/memory.ts [--checks 10000] [--width 20]`. The service runs
 * as its unit and its image run it (MALLOC_ARENA_MAX), and has run before: a first start compiles its modules.
 */
const options = flags(process.argv.slice(2))
const checks = Number(options.checks ?? 10_000)
const width = Number(options.width ?? 20)
/** Time after which the server is at rest: what a burst of work has left is collected, and V8 has shrunk its heap, ms. */
const REST_MS = 22_000
/** Time after the first start at which its compile cache is written, ms. */
const WRITTEN_MS = 3_000
const AS_DEPLOYED = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '1048576' }
const measured: Figure[] = []
const KINDS: readonly (readonly [name: string, domain: (n: number) => string])[] = [
  ['the same 30 domains', (n) => listeners[n % 30]!.domain],
  ['each another domain', (n) => `n${n}.many.test`],
]

if (await insideLab()) {
  console.log(`${machine()}\n`)
  console.log(
    '| checks | of | resident MiB | own | of files | highest MiB | checks/s | failed |\n|--:|---|--:|--:|--:|--:|--:|--:|',
  )
  for (const [name, domain] of KINDS) {
    const folder = mkdtempSync(join(STATE, 'memory-'))
    const start = () => startProgram(['--log-level', 'warn', '--data-dir', folder], undefined, AS_DEPLOYED)
    const first = await start()
    for (const n of Array(30).keys()) await first.get(`/v1/check?domain=${domain(n)}`)
    await sleep(WRITTEN_MS)
    await first.stop()
    const program = await start()
    await sleep(REST_MS)
    enter('at rest after the start', tell(0, name, program.pid, 0, 0), 100)
    let failed = 0
    for (let done = 0; done < checks; ) {
      const some = Math.min(checks / 4, checks - done)
      const begun = performance.now()
      const numbers = Array.from({ length: some }, (_, i) => done + i)
      const statuses = await atMost(
        width,
        numbers,
        async (n) => (await program.get(`/v1/check?domain=${domain(n)}`)).status,
      )
      failed += statuses.filter((status) => status !== 200).length
      done += some
      const resident = tell(done, name, program.pid, (some * 1_000) / (performance.now() - begun), failed)
      if (done === checks) enter(`just after ${checks} checks, ${name}`, resident)
    }
    await sleep(REST_MS)
    enter(`at rest after ${checks} checks, ${name}`, tell(checks, name, program.pid, 0, failed), 150)
    await program.stop()
  }
  report('memory', measured)
}

function tell(done: number, name: string, pid: number, perSecond: number, failed: number): Resident {
  const resident = residentMiB(pid)
  const { now, anonymous, mapped, highest } = resident
  const sizes = [now, anonymous, mapped, highest].map((size) => size.toFixed(0))
  console.log(`| ${done} | ${name} | ${sizes.join(' | ')} | ${perSecond.toFixed(0)} | ${failed} |`)
  return resident
}

function enter(when: string, { now, anonymous }: Resident, goal?: number): void {
  if (measured.some(({ what }) => what.includes(when))) return
  const unit = 'MiB'
  measured.push(
    { what: `resident memory ${when}`, value: now, unit, ...(goal !== undefined && { goal }), isLessBetter: true },
    { what: `of that without pages of files, ${when}`, value: anonymous, unit, isLessBetter: true },
  )
}
