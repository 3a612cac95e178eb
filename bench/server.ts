import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { V8_FLAGS } from '../test/lab/program.ts'
import { cpuMs, flags, machine, median, type Resident, report, residentMiB, sleep } from './figures.ts'
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
const main = options.main ?? 'src/main.js'
/** What a start may take: of the package, and from the sources, which Node compiles. */
const STARTED_MS = main.startsWith('dist') ? 500 : 1_500
/** Time after the start at which the server is at rest: V8 has shrunk its heap, ms. */
const REST_MS = 15_000
const measured: Figure[] = []
const folder = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
const BARE = ['bench/bare-fastify.ts']
/** With Node's compile cache, as the unit and the image have it. */
const BARE_KEPT: NodeJS.ProcessEnv = { NODE_COMPILE_CACHE: join(folder, 'bare') }
const OURS_KEPT: NodeJS.ProcessEnv = { NODE_COMPILE_CACHE: join(folder, 'ours') }
const WHO = 'bare fastify, same plugins'
const ours = (data: string): string[] => [
  ...V8_FLAGS,
  main,
  'serve',
  '--log-level',
  'error',
  '--data-dir',
  join(folder, data),
]

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
    'first start ever': (round: number) => [ours(`new-${round}`), {}],
    'every later start': () => [ours('kept'), OURS_KEPT],
    'bare fastify, first start': () => [BARE, {}],
    'bare fastify, later start': () => [BARE, BARE_KEPT],
  } satisfies Record<string, (round: number) => [string[], NodeJS.ProcessEnv]>
  const firsts = [await startServing(ours('kept'), OURS_KEPT), await startServing(BARE, BARE_KEPT)]
  await sleep(REST_MS)
  for (const first of firsts) await first.stop()
  await atRest()
  const runs = new Map<string, Serving[]>(Object.keys(kinds).map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [kind, args] of Object.entries(kinds)) {
      const server = await startServing(...args(round))
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
  const beside = (kind: keyof typeof kinds) => ({ who: WHO, value: middle(kind) })
  const [first, later] = [middle('first start ever'), middle('every later start')]
  const isLessBetter = true
  measured.push(
    { what: `${what}, first`, value: first, unit: 'ms', goal: STARTED_MS, isLessBetter },
    { what: `${what}, first`, value: first, unit: 'ms', isLessBetter, beside: beside('bare fastify, first start') },
    { what: `${what}, later`, value: later, unit: 'ms', goal: STARTED_MS, isLessBetter },
    { what: `${what}, later`, value: later, unit: 'ms', isLessBetter, beside: beside('bare fastify, later start') },
  )
}

/** Its second start: the first one compiles everything. */
async function atRest(): Promise<void> {
  const servers = [await startServing(ours('kept'), OURS_KEPT), await startServing(BARE, BARE_KEPT)]
  await sleep(REST_MS)
  const [own, bare] = servers.map(({ pid }) => residentMiB(pid)) as [Resident, Resident] // one for each
  for (const server of servers) await server.stop()
  console.log('| at rest | MiB resident | without pages of files |\n|---|--:|--:|')
  for (const [name, { now, anonymous }] of [['mailsonde', own] as const, [WHO, bare] as const])
    console.log(`| ${name} | ${now.toFixed(0)} | ${anonymous.toFixed(0)} |`)
  console.log()
  const what = `resident memory at rest, ${main}`
  const part = `${what}, without pages of files`
  const common = { unit: 'MiB', isLessBetter: true } as const
  measured.push(
    { what, value: own.now, goal: 170, ...common },
    { what, value: own.now, beside: { who: WHO, value: bare.now }, ...common },
    { what: part, value: own.anonymous, beside: { who: WHO, value: bare.anonymous }, ...common },
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
  const beside = { who: WHO, value: rate('bare fastify') }
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
