import { once } from 'node:events'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { JobAnswer } from '../src/answers/jobs.ts'
import { cpuMs, figures, flags, machine, median, residentMiB, table } from './figures.ts'
import {
  benchFolder,
  curl,
  type JobsService,
  type ListKind,
  serverCpuMs,
  startJobsService,
  watchMemory,
  writeList,
} from './jobs-service.ts'

/**
 * Rows per second at the intake of a list, compared with a plain COPY of the same rows into the same table, and the
 * memory of the service meanwhile.
 * `node bench/jobs-intake.ts [--rows 1000000] [--rounds 1] [--list other|equal|bad] [--write yes]`. Client, service and
 * database share the machine.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 1_000_000)
const rounds = Number(options.rounds ?? 1)
const kind = (options.list ?? 'other') as ListKind
const DOMAINS = 5_000

const folder = benchFolder()
const list = join(folder.path, 'list.csv')
await writeList(list, rows, DOMAINS, kind)
const data = join(folder.path, 'data')
const service = await startJobsService(data)
try {
  console.log(`${machine()}; ${rows} rows\n`)
  const begun = performance.now()
  await service.get('/v1/jobs')
  console.log(`first list of jobs, with the first start of the database: ${(performance.now() - begun).toFixed(0)} ms`)
  const measured = []
  for (let round = 0; round < rounds; round++) measured.push(await takeIn(service))
  const [rate, more] = [
    median(measured.map(({ perSecond }) => perSecond)),
    Math.max(...measured.map(({ most, before }) => most - before)),
  ]
  figures('jobs-intake', [
    `A list of ${rows.toLocaleString('en')} rows is taken in at ${Math.round(rate).toLocaleString('en')} rows/s (goal 50,000), with at most ${more.toFixed(0)} MiB more memory in the service (goal 50).`,
    table(
      ['rows/s', 'bare COPY, rows/s', 'ratio', 'µs of service + database a row', 'MiB before', 'at most', 'later'],
      measured.map(({ perSecond, bare, serviceUs, serverUs, before, most, later }) => [
        ...[perSecond.toFixed(0), bare.toFixed(0), (perSecond / bare).toFixed(2)],
        ...[`${serviceUs.toFixed(1)} + ${serverUs.toFixed(1)}`, before.toFixed(0), most.toFixed(0), later.toFixed(0)],
      ]),
    ),
    `${machine()}.`,
  ])
} finally {
  await service.stop()
  folder.remove()
}

type Measured = Readonly<Record<'perSecond' | 'bare' | 'serviceUs' | 'serverUs' | 'before' | 'most' | 'later', number>>

async function takeIn(of: JobsService): Promise<Measured> {
  const cpuBefore = [cpuMs(of.pid), serverCpuMs(data)] as const
  const before = residentMiB(of.pid).now
  const memory = watchMemory(of.pid)
  const begun = performance.now()
  const text = await curl([
    '-X',
    'POST',
    '-T',
    list,
    '-H',
    'Content-Type: text/csv',
    '-H',
    'Expect:',
    `${of.url}/v1/jobs`,
  ])
  const seconds = (performance.now() - begun) / 1_000
  const most = memory.end()
  const serviceUs = ((cpuMs(of.pid) - cpuBefore[0]) * 1_000) / rows
  const serverUs = ((serverCpuMs(data) - cpuBefore[1]) * 1_000) / rows
  const job = JSON.parse(text) as JobAnswer
  if (job.rows + job.bad_rows !== rows) throw new Error(`${job.rows} rows and ${job.bad_rows} bad ones were taken in`)
  console.log(`${job.rows} rows, ${job.duplicates} duplicates, ${job.bad_rows} bad`)
  await fetch(`${of.url}/v1/jobs/${job.id}`, { method: 'DELETE' })
  const later = residentMiB(of.pid).now
  const client = await of.database()
  const bare = await bareCopy(client)
  await client.end()
  return { perSecond: rows / seconds, bare, serviceUs, serverUs, before, most, later }
}

/** The same rows from memory by one COPY, without parsing, duplicates and domains. */
async function bareCopy(client: pg.Client): Promise<number> {
  await client.query('CREATE TABLE public.bare (LIKE mailsonde.job_rows INCLUDING ALL)')
  const begun = performance.now()
  const stream = client.query(copyFrom('COPY public.bare (job, line, input, columns, key, domain) FROM STDIN'))
  for (let from = 0; from < rows; from += 1_000) {
    let text = ''
    for (let n = from; n < Math.min(rows, from + 1_000); n++) {
      const [domain, email] = [`domain${n % DOMAINS}.example`, `user${n}@domain${n % DOMAINS}.example`]
      text += `1\t${n + 2}\t${email}\t["Person ${n}","${email}"]\t${email}\t${domain}\n`
    }
    if (!stream.write(text)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
  const perSecond = (rows * 1_000) / (performance.now() - begun)
  await client.query('DROP TABLE public.bare')
  return perSecond
}
