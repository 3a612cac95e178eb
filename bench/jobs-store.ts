import { openDatabase } from '../src/store/postgres/connect.ts'
import { type DuePair, jobRowsOf } from '../src/store/postgres/job-rows.ts'
import { type JobRecord, jobsOf } from '../src/store/postgres/jobs.ts'
import { takeLeases } from '../src/store/postgres/provider-leases.ts'
import { labAnswer, labList, labRunning } from '../test/lab/job-rows.ts'
import { figures, flags, machine, median, table } from './figures.ts'
import { benchFolder } from './jobs-service.ts'

/**
 * The time of the statements that work on rows, each by itself on one connection of the private database: claims and
 * answers of so many rows, the plan of many providers, and the renewal of leases.
 * `node bench/jobs-store.ts [--rows 10000] [--providers 3000] [--write yes]`.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 10_000)
const providers = Number(options.providers ?? 3_000)
const TIMES = 40
const LEASES = 160

const log = { debug: () => {}, info: () => {}, warn: console.error, error: console.error }
const folder = benchFolder()
const database = await openDatabase(
  { url: undefined, dataDir: folder.path, dbUser: 'nobody', log, maxConnections: 1 },
  AbortSignal.timeout(90_000),
)
const store = jobRowsOf(database.db)
try {
  const lines: string[][] = []
  const tell = (what: string, times: readonly number[], each: number): void => {
    const ms = median(times)
    lines.push([what, ms.toFixed(2), ((ms * 1_000) / each).toFixed(0)])
  }
  const job = await listOf(
    (n) => `user${n}@one.example`,
    (job) => labRunning(database, job),
  )
  const pair = (await store.duePairs()).find(({ number }) => number === job.number)!
  for (const most of [1, 10, 50]) {
    const [claims, answers] = [[] as number[], [] as number[]]
    for (let n = 0; n < TIMES; n++) {
      const claimed = await timed(claims, () => store.claim(pair, most))
      await timed(answers, () =>
        store.write(
          job,
          claimed.rows.map((row) => labAnswer(row)),
        ),
      )
    }
    tell(`claim of ${most}`, claims, most)
    tell(`answers of ${most}`, answers, most)
  }
  await jobsOf(database.db).remove(job.id)

  const spread = await listOf(
    (n) => `user${n}@d${n % providers}.example`,
    async (made) => {
      const domains = await store.leaseDomains(made.number, providers)
      const begun = performance.now()
      await store.setProviders(made, new Map(domains.map((domain) => [domain, domain])))
      tell(`providers of ${rows} rows`, [performance.now() - begun], rows)
      await jobsOf(database.db).lookedUp(made.number)
      await jobsOf(database.db).move(made.id, ['waiting'], 'running')
      return made
    },
  )
  const plans: number[] = []
  let due: readonly DuePair[] = []
  for (let n = 0; n < TIMES; n++) due = await timed(plans, store.duePairs)
  tell(`plan with ${providers} due providers, of which ${due.length} are read`, plans, 1)
  const claims: number[] = []
  for (const one of due.slice(0, TIMES)) await timed(claims, () => store.claim(one, 4))
  tell('claim at a provider with 4 rows', claims, 4)
  await jobsOf(database.db).remove(spread.id)

  const wants = Array.from({ length: LEASES }, (_, n) => ({
    ...{ key: `p${n}`, used: 5, want: 20, most: 20, tokens: 1, perSecond: 2, capacity: 60 },
  }))
  const leases: number[] = []
  for (let n = 0; n < TIMES; n++) await timed(leases, () => takeLeases(database.db, `node${n % 3}`, wants))
  tell(`leases at ${LEASES} providers`, leases, LEASES)

  figures('jobs-store', [
    table(['statement', 'ms (median)', 'µs for each'], lines),
    `${rows.toLocaleString('en')} rows a job; ${machine()}.`,
  ])
} finally {
  await database.close()
  folder.remove()
}

async function listOf(row: (n: number) => string, start: (job: JobRecord) => Promise<JobRecord>): Promise<JobRecord> {
  return start(
    await labList(
      database,
      Array.from({ length: rows }, (_, n) => row(n)),
    ),
  )
}

async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const begun = performance.now()
  const result = await work()
  times.push(performance.now() - begun)
  return result
}
