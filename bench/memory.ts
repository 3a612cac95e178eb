import { atMost } from '../src/base/at-most.ts'
import { startProgram } from '../test/real/program.ts'
import { listeners } from '../test/real/smtp/listeners.ts'
import { flags, machine, residentMiB } from './figures.ts'
import { insideLab } from './inside-lab.ts'

/**
 * Resident memory of the server over many checks, first of the same 30 domains, then each of a new one, which fills the
 * DNS cache: `node bench/memory.ts [--checks 10000] [--width 20]`. The goal: under 120 MiB after 10,000.
 */
const options = flags(process.argv.slice(2))
const checks = Number(options.checks ?? 10_000)
const width = Number(options.width ?? 20)
const KINDS: readonly (readonly [name: string, domain: (n: number) => string])[] = [
  ['the same 30 domains', (n) => listeners[n % 30]!.domain],
  ['each another domain', (n) => `n${n}.many.test`],
]

if (await insideLab()) {
  console.log(`${machine()}\n`)
  console.log('| checks | of | resident MiB | highest MiB | checks/s | failed |\n|--:|---|--:|--:|--:|--:|')
  for (const [name, domain] of KINDS) {
    const program = await startProgram(['--log-level', 'warn'])
    tell(0, name, program.pid, 0, 0)
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
      tell(done, name, program.pid, (some * 1_000) / (performance.now() - begun), failed)
    }
    await program.stop()
  }
}

function tell(done: number, name: string, pid: number, perSecond: number, failed: number): void {
  const { now, highest } = residentMiB(pid)
  console.log(`| ${done} | ${name} | ${now.toFixed(0)} | ${highest.toFixed(0)} | ${perSecond.toFixed(0)} | ${failed} |`)
}
