import { readFileSync } from 'node:fs'
import { sleep } from './figures.ts'

/** The work of one process: verify `count` addresses, with `width` in flight at all times. */
export type Job = {
  readonly address: string
  readonly port: number
  readonly reuse: boolean
  readonly width: number
  readonly count: number
  /** Verifications before the measurement; by default one. */
  readonly warmUp?: number
  /** Asks for side data (disposable, free, role), as a row of a job does. */
  readonly sideData?: boolean
}
export type Figures = {
  /** By `result reason`, without those of the warm-up. */
  readonly answers: Readonly<Record<string, number>>
  readonly wallSeconds: number
  readonly userSeconds: number
  readonly systemSeconds: number
  readonly highestMiB: number
}

const job = JSON.parse(process.argv[2]!) as Job
const { createVerifier } = await import('../src/mailbox/verify.ts')
const { cidr } = await import('../src/names/cidr.ts')
const { domain } = await import('../src/names/domain.ts')
const { guard } = await import('../src/net/public-only.ts')
const { tcpDial } = await import('../src/net/smtp/tcp-dial.ts')
const { labStore, labWorld } = await import('../test/lab/world.ts')

/**
 * DNS answers come from memory, so that only the SMTP session is measured. There is one domain, whose catch-all state
 * is determined once.
 */
const world = labWorld(
  { 'sink.example': { MX: [[10, 'mx.sink.example']] }, 'mx.sink.example': { A: [job.address] } },
  {
    dial: tcpDial({ reachable: guard({ allowed: [cidr('127.0.0.0/8')] }) }),
    now: Date.now,
    random: Math.random,
    store: labStore(),
  },
)
const verifier = createVerifier(world, { helo: domain('bench.example'), port: job.port, noCourtesy: true })
const { signal } = new AbortController()
const ctx = { ...world, signal }
const answers: Record<string, number> = {}
const question = {
  reuse: job.reuse,
  timeoutMs: 60_000,
  ...(job.sideData && { disposable: true, free: true, role: true }),
}

async function one(email: string): Promise<void> {
  const { result, reason } = await verifier.verify(ctx, { email, ...question })
  const said = `${result} ${reason}`
  answers[said] = (answers[said] ?? 0) + 1
}

async function run(count: number, prefix: string): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await one(`${prefix}${next++}@sink.example`)
  }
  const workers: Promise<void>[] = []
  for (let n = 0; n < job.width; n++) {
    workers.push(worker())
    // A server accepts only this many new connections at once: its backlog is 4,096.
    if (n % 500 === 499) await sleep(100)
  }
  await Promise.all(workers)
}

await one('first@sink.example')
await run((job.warmUp ?? 1) - 1, 'warm')
for (const said of Object.keys(answers)) delete answers[said]
const cpu = process.cpuUsage()
const begun = performance.now()
await run(job.count, 'user')
const wallSeconds = (performance.now() - begun) / 1_000
const { user, system } = process.cpuUsage(cpu)
const highest = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
await verifier.close()
process.send?.({
  answers,
  wallSeconds,
  userSeconds: user / 1e6,
  systemSeconds: system / 1e6,
  highestMiB: highest / 1_024,
} satisfies Figures)
