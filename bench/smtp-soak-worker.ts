import { readdirSync } from 'node:fs'
import { createVerifier } from '../src/mailbox/verify.ts'
import { domain } from '../src/names/domain.ts'
import { ip } from '../src/names/ip.ts'
import { SOURCES } from '../test/real/addresses.ts'
import { inProcess } from '../test/real/in-process.ts'
import { mailServers } from '../test/real/smtp/other-listeners.ts'
import { scriptedListeners } from '../test/real/smtp/scripts.ts'
import { sleep } from './figures.ts'

/**
 * Verifies addresses of all hosts in turn, `width` at a time, some with a pool; reports the number, and at the end the
 * answers and the remaining sockets.
 */
const { count, width, minutes } = JSON.parse(process.argv[2]!) as { count: number; width: number; minutes: number }
/** Each occupies a worker for seconds, so they get one address in a hundred. */
const HOSTILE = scriptedListeners.map((row) => row.domain)
const APART = ['slow.test', 'rate.test', 'pregreet.test', 'deadfirst.test']
const HOSTS = mailServers.map((row) => row.domain).filter((name) => !APART.includes(name))

const lab = inProcess()
const pool = Object.values(SOURCES).map(ip)
const verifier = createVerifier(lab.world, { helo: domain('b.sonde.test'), pool: () => pool, noCourtesy: true })
const { signal } = new AbortController()
const ctx = { ...lab.world, signal }
const answers: Record<string, number> = {}
const end = performance.now() + minutes * 60_000
let next = 0
let done = 0

async function worker(): Promise<void> {
  while (next < count && performance.now() < end) {
    const n = next++
    const hostile = n % 100 === 99
    const name = hostile ? HOSTILE[((n / 100) % HOSTILE.length) | 0]! : HOSTS[n % HOSTS.length]!
    const email = n % 3 === 0 ? `user@${name}` : `user${n}@${name}`
    const { reason } = await verifier.verify(ctx, {
      email,
      timeoutMs: hostile ? 2_000 : 20_000,
      maxAgeMs: n % 3 === 0 ? 0 : 600_000,
      pool: n % 5 === 0,
      reuse: n % 2 === 0,
    })
    answers[reason] = (answers[reason] ?? 0) + 1
    done++
  }
}

const timer = setInterval(() => process.send?.({ done }), 1_000)
const before = readdirSync('/proc/self/fd').length
await Promise.all(Array.from({ length: width }, worker))
clearInterval(timer)
await verifier.close()
await sleep(3_000)
lab.close()
await sleep(500)
const left = readdirSync('/proc/self/fd').length - before
process.send?.({ done, answers: { ...answers, 'open files more than at the start': left } })
process.disconnect?.()
