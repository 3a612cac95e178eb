import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { JobAnswer } from '../src/answers/jobs.ts'
import { startEmbedded } from '../src/store/postgres/embedded.ts'
import { cpuMs, flags, machine, sleep } from './figures.ts'
import { serverCpuMs } from './jobs-service.ts'
import { type Serving, startServing } from './serving.ts'

/**
 * Listing jobs and showing their progress when the database has many: ten million rows in 1,000 jobs, which the database generates. Of ten jobs, eight are done, one is
 * paused and one runs, with a fifth of its rows left, which are due tomorrow. Needs some 15 GB of disk, and root for the private database.
 * `node bench/jobs-many.ts [--rows 10000000] [--jobs 1000] [--asks 300] [--folder PATH]`: a named folder is kept, and measured again if it has data.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 10_000_000)
const jobs = Number(options.jobs ?? 1_000)
const asks = Number(options.asks ?? 300)
const ANSWER = readFileSync(join(import.meta.dirname, '../src/operations/examples/verify.json'), 'utf8')
const GOAL_MS = 50
const PROVIDERS = 8
const REST_MS = 20_000

const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'mailsonde-many-'))
mkdirSync(folder, { recursive: true })
chmodSync(folder, 0o711)
const log = { info: () => {}, warn: () => {} }
const server = await startEmbedded({ dataDir: folder, user: 'nobody', log }, AbortSignal.timeout(60_000))
const { user, password, host } = server.connection
const database = `postgres://${user}:${password}@/postgres?host=${encodeURIComponent(host)}`
const start = (): ReturnType<typeof startServing> => {
  const fixed = ['--log-level', 'warn', '--resolver', '127.0.0.1:9', '--rate', '1000000', '--database-url', database]
  return startServing(['src/main.ts', 'serve', ...fixed, '--data-dir', join(folder, 'service')])
}
try {
  const first = await start()
  await (await fetch(`${first.url}/v1/jobs`)).text() // creates the tables
  await first.stop()
  const ids = await fill()
  const serving = await start()
  try {
    await measure(serving, ids)
  } finally {
    await serving.stop()
  }
} finally {
  await server.stop()
  if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
}

type State = 'done' | 'paused' | 'running'
function stateOf(n: number): State {
  if (n % 10 > 1) return 'done'
  return n % 10 === 0 ? 'running' : 'paused'
}

/** Generates the missing jobs in the database; returns their ids by state. */
async function fill(): Promise<Readonly<Record<State, readonly string[]>>> {
  const client = new pg.Client({ connectionString: database })
  client.on('error', () => {}) // the statement rejects with it
  await client.connect()
  const begun = performance.now()
  const ids: Record<State, string[]> = { done: [], paused: [], running: [] }
  const each = Math.ceil(rows / jobs)
  const { rows: there } = await client.query<{ id: string }>('SELECT id FROM mailsonde.jobs')
  const known = new Set(there.map(({ id }) => id))
  for (let n = 0; n < jobs; n++) {
    const [id, state] = [`job_${String(n).padStart(22, 'A')}`, stateOf(n)]
    ids[state].push(id)
    if (known.has(id)) continue
    await client.query('BEGIN')
    await client.query('SET LOCAL synchronous_commit = off')
    await fillJob(client, { id, state, rows: each })
    await client.query('COMMIT')
  }
  if (known.size < jobs) await client.query('VACUUM ANALYZE')
  const { rows: sizes } = await client.query('SELECT pg_size_pretty(pg_database_size(current_database())) AS size')
  await client.end()
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0)
  console.log(`${jobs} jobs with ${each} rows each, ${sizes[0].size}, made in ${seconds} s`)
  return ids
}

