import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { cpuMs, flags, machine, median, report, residentMiB, sleep } from './figures.ts'
import type { Figure } from './history.ts'
import { type Serving, startServing } from './serving.ts'

/**
 * The server's start and its fastest answer, compared with fastify with the same plugins only:
 * `node bench/server.ts [--rounds N] [--seconds N] [--main dist/main.js]`. All take turns, so that a slow moment of the
 * machine affects all alike.
 */
const options = flags(process.argv.slice(2))
const rounds = Number(options.rounds ?? 7)
const seconds = Number(options.seconds ?? 3)
const main = options.main ?? 'src/main.ts'
/** Time after the start at which the server is at rest: its compile cache is written, ms. */
const REST_MS = 5_000
const measured: Figure[] = []
const folder = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
const BARE = ['bench/bare-fastify.ts']
const ours = (data: string): string[] => [main, 'serve', '--log-level', 'error', '--data-dir', join(folder, data)]

try {
  console.log(`${machine()}, ${main}\n`)
  await starts()
  await answers()
  report(`server ${main}`, measured)
} finally {
  rmSync(folder, { recursive: true })
}

/**
 * Milliseconds from the start of the process to the first answer; `again`: with the compile cache of the first start.
 */
async function starts(): Promise<void> {
  const kinds = {
    'first start ever': (round: number) => ours(`new-${round}`),
    'every later start': () => ours('kept'),
    'bare fastify, same plugins': () => BARE,
  }
  const first = await startServing(ours('kept'))
  await sleep(REST_MS)
  await first.stop()
  await atRest()
  const runs = new Map<string, Serving[]>(Object.keys(kinds).map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [kind, args] of Object.entries(kinds)) {
      const server = await startServing(args(round))
      await server.stop()
      runs.get(kind)!.push(server)
    }
  }
  console.log(
    `| start to first answer, median of ${rounds} | ms | quickest | ms of processor time |\n|---|--:|--:|--:|`,
  )
  for (const [kind, all] of runs) {
    const ms = all.map(({ startMs }) => startMs)
    const cpu = median(all.map(({ startCpuMs }) => startCpuMs))
    console.log(`| ${kind} | ${median(ms).toFixed(0)} | ${Math.min(...ms).toFixed(0)} | ${cpu.toFixed(0)} |`)
  }
  const middle = (kind: keyof typeof kinds): number => median(runs.get(kind)!.map(({ startMs }) => startMs))
  const what = `start of the service, ${main}`
  const bare = { who: 'bare fastify, same plugins', value: middle('bare fastify, same plugins') }
  const isLessBetter = true
  measured.push(
    { what: `${what}, first`, value: middle('first start ever'), unit: 'ms', goal: 600, isLessBetter },
    { what: `${what}, later`, value: middle('every later start'), unit: 'ms', goal: 400, isLessBetter },
    { what: `${what}, later`, value: middle('every later start'), unit: 'ms', isLessBetter, beside: bare },
  )
}

/** Its second start: the first one compiles everything. */
async function atRest(): Promise<void> {
  const server = await startServing(ours('kept'))
  await sleep(REST_MS)
  const { now, anonymous } = residentMiB(server.pid)
  await server.stop()
  console.log(`at rest: ${now.toFixed(0)} MiB resident, ${anonymous.toFixed(0)} without pages of files\n`)
  const what = `resident memory at rest, ${main}`
  measured.push(
    { what, value: now, unit: 'MiB', goal: 100, isLessBetter: true },
    { what: `${what}, without pages of files`, value: anonymous, unit: 'MiB', isLessBetter: true },
  )
}

type Load = { readonly perSecond: number; readonly cpuMicros: number; readonly failed: number }

/**
 * `GET /v1/health` on 20 connections. If the load generator shares the cores, the server's processor time per request
 * says more than the rate.
 */
async function answers(): Promise<void> {
  const servers = { mailsonde: await startServing(ours('kept')), 'bare fastify': await startServing(BARE) }
  const loads = new Map<string, Load[]>(Object.keys(servers).map((name) => [name, []]))
  for (const server of Object.values(servers)) await load(server, 1) // warm-up
  for (let round = 0; round < rounds; round++) {
    for (const [name, server] of Object.entries(servers)) loads.get(name)!.push(await load(server, seconds))
  }
  for (const server of Object.values(servers)) await server.stop()
  console.log(
    `\n| GET /v1/health, median of ${rounds} × ${seconds} s | requests/s | µs of processor time a request | failed |\n|---|--:|--:|--:|`,
  )
  const middle = (name: string, of: (one: Load) => number): number => median(loads.get(name)!.map(of))
  for (const name of loads.keys()) {
    const failed = loads.get(name)!.reduce((sum, one) => sum + one.failed, 0)
    console.log(
      `| ${name} | ${middle(name, (one) => one.perSecond).toFixed(0)} | ${middle(name, (one) => one.cpuMicros).toFixed(1)} | ${failed} |`,
    )
  }
  const share = (of: (one: Load) => number): string => (middle('mailsonde', of) / middle('bare fastify', of)).toFixed(2)
  const rate = (name: string): number => middle(name, (one) => one.perSecond)
  const beside = { who: 'bare fastify, same plugins', value: rate('bare fastify') }
  measured.push({ what: `GET /v1/health, ${main}`, value: rate('mailsonde'), unit: '/s', goal: 0.85, beside })
  console.log(
    `| **mailsonde / bare fastify** | **${share((one) => one.perSecond)}** | ${share((one) => one.cpuMicros)} | |`,
  )
}

async function load(server: Serving, duration: number): Promise<Load> {
  const before = cpuMs(server.pid)
  const result = await autocannon({ url: `${server.url}/v1/health`, connections: 20, duration })
  const used = cpuMs(server.pid) - before
  const { average, total } = result.requests
  return { perSecond: average, cpuMicros: (used * 1_000) / total, failed: result.errors + result.non2xx }
}
