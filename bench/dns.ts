import { execFileSync, fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseServer, type Server } from '../src/net/dns/system.ts'
import { startKnot, ZONE } from './dns-knot.ts'
import type { Figures, Job } from './dns-worker.ts'

/**
 * How many questions a second of processor time each client manages against one server, each in a process of its own:
 * `node bench/dns.ts [--server IP:PORT] [--seconds N] [--in-flight 1000,5000] [--only ours,dns-packet,c-ares] [--rounds N]`.
 * Without `--server` it starts knotd on a loopback port. Rounds take turns, so that a slow moment of the machine hits all alike.
 */
const CLIENTS = ['ours', 'dns-packet', 'c-ares'] as const

const options = flags(process.argv.slice(2))
const seconds = Number(options.seconds ?? 5)
const rounds = Number(options.rounds ?? 2)
const inFlight = (options['in-flight'] ?? '1000,5000').split(',').map(Number)
const clients = (options.only ?? CLIENTS.join(',')).split(',') as Job['client'][]
const folder = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
const knot = options.server ? undefined : await startKnot(folder)
const server = options.server ? given(options.server) : knot!.server

try {
  console.log(
    `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, Node ${process.version}, ${seconds} s × ${rounds}\n`,
  )
  console.log(
    '| client | in flight | questions/s | questions per CPU-second | µs of program + kernel a question | sent again | lost |\n|---|--:|--:|--:|--:|--:|--:|',
  )
  for (const width of inFlight) await compare(width)
} finally {
  await knot?.stop()
  rmSync(folder, { recursive: true })
}

async function compare(width: number): Promise<void> {
  const sums = new Map<string, Figures>()
  for (let round = 0; round < rounds; round++) {
    for (const client of clients) {
      const figures = await measure({ client, server, width, seconds, zone: ZONE })
      sums.set(client, add(sums.get(client), figures))
    }
  }
  for (const [client, figures] of sums) console.log(row(client, width, figures))
  const wall = dnsperf(width)
  if (wall !== undefined) console.log(`| dnsperf | ${width} | ${Math.round(wall)} | | | | |`)
  const ours = perCpuSecond(sums.get('ours'))
  for (const other of ['dns-packet', 'c-ares']) {
    const theirs = perCpuSecond(sums.get(other))
    if (ours && theirs) console.log(`| ours / ${other} | ${width} | | **${(ours / theirs).toFixed(2)} ×** | | | |`)
  }
}

function measure(job: Job): Promise<Figures> {
  const execArgv = options['cpu-prof'] ? ['--cpu-prof', `--cpu-prof-dir=${options['cpu-prof']}`] : []
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'dns-worker.ts'), [JSON.stringify(job)], { execArgv })
    let figures: Figures | undefined
    child.on('message', (message) => {
      figures = message as Figures
    })
    child.on('error', reject)
    child.on('exit', (code) => (figures ? resolve(figures) : reject(new Error(`${job.client} ended with ${code}`))))
  })
}

/** Wall-clock questions a second of dnsperf on as many threads as it takes by default, or undefined where it is not installed. */
function dnsperf(width: number): number | undefined {
  const list = join(folder, 'questions')
  const lines = Array.from({ length: 10_000 }, (_, i) => `n${i}.${ZONE} A`)
  writeFileSync(list, `${lines.join('\n')}\n`)
  const args = ['-s', server.ip, '-p', String(server.port), '-d', list, '-l', String(seconds), '-q', String(width)]
  try {
    const printed = execFileSync('dnsperf', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return Number(/Queries per second:\s+([\d.]+)/.exec(printed)?.[1])
  } catch {
    return undefined
  }
}

function perCpuSecond(figures: Figures | undefined): number {
  return figures ? figures.answered / (figures.userSeconds + figures.systemSeconds) : 0
}

function row(client: string, width: number, figures: Figures): string {
  const { answered, wallSeconds, userSeconds, systemSeconds, again, lost } = figures
  const each = [userSeconds, systemSeconds].map((used) => ((used * 1e6) / answered).toFixed(1)).join(' + ')
  return `| ${client} | ${width} | ${Math.round(answered / wallSeconds)} | ${Math.round(perCpuSecond(figures))} | ${each} | ${again} | ${lost} |`
}

function add(sum: Figures | undefined, more: Figures): Figures {
  if (!sum) return more
  const keys = Object.keys(more) as (keyof Figures)[]
  return Object.fromEntries(keys.map((key) => [key, sum[key] + more[key]])) as Figures
}

function given(text: string): Server {
  const parsed = parseServer(text)
  if (!parsed.ok) throw new TypeError(parsed.problem)
  return parsed.value
}

function flags(args: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (let i = 0; i + 1 < args.length; i += 2) found[args[i]!.replace(/^--/, '')] = args[i + 1]!
  return found
}
