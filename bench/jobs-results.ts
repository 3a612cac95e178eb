import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { JobAnswer } from '../src/answers/jobs.ts'
import { afterDeadlock } from '../src/store/postgres/connect.ts'
import { tableNameOf } from '../src/store/postgres/jobs.ts'
import { cpuMs, figures, flags, machine, median, table } from './figures.ts'
import { benchFolder, curl, serverCpuMs, startJobsService, watchMemory, writeList } from './jobs-service.ts'

/**
 * Rows per second when results are read, as NDJSON and as CSV, compared with a plain COPY of the same columns from the
 * database. `node bench/jobs-results.ts [--rows 300000] [--rounds 2] [--formats ndjson,csv] [--write yes]`. Client,
 * service and database share the machine; the answers are those of a verification, 0.8 kB each.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 300_000)
const rounds = Number(options.rounds ?? 2)
const ANSWER = readFileSync(join(import.meta.dirname, '../src/operations/examples/verify.json'), 'utf8')

const folder = benchFolder()
const list = join(folder.path, 'list.csv')
await writeList(list, rows, 5_000)
const data = join(folder.path, 'data')
const service = await startJobsService(data)
try {
  const client = await service.database().catch(async () => {
    await service.get('/v1/jobs') // the first request starts the database
    return service.database()
  })
  const upload = ['-X', 'POST', '-T', list, '-H', 'Content-Type: text/csv', '-H', 'Expect:', `${service.url}/v1/jobs`]
  const { id } = JSON.parse(await curl(upload)) as JobAnswer
  await answerAll(client, id)
  const measured: Measured[] = []
  for (let round = 0; round < rounds; round++)
    for (const format of (options.formats ?? 'ndjson,csv').split(',')) measured.push(await measure(client, id, format))
  const rateOf = (format: string): string =>
    Math.round(median(measured.filter((one) => one.format === format).map((one) => one.perSecond))).toLocaleString('en')
  figures('jobs-results', [
    `Results are read at ${rateOf('ndjson')} rows/s as NDJSON and ${rateOf('csv')} as CSV.`,
    table(
      [
        'format',
        'rows/s',
        'bare COPY, rows/s',
        'ratio',
        'µs of service + database a row',
        'MB/s',
        'MiB more than before',
      ],
      measured.map(({ format, perSecond, bare, cost, mbPerSecond, more }) => [
        ...[format, perSecond.toFixed(0), bare.toFixed(0), (perSecond / bare).toFixed(2)],
        ...[cost, mbPerSecond.toFixed(0), more.toFixed(0)],
      ]),
    ),
    `${rows} rows; ${machine()}.`,
  ])
  await client.end()
} finally {
  await service.stop()
  folder.remove()
}

/** Generates the answers of all rows in the database; their content does not matter here. */
async function answerAll(client: pg.Client, id: string): Promise<void> {
  await client.query(
    `UPDATE mailsonde.jobs SET state = 'done', has_domains = false, first_result_at = now() WHERE id = $1`,
    [id],
  )
  const own = await tableOf(client, id)
  const answer = (): Promise<unknown> =>
    client.query(
      `UPDATE ${own} SET state = 'done', provider = 'p', result = 'accepted', reason = 'mailbox_exists', answered_at = now(), answer = ($1::jsonb || jsonb_build_object('email', input))::text::json`,
      [ANSWER],
    )
  await afterDeadlock(answer) // the service may still store what it has looked up
  await client.query(`VACUUM ANALYZE ${own}`)
}

async function tableOf(client: pg.Client, id: string): Promise<string> {
  const { rows: found } = await client.query('SELECT number, own_table FROM mailsonde.jobs WHERE id = $1', [id])
  return tableNameOf(found[0])
}

type Measured = Readonly<Record<'perSecond' | 'bare' | 'mbPerSecond' | 'more', number>> &
  Readonly<Record<'format' | 'cost', string>>

async function measure(client: pg.Client, id: string, format: string): Promise<Measured> {
  const cpuBefore = [cpuMs(service.pid), serverCpuMs(data)] as const
  const memory = watchMemory(service.pid)
  const before = memory.now()
  const begun = performance.now()
  const url = `${service.url}/v1/jobs/${id}/results?format=${format}`
  const said = await curl(['-o', join(folder.path, 'out'), '-w', '%{size_download}', url])
  const seconds = (performance.now() - begun) / 1_000
  const more = memory.end() - before
  const serviceUs = ((cpuMs(service.pid) - cpuBefore[0]) * 1_000) / rows
  const serverUs = ((serverCpuMs(data) - cpuBefore[1]) * 1_000) / rows
  const lines = Number((await count(join(folder.path, 'out'))) - (format === 'csv' ? 1 : 0))
  if (lines !== rows) throw new Error(`${lines} rows came`)
  const bare = await bareCopy(client, id)
  const perSecond = rows / seconds
  const cost = `${serviceUs.toFixed(1)} + ${serverUs.toFixed(1)}`
  return { format, perSecond, bare, cost, mbPerSecond: Number(said) / 1e6 / seconds, more }
}

async function count(path: string): Promise<number> {
  let lines = 0
  for (const octet of readFileSync(path)) if (octet === 10) lines++
  return lines
}

async function bareCopy(client: pg.Client, id: string): Promise<number> {
  const own = await tableOf(client, id)
  const begun = performance.now()
  const columns = 'line, columns, input, result, reason, answer'
  const copy = copyTo(`COPY (SELECT ${columns} FROM ${own} ORDER BY line) TO STDOUT`)
  await pipeline(client.query(copy), new Writable({ write: (_chunk, _encoding, done) => done() }))
  return (rows * 1_000) / (performance.now() - begun)
}
