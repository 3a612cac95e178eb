import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { JobAnswer } from '../src/answers/jobs.ts'
import { REFUSING_HOST } from '../test/real/addresses.ts'
import { type Program, startProgram } from '../test/real/program.ts'
import { cpuMs, figures, flags, machine, median, sleep, table, V8_FLAGS } from './figures.ts'
import { insideLab } from './inside-lab.ts'
import { serverOfCpuMs } from './jobs-service.ts'
import { startSink } from './smtp-sink.ts'
import type { Figures } from './smtp-worker.ts'

/**
 * A job against smtp-sink compared with the engine alone, in turns, and the time from the submission of a list to its
 * first result. `node bench/jobs-through.ts [--rows 10000,30000] [--rounds 3] [--cpu-prof FOLDER] [--write yes]`, in
 * the test network. Both are asked the same and have 160 sessions at a time, each over its own connection; the domain
 * is known to be a catch-all. Both have answered 3,000 rows before.
 */
const options = flags(process.argv.slice(2))
const sizes = (options.rows ?? '10000').split(',').map(Number)
const rounds = Number(options.rounds ?? 3)
const profile = options['cpu-prof']
/** Rows in progress on one node. */
const WIDTH = 160
/** Rows before the measurement, within which V8 compiles what is called often. */
const WARM_UP = 3_000

if (await insideLab()) {
  const sink = await startSink(REFUSING_HOST, 25)
  const profiled = profile ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` } : {}
  const allowed = ['--allow-network', '45.53.0.0/16', '--log-level', 'warn']
  const program = await startProgram(allowed, undefined, profiled)
  await through(program, WARM_UP, 'warm')
  const firsts: number[] = []
  const ratios = new Map<number, number[]>()
  const lines: string[][] = []
  for (const rows of sizes)
    for (let round = 0; round < rounds; round++) {
      const job = await through(program, rows, `r${rows}-${round}-`)
      const engine = await direct(rows)
      firsts.push(job.firstMs)
      const ratio = job.perSecond / engine.perSecond
      ratios.set(rows, [...(ratios.get(rows) ?? []), ratio])
      const costs = [job.cpuUs, engine.cpuUs, engine.cpuUs / job.cpuUs, job.serverUs, job.firstMs]
      const cells = [rows, job.perSecond, engine.perSecond, ratio, ...costs].map((one) => one.toFixed(one < 5 ? 2 : 0))
      lines.push(cells)
      console.log(cells.join(' | '))
    }
  const reached = [...ratios].map(([rows, all]) => `${median(all).toFixed(2)} with ${rows.toLocaleString('en')} rows`)
  figures('jobs-through', [
    `A job does this share of what the engine alone does, against a mail host that answers at once: ${reached.join(', ')} (medians, goal 0.7). Its first result comes after ${median(firsts).toFixed(0)} ms (goal 1,000).`,
    table(
      [
        ...['rows', 'job, rows/s', 'engine, rows/s', 'ratio', 'µs of the service a row', 'of the engine', 'ratio'],
        ...['of the database', 'first result, ms'],
      ],
      lines,
    ),
    `${machine()}.`,
  ])
  await program.stop()
  await sink.stop()
}

/** Submits a list and waits for its end; returns the rate between submission and end. */
async function through(
  { url, pid, get }: Program,
  n: number,
  prefix: string,
): Promise<{
  readonly perSecond: number
  readonly firstMs: number
  readonly cpuUs: number
  readonly serverUs: number
}> {
  const list = Array.from({ length: n }, (_, i) => `${prefix}${i}@refusedhost.test`).join('\n')
  const before = [cpuMs(pid), serverOfCpuMs(pid)] as const
  const begun = performance.now()
  const response = await fetch(`${url}/v1/jobs`, {
    method: 'POST',
    body: list,
    headers: { 'content-type': 'text/plain' },
  })
  const { id } = (await response.json()) as JobAnswer
  const results = async (): Promise<number> => {
    const { data } = (await get(`/v1/jobs/${id}/results?limit=1`)).body as { data: readonly unknown[] }
    return data.length
  }
  while ((await results()) === 0) await sleep(10)
  const firstMs = performance.now() - begun
  const show = async (): Promise<JobAnswer> => (await get(`/v1/jobs/${id}`)).body as JobAnswer
  let job = await show()
  // Each poll costs the service as much as two rows, so the end is taken from the job itself.
  for (; job.state !== 'done'; job = await show()) await sleep(500)
  const seconds = (Date.parse(job.finished_at ?? '') - Date.parse(job.created_at)) / 1_000
  if (job.counts.catch_all !== n) console.log(`not all were answered alike: ${JSON.stringify(job.reasons)}`)
  const cpuUs = ((cpuMs(pid) - before[0]) * 1_000) / n
  return { perSecond: n / seconds, firstMs, cpuUs, serverUs: ((serverOfCpuMs(pid) - before[1]) * 1_000) / n }
}

/** The engine alone, in its own process. */
async function direct(rows: number): Promise<{ readonly perSecond: number; readonly cpuUs: number }> {
  const job = {
    address: REFUSING_HOST,
    port: 25,
    reuse: false,
    width: WIDTH,
    count: rows,
    warmUp: WARM_UP,
    sideData: true,
  }
  const execArgv = [...V8_FLAGS, ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`])]
  const child = fork(join(import.meta.dirname, 'smtp-worker.ts'), [JSON.stringify(job)], { execArgv })
  const figures = await new Promise<Figures>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Figures)).once('error', reject)
  })
  const cpuSeconds = figures.userSeconds + figures.systemSeconds
  return { perSecond: rows / figures.wallSeconds, cpuUs: (cpuSeconds * 1e6) / rows }
}
