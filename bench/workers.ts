import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { startProgram } from '../test/real/program.ts'
import { cpuMs, flags, machine, median, report, sleep } from './figures.ts'
import { insideLab } from './inside-lab.ts'

/**
 * `serve --workers 2` beside one process, in turns:
 * `node bench/workers.ts [--rounds 3] [--seconds 8] [--connections 64]`. Checks of one domain, whose DNS answers are in
 * memory, from a process of its own; meanwhile `/v1/health` is asked every 10 ms. Load, name servers and service share
 * the cores: the most that two can reach beside one is the time of one process a check, times the cores, divided by the
 * time that the whole machine is busy for a check.
 */
const options = flags(process.argv.slice(2))
const [rounds, seconds, connections] = [
  Number(options.rounds ?? 3),
  Number(options.seconds ?? 8),
  Number(options.connections ?? 64),
]
const PATH = '/v1/check?domain=accept.test'
const HEALTH_EVERY_MS = 10

type Measured = {
  readonly perSecond: number
  readonly healthMs: number
  readonly refused: number
  /** Processor time of the service a check, all its processes, ms. */
  readonly serviceMs: number
  /** Processor time of the first process of a service with workers a check, ms. */
  readonly firstMs: number
  /** Processor time of the load a check, ms. */
  readonly loadMs: number
  /** Processor time of the whole machine a check, name servers and kernel included, ms. */
  readonly machineMs: number
}

if (process.send && options.url !== undefined) {
  const { url } = options
  process.once('message', () => void load(url)).send!('ready')
} else if (await insideLab()) await compare()

async function compare(): Promise<void> {
  console.log(`${machine()}\n`)
  const seen: Record<1 | 2, Measured[]> = { 1: [], 2: [] }
  for (let round = 0; round < rounds; round++)
    for (const workers of [1, 2] as const) seen[workers].push(await measure(workers))
  const of = (workers: 1 | 2, what: keyof Measured): number => median(seen[workers].map((one) => one[what]))
  console.log(
    '| processes | checks a second | health p99, ms | not answered with 200 | ms of the service a check | of its first process | ms of the load | of the whole machine |\n|---|--:|--:|--:|--:|--:|--:|--:|',
  )
  for (const workers of [1, 2] as const) {
    const [perSecond, healthMs, refused, serviceMs, firstMs, loadMs, machineMs] = (
      ['perSecond', 'healthMs', 'refused', 'serviceMs', 'firstMs', 'loadMs', 'machineMs'] as const
    ).map((what) => of(workers, what))
    console.log(
      `| ${workers} | ${perSecond!.toFixed(0)} | ${healthMs!.toFixed(1)} | ${refused} | ${serviceMs!.toFixed(2)} | ${firstMs!.toFixed(2)} | ${loadMs!.toFixed(2)} | ${machineMs!.toFixed(2)} |`,
    )
  }
  const ratio = of(2, 'perSecond') / of(1, 'perSecond')
  const most = (availableParallelism() * of(1, 'serviceMs')) / of(2, 'machineMs')
  console.log(
    `| **two / one** (goal 1.7; health 50) | **${ratio.toFixed(2)}** of at most ${most.toFixed(2)} | | | | | | |`,
  )
  report('workers', [
    { what: 'checks a second, two workers / one process', value: ratio, unit: '', goal: 1.7 },
    { what: 'of at most, with name servers and load on the same cores', value: most, unit: '' },
    {
      what: 'GET /v1/health beside two busy workers, p99',
      value: of(2, 'healthMs'),
      unit: 'ms',
      goal: 50,
      isLessBetter: true,
    },
  ])
}

/** The process and its children. */
function familyOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return [pid, ...children.filter(Boolean).map(Number)]
}

/** Processor time of processes, ms. */
function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuMs(pid), 0)
}

/** Time that the processors of the machine were busy, ms; proc(5): all but idle and iowait, in hundredths of a second. */
function busyMs(): number {
  const [, ...times] = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.trim().split(/\s+/)
  return times.slice(0, 8).reduce((sum, time, i) => sum + (i === 3 || i === 4 ? 0 : Number(time)), 0) * 10
}

async function measure(workers: number): Promise<Measured> {
  const program = await startProgram(['--workers', String(workers)])
  const pool = new Pool(program.url, { connections: 8 })
  for (let n = 0; n < 400; n++) await (await pool.request({ path: PATH, method: 'GET' })).body.dump()
  await pool.close()
  const child = fork(import.meta.filename, [
    '--url',
    program.url,
    '--seconds',
    String(seconds),
    '--connections',
    String(connections),
  ])
  await once(child, 'message') // its modules are loaded
  child.send('begin')
  const health: number[] = []
  const family = familyOf(program.pid)
  const [before, firstBefore, busyBefore] = [cpuOf(family), cpuMs(program.pid), busyMs()]
  const told = new Promise<{ readonly answered: number; readonly refused: number; readonly cpuMs: number }>(
    (resolve, reject) => {
      child.once('message', (message) => resolve(message as { answered: number; refused: number; cpuMs: number }))
      child.once('exit', (code) => reject(new Error(`the load ended with ${code}`)))
    },
  )
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    const begun = performance.now()
    await program.get('/v1/health')
    health.push(performance.now() - begun)
    await sleep(HEALTH_EVERY_MS)
  }
  const { answered, refused, cpuMs: loadMs } = await told
  const [all, first, busy] = [cpuOf(family) - before, cpuMs(program.pid) - firstBefore, busyMs() - busyBefore]
  await program.stop()
  const sorted = health.toSorted((a, b) => a - b)
  return {
    perSecond: answered / seconds,
    healthMs: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    refused,
    serviceMs: all / answered,
    firstMs: workers > 1 ? first / answered : 0,
    loadMs: loadMs / answered,
    machineMs: busy / answered,
  }
}

/**
 * In a process of its own: as many checks as are answered, over plain sockets, so that it takes little of the cores.
 */
async function load(url: string): Promise<void> {
  const before = process.cpuUsage()
  const until = performance.now() + seconds * 1_000
  const seen = { answered: 0, refused: 0 }
  await Promise.all(Array.from({ length: connections }, () => askUntil(until, new URL(url), seen)))
  const { user, system } = process.cpuUsage(before)
  process.send!({ ...seen, cpuMs: (user + system) / 1_000 })
  process.disconnect()
}

/** One request after the other on one connection; an answer is over when as many bytes have come as it announced. */
function askUntil(until: number, { hostname, port, host }: URL, seen: { answered: number; refused: number }) {
  return new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname).once('error', reject)
    let left = 0
    const ask = (): void => {
      left = 0
      if (performance.now() < until) socket.write(`GET ${PATH} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      else socket.end(resolve)
    }
    socket.once('connect', ask).on('data', (bytes) => {
      if (left === 0) {
        const head = bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n') + 4)
        left = head.length + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN)
        if (head.startsWith('HTTP/1.1 200')) seen.answered++
        else seen.refused++
      }
      left -= bytes.length
      if (left === 0) ask()
      else if (!(left > 0)) reject(new Error('an answer without its length'))
    })
  })
}
