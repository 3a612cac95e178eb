import { readdirSync } from 'node:fs'
import { Agent, request } from 'undici'
import { runTool } from '../test/real/processes.ts'
import { type Program, startProgram } from '../test/real/program.ts'
import { CLEAN, LISTED } from '../test/real/rbl/lists.ts'
import { DOMAINS } from '../test/real/world.ts'
import { cpuMs, flags, machine, median, residentMiB, sleep } from './figures.ts'
import { insideLab } from './inside-lab.ts'

/**
 * An hour of mixed requests at a steady rate, while 1 % of the packets to name servers, mail hosts and policy hosts are
 * lost, 1 % of the segments to mail hosts are answered with a reset, and 1 % of the callers disconnect:
 * `node bench/soak-hour.ts [--minutes 60] [--rate 8] [--warm-up 15]`. Prints a line per minute, then the growth after
 * the warm-up.
 */
const options = flags(process.argv.slice(2))
const minutes = Math.min(Number(options.minutes ?? 60), 24 * 60)
const perSecond = Number(options.rate ?? 8)
const warmUp = Number(options['warm-up'] ?? 15)
const HANG_UP_EVERY = 100
/** Maximum number of requests in progress; further ones are skipped and counted. */
const WIDTH = 200

type Minute = {
  readonly minute: number
  readonly residentMiB: number
  readonly heapMiB: number
  readonly files: number
  readonly answers: number
  readonly p50: number
  readonly p99: number
  /** Of the requests about names whose servers answer at once: the rest is due to loss and the program itself. */
  readonly quickP99: number
  readonly healthP99: number
  readonly cpu: number
}
type Heard = {
  readonly ms: number[]
  readonly quick: number[]
  readonly health: number[]
  readonly statuses: Map<string, number>
}

if (await insideLab()) {
  const program = await startProgram(['--log-level', 'warn'])
  await breakOnePercent()
  console.log(`${machine()}; ${perSecond} requests/s for ${minutes} minutes\n`)
  console.log(
    '| minute | resident MiB, median | heap MiB | open files | answers | p50 ms | p99 ms | p99 of quick hosts, ms | health p99 ms | % of a core |',
  )
  console.log('|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|')
  const { samples, statuses } = await soak(program)
  await sleep(15_000) // until every deadline has passed
  console.log(`\nat rest: ${residentMiB(program.pid).now.toFixed(0)} MiB, ${openFiles(program.pid)} open files`)
  console.log(`answers: ${JSON.stringify(Object.fromEntries([...statuses].sort((a, b) => b[1] - a[1])))}`)
  report(samples.filter(({ minute }) => minute > warmUp))
  console.log(`the program ended with ${await program.stop()}`)
}

/**
 * Loss and resets in the kernel of the test network: they affect the program's own queries and those of its resolver.
 */
async function breakOnePercent(): Promise<void> {
  const one = ['-m', 'statistic', '--mode', 'random', '--probability', '0.01']
  for (const match of [
    ['-p', 'udp', '--dport', '53'],
    ['-p', 'tcp', '--dport', '25'],
    ['-p', 'tcp', '--dport', '443'],
  ])
    await runTool('iptables', ['-w', '-A', 'INPUT', ...match, ...one, '-j', 'DROP'])
  await runTool('iptables', [
    ...['-w', '-A', 'INPUT', '-p', 'tcp', '--dport', '25', ...one],
    ...['-j', 'REJECT', '--reject-with', 'tcp-reset'],
  ])
}

async function soak(program: Program): Promise<{ samples: readonly Minute[]; statuses: ReadonlyMap<string, number> }> {
  const agent = new Agent({ connections: WIDTH, headersTimeout: 60_000 })
  const statuses = new Map<string, number>()
  const samples: Minute[] = []
  let underWay = 0
  let n = 0
  for (let minute = 1; minute <= minutes; minute++) {
    const heard: Heard = { ms: [], quick: [], health: [], statuses }
    const resident: number[] = []
    const began = performance.now()
    const cpu = cpuMs(program.pid)
    for (let tick = 0; tick < 60 * perSecond; tick++) {
      const dueMs = began + (tick * 1_000) / perSecond - performance.now()
      if (dueMs > 0) await sleep(dueMs)
      if (tick % (10 * perSecond) === 0) resident.push(residentMiB(program.pid).now)
      if (underWay >= WIDTH) count(statuses, 'left out')
      else {
        underWay++
        void ask(program, agent, n++, heard).finally(() => void underWay--)
      }
      if (tick % perSecond === 0) void health(program, agent, heard)
    }
    const sample = {
      minute,
      residentMiB: median(resident),
      heapMiB: await heapMiB(program),
      files: openFiles(program.pid),
      answers: heard.ms.length,
      p50: at(heard.ms, 0.5),
      p99: at(heard.ms, 0.99),
      quickP99: at(heard.quick, 0.99),
      healthP99: at(heard.health, 0.99),
      cpu: (cpuMs(program.pid) - cpu) / (performance.now() - began),
    }
    samples.push(sample)
    console.log(
      `| ${minute} | ${sample.residentMiB.toFixed(1)} | ${sample.heapMiB.toFixed(1)} | ${sample.files} | ${sample.answers} | ${sample.p50.toFixed(0)} | ${sample.p99.toFixed(0)} | ${sample.quickP99.toFixed(0)} | ${sample.healthP99.toFixed(0)} | ${(sample.cpu * 100).toFixed(0)} |`,
    )
  }
  await agent.close()
  return { samples, statuses }
}

