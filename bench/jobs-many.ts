import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { JobAnswer } from '../src/answers/jobs.ts'
import { startEmbedded } from '../src/store/postgres/embedded.ts'
import { createTableText, OWN_TABLE_ROWS, tableNameOf } from '../src/store/postgres/jobs.ts'
import { cpuMs, figures, flags, machine, median, sleep, table } from './figures.ts'
import { serverCpuMs } from './jobs-service.ts'
import { type Serving, startServing } from './serving.ts'

/**
 * Listing jobs and showing their progress when the database has many: ten million rows in 1,000 jobs, which the
 * database generates. Of ten jobs, eight are done, one is paused and one runs, with a fifth of its rows left, which are
 * due tomorrow. Then the cost of planning for those that wait, and the disk that jobs of one row take. Needs some 15 GB
 * of disk, and root for the private database.
 * `node bench/jobs-many.ts [--rows 10000000] [--jobs 1000] [--asks 300] [--folder PATH] [--write yes]`: a named folder
 * is kept, and measured again if it has data.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 10_000_000)
const jobs = Number(options.jobs ?? 1_000)
const asks = Number(options.asks ?? 300)
const ANSWER = readFileSync(join(import.meta.dirname, '../src/operations/examples/verify.json'), 'utf8')
const GOAL_MS = 50
const PROVIDERS = 8
const REST_MS = 60_000
const SMALL_JOBS = 300

const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'mailsonde-many-'))
mkdirSync(folder, { recursive: true })
chmodSync(folder, 0o711)
const log = { info: () => {}, warn: () => {} }
const server = await startEmbedded({ dataDir: folder, user: 'nobody', log }, AbortSignal.timeout(60_000))
const { user, password, host } = server.connection
const database = `postgres://${user}:${password}@/postgres?host=${encodeURIComponent(host)}`
const start = (): ReturnType<typeof startServing> => {
  const fixed = ['--log-level', 'warn', '--resolver', '127.0.0.1:9', '--rate', '1000000', '--database-url', database]
  return startServing(['src/main.js', 'serve', ...fixed, '--data-dir', join(folder, 'service')])
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
    `INSERT INTO mailsonde.jobs (id, kind, name, owner, state, options, layout, expires_at, finished_at, first_result_at, received, rows, own_table)
     VALUES ($1, 'verify', 'list ' || $1, '', $2, '{}', '{"format":"csv","delimiter":",","header":["name","email"],"index":1}',
       now() + interval '30 days', CASE WHEN $2 = 'done' THEN now() END, now() - interval '1 hour', $3::int, $3::int, $4) RETURNING number`,
    [job.id, job.state, job.rows, job.rows > OWN_TABLE_ROWS],
  )
  const { number } = made[0]!
  const own_table = job.rows > OWN_TABLE_ROWS
  if (own_table) await client.query(createTableText(number))
  const own = tableNameOf({ number, own_table })
  const insert = (from: number, to: number, columns: string, values: string, more: readonly string[]) =>
    client.query(
      `INSERT INTO ${own} (job, line, input, columns, key, domain, provider, ${columns})
       SELECT ${number}, n + 1, mail, jsonb_build_array('Name of ' || n, mail), mail, 'd' || n % 5000 || '.example', 'provider' || n % ${PROVIDERS}, ${values}
       FROM (SELECT n, 'user' || n || '@d' || n % 5000 || '.example' AS mail FROM generate_series(${from}, ${to}) AS n) made`,
      [...more],
    )
  const answered = `'done', 'accepted', 'mailbox_exists', now(), ($1::jsonb || jsonb_build_object('email', mail))::text::json, 2, 1`
  const columns = 'state, result, reason, answered_at, answer, fence, attempts'
  await insert(1, job.rows - left, columns, answered, [ANSWER])
  if (left > 0)
    await insert(
      job.rows - left + 1,
      job.rows,
      'state, due, fence, attempts',
      `'ready', now() + interval '1 day', 2, 1`,
      [],
    )
  const rest = `FROM ${own} WHERE job = $1`
  for (const text of [
    `INSERT INTO mailsonde.job_counts (job, provider, result, reason, n) SELECT $1, provider, result, reason, count(*) ${rest} AND result IS NOT NULL GROUP BY provider, result, reason`,
    `INSERT INTO mailsonde.job_providers (job, provider, rows, done, next_due) SELECT $1, provider, count(*), count(result), coalesce(min(due) FILTER (WHERE state = 'ready'), 'infinity') ${rest} GROUP BY provider`,
    `INSERT INTO mailsonde.job_domains (job, domain, provider) SELECT DISTINCT $1::int, domain, provider ${rest}`,
  ])
    await client.query(text, [number])
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
    ['GET /v1/jobs?limit=50', page(50)],
    ['GET /v1/jobs?limit=200', page(200)],
    ...(['done', 'paused', 'running'] as const).map((state) => [`GET /v1/jobs/{id}: ${state}`, show(state)] as const),
  ]
  const lines: string[][] = []
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
    const shown = [median(times), at(0.99), times.at(-1)!].map((ms) => ms.toFixed(1))
    lines.push([`\`${name}\``, ...shown, `${own.toFixed(1)} + ${database.toFixed(1)}`])
  }
  // The running jobs wait: the cost of planning while nothing is due.
  const cpu = [cpuMs(pid), serverCpuMs(folder)] as const
  await sleep(REST_MS)
  const [own, planner] = [cpuMs(pid) - cpu[0], serverCpuMs(folder) - cpu[1]].map((ms) => (ms * 100) / REST_MS)
  const small = await smallJobs(url)
  figures('jobs-many', [
    `With ${rows.toLocaleString('en')} rows in ${jobs} jobs, a page of 200 jobs takes ${lines[1]![1]} ms (p99 ${lines[1]![2]}, goal ${GOAL_MS}). At rest, with ${ids.running.length} jobs that wait for their next attempt, the service uses ${own!.toFixed(2)} % of a core and the database ${planner!.toFixed(2)} % (goal 0.2). A job of one row takes ${small.toFixed(1)} kB on disk.`,
    table(['request', 'p50, ms', 'p99, ms', 'most, ms', 'processor time of service + database, ms'], lines),
    `${asks} requests of each kind; ${machine()}.`,
  ])
}

/** Disk that a job of one row takes, kB, from many of them, with its result. */
async function smallJobs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: database })
  client.on('error', () => {})
  await client.connect()
  const size = async (): Promise<number> => {
    await client.query('CHECKPOINT')
    const { rows: found } = await client.query<{ kb: string }>(
      'SELECT pg_database_size(current_database()) / 1000 AS kb',
    )
    return Number(found[0]!.kb)
  }
  const ids: string[] = []
  const before = await size()
  for (let n = 0; n < SMALL_JOBS; n++) {
    const headers = { 'content-type': 'text/plain' }
    const made = await fetch(`${url}/v1/jobs`, { method: 'POST', body: `no mailbox ${n}`, headers })
    ids.push(((await made.json()) as JobAnswer).id)
  }
  while (((await (await fetch(`${url}/v1/jobs/${ids.at(-1)}`)).json()) as JobAnswer).state !== 'done') await sleep(200)
  const after = await size()
  for (const id of ids) await fetch(`${url}/v1/jobs/${id}`, { method: 'DELETE' })
  await client.end()
  return (after - before) / SMALL_JOBS
}
