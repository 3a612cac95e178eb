import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JobAnswer } from '../src/answers/jobs.ts'
import { startEmbedded } from '../src/store/postgres/embedded.ts'
import { flags, machine, median, report, sleep } from './figures.ts'
import { benchFolder, type JobsService, serverPids, startJobsService } from './jobs-service.ts'

/**
 * The costs of bulk jobs on one machine with the private server: its first and later starts, the time from a submission
 * to its first result, and the memory of service and server together at rest.
 * `node bench/jobs-rest.ts [--rounds 5] [--rest 20] [--rows 2000]`. The rows are not addresses, so that they cause no
 * queries. Needs root.
 */
const options = flags(process.argv.slice(2))
const rounds = Number(options.rounds ?? 5)
const restSeconds = Number(options.rest ?? 20)
const rows = Number(options.rows ?? 2_000)

const folder = benchFolder()
const data = join(folder.path, 'data')
try {
  console.log(`${machine()}\n\n| what | median | all | goal |\n|---|--:|--:|--:|`)
  const starts: number[] = []
  for (let round = 0; round <= rounds; round++) starts.push(await serverStart())
  tell('first start of the server, ms', starts.slice(0, 1), 3_000)
  tell('later starts, ms', starts.slice(1), 500)
  const [needs, firsts, later] = [[] as number[], [] as number[], [] as number[]]
  let memory: readonly Memory[] = []
  for (let round = 0; round <= rounds; round++) {
    const service = await startJobsService(data)
    try {
      const begun = performance.now()
      await service.get('/v1/jobs')
      needs.push(performance.now() - begun)
      firsts.push(await firstResult(service))
      later.push(await firstResult(service))
      if (round === rounds) memory = await atRest(service)
    } finally {
      await service.stop()
    }
  }
  tell('first list of jobs after the start of a service, tables made, ms', needs.slice(0, 1))
  tell('the same of later services, ms', needs.slice(1))
  tell('from a submission to its first result, first job of a service, ms', firsts, 1_000)
  tell('the same of its second job, ms', later, 1_000)
  console.log('\n| process, at rest | PSS, MiB | resident, MiB |\n|---|--:|--:|')
  for (const { name, pss, resident } of memory) console.log(`| ${name} | ${pss.toFixed(1)} | ${resident.toFixed(1)} |`)
  const sum = (of: readonly number[]): number => of.reduce((all, one) => all + one, 0)
  const pss = sum(memory.map((one) => one.pss))
  // Memory that the service shares with other programs (Node's own binary) is counted in full here.
  const most = sum(memory.map(({ pss, resident }, i) => (i === 0 ? resident : pss)))
  console.log(
    `\ntogether ${pss.toFixed(0)} MiB, with all of Node's binary ${most.toFixed(0)} MiB (goal 250); ${machine()}`,
  )
  const common = { unit: 'ms', isLessBetter: true } as const
  report('jobs-rest', [
    { what: 'first start of the private database', value: starts[0]!, goal: 3_000, ...common },
    { what: 'later starts of the private database', value: median(starts.slice(1)), goal: 500, ...common },
    { what: 'first result of the first job of a service', value: median(firsts), goal: 1_000, ...common },
    {
      what: 'service and database at rest, proportional set size',
      value: pss,
      unit: 'MiB',
      goal: 250,
      isLessBetter: true,
    },
  ])
} finally {
  folder.remove()
}

function tell(what: string, times: readonly number[], goal?: number): void {
  const all = times.map((ms) => ms.toFixed(0)).join(', ')
  console.log(`| ${what} | ${median(times).toFixed(0)} | ${all} | ${goal ?? ''} |`)
}

/** Starts and stops the server in this process; returns the time of the start, ms. */
async function serverStart(): Promise<number> {
  const log = { info: () => {}, warn: () => {} }
  const begun = performance.now()
  const server = await startEmbedded({ dataDir: data, user: 'nobody', log }, AbortSignal.timeout(60_000))
  const ms = performance.now() - begun
  await server.stop()
  return ms
}

/** Submits a list and waits for its first result, then for its end; returns the time to the first result, ms. */
async function firstResult({ url, get }: JobsService): Promise<number> {
  const body = Array.from({ length: rows }, (_, n) => `no mailbox ${n}`).join('\n')
  const headers = { 'content-type': 'text/plain' }
  const begun = performance.now()
  const response = await fetch(`${url}/v1/jobs`, { method: 'POST', body, headers })
  const { id } = (await response.json()) as JobAnswer
  const results = () => get<{ readonly data: readonly unknown[] }>(`/v1/jobs/${id}/results?limit=1`)
  while ((await results()).data.length === 0) await sleep(5)
  const ms = performance.now() - begun
  while ((await get<JobAnswer>(`/v1/jobs/${id}`)).state !== 'done') await sleep(50)
  return ms
}

type Memory = { readonly name: string; readonly pss: number; readonly resident: number }

/** The service and the processes of its server, after a while without requests. */
async function atRest({ pid }: JobsService): Promise<readonly Memory[]> {
  await sleep(restSeconds * 1_000)
  return [memoryOf(pid, 'service'), ...serverPids(data).map((one) => memoryOf(one, titleOf(one)))]
}

/** The title of a process of the server. */
function titleOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]!.trim().slice(-60)
}

/** Proportional and resident memory, MiB; memory that n processes share counts 1/n for each. */
function memoryOf(pid: number, name: string): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const mib = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0) / 1_024
  return { name, pss: mib('Pss'), resident: mib('Rss') }
}