function isQuick(n: number): boolean {
  return n % 2 === 0
}

/** Half of the requests are about new names. */
function requestOf(n: number): { readonly path: string; readonly body?: string } {
  const domain = isQuick(n) ? `n${n}.many.test` : DOMAINS[(n >> 1) % DOMAINS.length]!.name
  const kinds = [
    { path: `/v1/check?domain=${domain}&timeout=10s` },
    { path: `/v1/verify?email=user${n % 7}@${domain}&timeout=5s` },
    { path: `/v1/blacklist?ip=${n % 3 === 0 ? LISTED : n % 5 === 0 ? `45.53.${n % 200}.${n % 251}` : CLEAN}` },
    { path: `/v1/spf?ip=45.53.1.2&sender=user@${domain}` },
    { path: `/v1/dmarc?domain=${domain}` },
    { path: `/v1/dkim?domain=${domain}&selector=s${n % 5}` },
    { path: `/v1/report?domain=${domain}&timeout=10s` },
    { path: `/v1/peer/geo?ip=8.8.${n % 256}.8` },
    { path: '/v1/pool' },
    {
      path: '/v1/check',
      body: JSON.stringify({
        domain,
        records: [{ name: `_dmarc.${domain}`, type: 'TXT', value: `v=DMARC1; p=none; rua=mailto:a${n}@${domain}` }],
      }),
    },
    { path: '/v1/blacklist', body: JSON.stringify({ ips: [CLEAN, `45.53.${n % 200}.${n % 241}`] }) },
    { path: '/metrics' },
  ]
  return kinds[n % kinds.length]!
}

async function ask(program: Program, agent: Agent, n: number, heard: Heard): Promise<void> {
  const { path, body } = requestOf(n)
  const began = performance.now()
  const signal = n % HANG_UP_EVERY === 50 ? AbortSignal.timeout(n % 23) : undefined
  try {
    const response = await request(`${program.url}${path}`, {
      dispatcher: agent,
      method: body === undefined ? 'GET' : 'POST',
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
      ...(signal && { signal }),
    })
    await response.body.dump({ limit: 16 << 20 })
    count(heard.statuses, String(response.statusCode))
    heard.ms.push(performance.now() - began)
    if (isQuick(n)) heard.quick.push(performance.now() - began)
  } catch (error) {
    count(heard.statuses, signal?.aborted ? 'hung up' : `failed: ${(error as Error).message}`)
  }
}

async function health(program: Program, agent: Agent, { health: ms }: Heard): Promise<void> {
  const began = performance.now()
  const response = await request(`${program.url}/v1/health`, { dispatcher: agent }).catch(() => undefined)
  await response?.body.dump()
  ms.push(response?.statusCode === 200 ? performance.now() - began : 60_000)
}

async function heapMiB(program: Program): Promise<number> {
  const text = String((await program.get('/metrics')).body)
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]) / 2 ** 20
}

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1)
}

function at(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0
}

/**
 * The growth: memory by linear regression over all minutes, open files and p99 by the medians of the first and the last
 * third.
 */
function report(samples: readonly Minute[]): void {
  const third = Math.max(1, Math.floor(samples.length / 3))
  const drift = (of: (one: Minute) => number): { first: number; last: number } => ({
    first: median(samples.slice(0, third).map(of)),
    last: median(samples.slice(-third).map(of)),
  })
  const files = drift((one) => one.files)
  console.log(`\nminutes ${samples[0]?.minute} to ${samples.at(-1)?.minute}:`)
  console.log(`resident memory: ${slope(samples, (one) => one.residentMiB).toFixed(2)} MiB in 10 minutes`)
  console.log(`heap: ${slope(samples, (one) => one.heapMiB).toFixed(2)} MiB in 10 minutes`)
  console.log(`open files: ${files.first} to ${files.last}`)
  for (const [what, of] of [
    ['p50', (one: Minute) => one.p50],
    ['p99', (one: Minute) => one.p99],
    ['p99 of quick hosts', (one: Minute) => one.quickP99],
    ['p99 of health', (one: Minute) => one.healthP99],
  ] as const) {
    const { first, last } = drift(of)
    console.log(`${what}: ${first.toFixed(0)} to ${last.toFixed(0)} ms (${((last / first - 1) * 100).toFixed(1)} %)`)
  }
}

/** Slope by least squares, per 10 minutes. */
function slope(samples: readonly Minute[], of: (one: Minute) => number): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(samples.map(({ minute }) => minute)), mean(samples.map(of))]
  const over = samples.reduce((sum, one) => sum + (one.minute - x) * (of(one) - y), 0)
  const under = samples.reduce((sum, one) => sum + (one.minute - x) ** 2, 0)
  return under === 0 ? 0 : (over / under) * 10
}
