import { execFileSync, fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseServer, type Server } from '../src/net/dns/system.ts'
import { startKnot, ZONE } from './dns-knot.ts'
import type { Figures, Job } from './dns-worker.ts'
import { flags, machine, median, report } from './figures.ts'
import type { Figure } from './history.ts'

/**
 * Queries per second of processor time of each client against one server, each client in its own process: `node
 * bench/dns.ts [--server IP:PORT] [--seconds N] [--in-flight 1000,5000] [--only ours,dns-packet,dns-packet-bare,c-ares,node-udp]
 * [--rounds N]`. Without `--server` it starts knotd on a loopback port. Rounds take turns, so that a slow moment of the
 * machine affects all alike; figures are medians of the rounds, ratios the medians of the ratios of each round.
 */
const CLIENTS = ['ours', 'dns-packet', 'dns-packet-bare', 'c-ares', 'node-udp'] as const

const options = flags(process.argv.slice(2))
const seconds = Number(options.seconds ?? 2)
const times = Number(options.rounds ?? 5)
const inFlight = (options['in-flight'] ?? '1000,5000').split(',').map(Number)
const clients = (options.only ?? CLIENTS.join(',')).split(',') as Job['client'][]
/** Clients that return less than ours: how much of the time is the library's, and how much Node's. */
const WHO: Readonly<Record<string, string>> = {
  'dns-packet-bare': 'dns-packet, no promises',
  'node-udp': 'sockets of Node alone',
}
/** Goals of the queries per CPU-second, relative to a client. */
const GOALS: Readonly<Record<string, number>> = { 'dns-packet': 1.8, 'c-ares': 2 }
const measured: Figure[] = []
const folder = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
const knot = options.server ? undefined : await startKnot(folder)
const server = options.server ? given(options.server) : knot!.server

try {
  console.log(`${machine()}, ${seconds} s × ${times}\n`)
  console.log(
    '| client | in flight | questions/s | questions per CPU-second | µs of program + kernel a question | sent again | lost |\n|---|--:|--:|--:|--:|--:|--:|',
  )
  for (const width of inFlight) await compare(width)
  report('dns', measured)
} finally {
  await knot?.stop()
  rmSync(folder, { recursive: true })
}

async function compare(width: number): Promise<void> {
  const rounds = new Map<string, Figures[]>()
  const [before] = loadavg()
  for (let round = 0; round < times; round++) {
    for (const client of clients) {
      const figures = await measure({ client, server, width, seconds, zone: ZONE })
      rounds.set(client, [...(rounds.get(client) ?? []), figures])
    }
  }
  for (const [client, figures] of rounds) console.log(row(client, width, figures))
  const wall = dnsperf(width)
  const ours = rounds.get('ours') ?? []
  if (wall !== undefined) {
    console.log(`| dnsperf | ${width} | ${Math.round(wall)} | | | | |`)
    const beside = { who: 'dnsperf (C)', value: wall }
    measured.push({ what: `DNS queries, ${width} in flight`, value: median(ours.map(perSecond)), unit: '/s', beside })
  }
  for (const [client, theirs] of rounds) {
    if (client === 'ours' || ours.length === 0) continue
    const ratio = median(theirs.map((figures, round) => perCpuSecond(ours[round]!) / perCpuSecond(figures)))
    console.log(`| ours / ${client} | ${width} | | **${ratio.toFixed(2)} ×** | | | |`)
    const value = median(ours.map(perCpuSecond))
    const beside = { who: WHO[client] ?? client, value: value / ratio }
    const goal = GOALS[client]
    const what = `DNS queries per CPU-second, ${width} in flight`
    measured.push({ what, value, unit: '/s', beside, ...(goal !== undefined && { goal }) })
    if (client in WHO) continue
    const clock = { who: client, value: median(theirs.map(perSecond)) }
    measured.push({
      what: `DNS queries, ${width} in flight`,
      value: median(ours.map(perSecond)),
      unit: '/s',
      beside: clock,
    })
  }
  console.log(`| load ${before!.toFixed(0)} to ${loadavg()[0]!.toFixed(0)} | ${width} | | | | | |`)
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

/**
 * Queries per second of wall-clock time of dnsperf with its default number of threads; undefined if it is not
 * installed.
 */
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

function perSecond({ answered, wallSeconds }: Figures): number {
  return answered / wallSeconds
}

function perCpuSecond({ answered, userSeconds, systemSeconds }: Figures): number {
  return answered / (userSeconds + systemSeconds)
}

function row(client: string, width: number, rounds: readonly Figures[]): string {
  const each = (['userSeconds', 'systemSeconds'] as const).map((used) =>
    median(rounds.map((figures) => (figures[used] * 1e6) / figures.answered)).toFixed(1),
  )
  const sum = (of: 'again' | 'lost'): number => rounds.reduce((all, figures) => all + figures[of], 0)
  return `| ${client} | ${width} | ${Math.round(median(rounds.map(perSecond)))} | ${Math.round(median(rounds.map(perCpuSecond)))} | ${each.join(' + ')} | ${sum('again')} | ${sum('lost')} |`
}

function given(text: string): Server {
  const parsed = parseServer(text)
  if (!parsed.ok) throw new TypeError(parsed.problem.text)
  return parsed.value
}
