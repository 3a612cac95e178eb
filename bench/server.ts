import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { cpuMs, flags, machine, median } from './figures.ts'
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
const folder = mkdtempSync(join(tmpdir(), 'mailsonde-bench-'))
const BARE = ['bench/bare-fastify.ts']
const ours = (data: string): string[] => [main, 'serve', '--log-level', 'error', '--data-dir', join(folder, data)]

try {
  console.log(`${machine()}, ${main}\n`)
  await starts()
  await answers()
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
  await (await startServing(ours('kept'))).stop()
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