/** One job as the engine would have left it, with its rows, totals and rate. */
async function fillJob(client: pg.Client, job: { id: string; state: State; rows: number }): Promise<void> {
  const left = job.state === 'done' ? 0 : Math.floor(job.rows / 5)
  const { rows: made } = await client.query<{ number: number }>(
    `INSERT INTO mailsonde.jobs (id, kind, name, owner, state, options, layout, expires_at, finished_at, first_result_at, received, rows, done)
     VALUES ($1, 'verify', 'list ' || $1, '', $2, '{}', '{"format":"csv","delimiter":",","header":["name","email"],"index":1}',
       now() + interval '30 days', CASE WHEN $2 = 'done' THEN now() END, now() - interval '1 hour', $3::int, $3::int, $3::int - $4::int) RETURNING number`,
    [job.id, job.state, job.rows, left],
  )
  const { number } = made[0]!
  const partition = `mailsonde.job_rows_${number}`
  await client.query(`CREATE TABLE ${partition} PARTITION OF mailsonde.job_rows FOR VALUES IN (${number})`)
  const insert = (from: number, to: number, columns: string, values: string, more: readonly string[]) =>
    client.query(
      `INSERT INTO ${partition} (job, line, input, columns, key, domain, provider, ${columns})
       SELECT ${number}, n + 1, mail, jsonb_build_array('Name of ' || n, mail), mail, 'd' || n % 5000 || '.example', 'provider' || n % ${PROVIDERS}, ${values}
       FROM (SELECT n, 'user' || n || '@d' || n % 5000 || '.example' AS mail FROM generate_series(${from}, ${to}) AS n) made`,
      [...more],
    )
  const answered = `'done', 'accepted', 'mailbox_exists', now(), ($1::jsonb || jsonb_build_object('email', mail))::text::json, 1, 1`
  const columns = 'state, result, reason, answered_at, answer, fence, attempts'
  await insert(1, job.rows - left, columns, answered, [ANSWER])
  if (left > 0)
    await insert(
      job.rows - left + 1,
      job.rows,
      'state, due, fence, attempts',
      `'ready', now() + interval '1 day', 1, 1`,
      [],
    )
  await client.query(
    `INSERT INTO mailsonde.job_counts (job, provider, result, reason, n)
     SELECT $1::int, provider, '', '', count(*) FROM ${partition} GROUP BY provider
     UNION ALL SELECT $1::int, provider, result, reason, count(*) FROM ${partition} WHERE result IS NOT NULL GROUP BY provider, result, reason`,
    [number],
  )
  await client.query(
    `INSERT INTO mailsonde.job_domains (job, domain, provider) SELECT DISTINCT $1::int, domain, provider FROM ${partition}`,
    [number],
  )
  await client.query(
    `INSERT INTO mailsonde.job_pace (job, provider, minute, n)
     SELECT $1::int, 'provider' || p, date_trunc('minute', now()) - m * interval '1 minute', 25
     FROM generate_series(0, ${PROVIDERS - 1}) AS p, generate_series(0, 59) AS m`,
    [number],
  )
}

async function measure({ url, pid }: Serving, ids: Readonly<Record<State, readonly string[]>>): Promise<void> {
  let cursor = ''
  /** The next page of the list, from the newest job to the oldest, repeatedly. */
  const page = (limit: number) => async (): Promise<string> => {
    const at = `${url}/v1/jobs?limit=${limit}${cursor}`
    const { next_cursor } = (await (await fetch(at)).json()) as { readonly next_cursor: string | null }
    cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
    return at
  }
  const show = (state: State) => async (n: number) => {
    const id = ids[state][n % ids[state].length]!
    const job = (await (await fetch(`${url}/v1/jobs/${id}`)).json()) as JobAnswer
    if (job.state !== state || job.providers.length !== PROVIDERS) throw new Error(JSON.stringify(job))
  }
  const questions: readonly (readonly [string, (n: number) => Promise<unknown>])[] = [
    ['GET /v1/jobs, 50 a page', page(50)],
    ['GET /v1/jobs, 200 a page', page(200)],
    ...(['done', 'paused', 'running'] as const).map((state) => [`GET /v1/jobs/{id}, ${state}`, show(state)] as const),
  ]
  console.log(
    `\n${machine()}\n\n| question | p50, ms | p99, ms | most, ms | CPU ms of service + database | p99 of ${GOAL_MS} ms |\n|---|--:|--:|--:|--:|---|`,
  )
  for (const [name, ask] of questions) {
    cursor = ''
    const times: number[] = []
    const cpu = [cpuMs(pid), serverCpuMs(folder)] as const
    for (let n = 0; n < asks; n++) {
      const begun = performance.now()
      await ask(n)
      times.push(performance.now() - begun)
    }
    const [own, database] = [(cpuMs(pid) - cpu[0]) / asks, (serverCpuMs(folder) - cpu[1]) / asks]
    times.sort((a, b) => a - b)
    const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
    const [p50, p99, most] = [at(0.5), at(0.99), times.at(-1)!]
    console.log(
      `| ${name} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${most.toFixed(1)} | ${own.toFixed(1)} + ${database.toFixed(1)} | ${p99 <= GOAL_MS ? 'within' : 'missed'} |`,
    )
  }
  // A tenth of the jobs runs and waits: the cost of planning while nothing is due.
  const cpu = [cpuMs(pid), serverCpuMs(folder)] as const
  await sleep(REST_MS)
  const share = (ms: number): string => ((ms * 100) / REST_MS).toFixed(1)
  console.log(
    `\nat rest: ${share(cpuMs(pid) - cpu[0])} % of a core for the service, ${share(serverCpuMs(folder) - cpu[1])} % for the database`,
  )
}
