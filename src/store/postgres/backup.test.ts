import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../../test/lab/database.ts'
import { labFolder } from '../../../test/lab/folder.ts'
import { labList, labRunning } from '../../../test/lab/job-rows.ts'
import { linesOf } from '../../../test/lab/report-lines.ts'
import { presentMonitor } from '../../monitors/present.ts'
import { readDelivery } from '../../monitors/webhooks.ts'
import { copyRepositories } from '../contract.ts'
import { filesStore } from '../files/files-store.ts'
import { acceptedOf } from './accepted.ts'
import { backUp } from './backup.ts'
import type { Database } from './connect.ts'
import { deliveriesOf } from './deliveries.ts'
import { jobRowsOf } from './job-rows.ts'
import { type JobRecord, jobsOf, OWN_TABLE_ROWS } from './jobs.ts'
import { type MonitorRow, monitorsOf } from './monitors.ts'
import { poolOf } from './pool.ts'
import { postgresStore } from './postgres-store.ts'
import type { ReportRow } from './report-rows.ts'
import { reportIntake } from './reports.ts'
import { restore } from './restore.ts'
import { SCHEMA_VERSION } from './tables.ts'

const READERS = { monitor: (row: MonitorRow) => void presentMonitor(row), delivery: readDelivery }
const folder = labFolder()
const path = join(folder, 'backup.gz')
const hard = ['plain', 'tab\tnew\nline\r', '\\.', '\\N', '"quotes"', 'ünïcode 🙂', '']
let source: Database
const jobs: number[] = []
let large: JobRecord

beforeAll(async () => {
  source = await labDatabase()
  for (const n of [0, 1]) {
    const list = hard.map((text, i) => ({ line: i + 1, input: text, columns: [text], key: text, domain: `d${i}` }))
    const bad = [{ line: 99, reason: 'no_input', detail: 'd', text: 'x' }] as const
    const job = await labRunning(source, await labList(source, list, { id: `job_${n}`, name: hard.join(), bad }))
    jobs.push(job.number)
    await jobRowsOf(source.db).claim({ ...job, provider: 'p' }, 3)
  }
  large = await labRunning(
    source,
    await labList(
      source,
      Array.from({ length: OWN_TABLE_ROWS + 1 }, (_, i) => `u${i}@x`),
    ),
  )
  const at = new Date()
  const monitor = await monitorsOf(source.db).add(
    {
      ...{ id: 'mon_1', owner: '', name: '', kind: 'check', target: 'a.example', domain: 'a.example', every_ms: 1e9 },
      ...{ options: '{}', notify: '[{"type": "mail", "to": "a@a.example"}]', conditions: '["changed"]', quiet: null },
      ...{ is_public: false, enabled: true, created_at: at, next_run: at },
    },
    9,
  )
  await deliveriesOf(source.db).add(source.db, [
    {
      ...{
        id: 'msg_1',
        webhook: null,
        monitor: monitor!.number,
        channel: '{"type": "webhook"}',
        type: 'monitor.changed',
      },
      ...{ body: '{}', createdAt: at },
    },
  ])
  const accepted = { id: 'acc_1', owner: '', finding: 'spf.plus_all', domain: '', label: hard.join(), author: 'joe' }
  await acceptedOf(source.db).put({ ...accepted, reason: hard.join(), created_at: at, until: at, tell_at: null }, 9)
  const intake = reportIntake(source.pool, 'dmarc')
  const row: ReportRow = {
    ...{
      name: 'a.example',
      address: '192.0.2.1',
      envelope_from: '',
      spf_domain: '',
      spf_result: '',
      spf_aligned: null,
    },
    ...{ dkim_domain: '', dkim_selector: hard.join(), dkim_result: '', dkim_aligned: null, signers: '' },
    ...{ disposition: '', reason: '', messages: 7 },
  }
  for (const lines of linesOf([row])) await intake.add(lines)
  await intake.commit({
    ...{ id: 'rep_1', kind: 'dmarc', domain: 'a.example', organization: '', reporter: 'r', isKnownReporter: true },
    ...{
      reportId: '1',
      beginMs: 0,
      endMs: 1,
      day: '2026-11-01',
      messages: 7,
      policy: {},
      digest: '',
      authenticated: null,
    },
    ...{ counts: true, receivedMs: 0, owner: '' },
  })
  await backUp(source.pool, path, Date.now, AbortSignal.timeout(20_000))
})

async function target() {
  const url = await labDatabaseUrl()
  const pool = poolOf({ connectionString: url }, { maxConnections: 2, warn: () => {} })
  return { pool, open: () => labDatabase(url) }
}

it('brings back what was there; claimed rows are due again when their claim ends', async () => {
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const { pool, open } = await target()
  expect(await restore(pool, path, READERS)).toMatchObject({ schema: SCHEMA_VERSION })
  await pool.end()
  const copy = await open()
  const read = async (database: Database, table: string) =>
    (await database.pool.query(`SELECT * FROM mailsonde.${table} ORDER BY 1, 2`)).rows
  for (const table of [
    'jobs',
    'job_bad_rows',
    'job_counts',
    'job_domains',
    'job_providers',
    'monitors',
    'accepted',
    'deliveries',
    'reports',
    'report_sources',
    'report_rows',
    'report_days',
    `job_rows_${large.number}`,
  ])
    expect(await read(copy, table)).toEqual(await read(source, table))
  const inputs = (await read(copy, 'job_rows')).map(({ input }) => input)
  expect(inputs).toEqual([...hard, ...hard])
  const rows = jobRowsOf(copy.db)
  await copy.pool.query(
    `UPDATE mailsonde.job_rows SET due = now(); UPDATE mailsonde.job_providers SET next_due = now()`,
  )
  for (const number of [...jobs, large.number]) {
    const pair = (await rows.duePairs()).find((one) => one.number === number)
    expect((await rows.claim(pair!, 10)).rows.length).toBe(Math.min(10, number === large.number ? 10 : hard.length))
  }
  const options = { id: 'job_new', kind: 'verify', name: '', owner: '', options: {}, expiresAt: new Date() } as const
  expect((await jobsOf(copy.db).create(options)).number).toBeGreaterThan(large.number)
})

/** The same backup with its text changed, and a checksum that fits. */
function changed(change: (lines: string[]) => void): Buffer {
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n').slice(0, -1)
  change(lines)
  const text = `${lines.join('\n')}\n`
  const tables = lines.filter((line) => line.startsWith('{"table"')).length
  return gzipSync(`${text}${JSON.stringify({ tables, sha256: createHash('sha256').update(text).digest('hex') })}\n`)
}
const replaced = (was: string, is: string) => (lines: string[]) => {
  const at = lines.findIndex((line) => line.includes(was))
  expect(at).toBeGreaterThan(0)
  lines[at] = lines[at]!.replace(was, is)
}
const headerWith = (over: object) => (lines: string[]) => {
  lines[1] = JSON.stringify({ ...JSON.parse(lines[1]!), ...over })
}

it.each<[string, () => Buffer, string]>([
  ['cut off', () => readFileSync(path).subarray(0, -20), 'cannot be read as a backup'],
  [
    'with a changed octet',
    () => gzipSync(gunzipSync(readFileSync(path)).toString().replace('plain', 'plane')),
    'damaged or truncated',
  ],
  ['without its end', () => gzipSync(gunzipSync(readFileSync(path)).subarray(0, -120)), 'damaged or truncated'],
  ['of something else', () => gzipSync('hello\n'), 'is not a mailsonde backup'],
  ['that is not packed', () => Buffer.from('hello\n'), 'cannot be read as a backup'],
  ['of a newer program', () => changed(headerWith({ schema: 999 })), 'of a newer mailsonde'],
  ['of schema 0', () => changed(headerWith({ schema: 0 })), 'has no header'],
  ['of schema 0.5', () => changed(headerWith({ schema: 0.5 })), 'has no header'],
  ['without sequences', () => changed(headerWith({ sequences: null })), 'has no header'],
  [
    'with a sequence that is none',
    () => changed(headerWith({ sequences: { nowhere_seq: '7' } })),
    'does not fit its schema',
  ],
  [
    'with a sequence that is no number',
    () => changed(headerWith({ sequences: { jobs_number_seq: '-1' } })),
    'has no header',
  ],
  [
    'with a sequence behind its rows',
    () => changed(headerWith({ sequences: { jobs_number_seq: '1' } })),
    'beyond the sequence',
  ],
  [
    'with a row of another shape',
    () => changed((lines) => lines.splice(lines.findIndex((line) => line.includes('"table":"jobs"')) + 1, 0, 'x\ty')),
    'does not fit its schema',
  ],
  [
    'with the rows of a job twice',
    () =>
      changed((lines) =>
        lines.push(
          ...lines.slice(
            lines.findIndex((line) => line.includes('"table":"jobs"')),
            lines.findIndex((line) => line.includes('"table":"jobs"')) + 5,
          ),
        ),
      ),
    'does not fit its schema',
  ],
  [
    'with conditions that are no list',
    () => changed(replaced('["changed"]', '"changed"')),
    'other JSON in "conditions"',
  ],
  ['with a receiver of no kind', () => changed(replaced('"type": "mail"', '"type": "pager"')), 'a row of "monitors"'],
  [
    'with a message to nothing',
    () => changed(replaced('{"type": "webhook"}', '{"type": "fax"}')),
    'a row of "deliveries"',
  ],
  ['whose last table has no end', () => changed((lines) => lines.splice(-1)), 'damaged or truncated'],
  [
    'with a table that would be SQL',
    () => changed((lines) => lines.push('{"table":"x\\"; DROP","columns":["a"]}', '\\.')),
    'contains an unknown table',
  ],
  [
    'that says of which schema it is by a row',
    () => changed((lines) => lines.push('{"table":"schema_version","columns":["version"]}', '999', '\\.')),
    'contains an unknown table',
  ],
  [
    'whose header is long and deep',
    () => changed((lines) => (lines[1] = `${'['.repeat(50_000)}${']'.repeat(50_000)}`)),
    'has no header',
  ],
])('a file %s is refused, and nothing changes', async (what, make, why) => {
  const file = join(folder, `${what}.gz`)
  writeFileSync(file, make())
  const { pool } = await target()
  await pool.query('CREATE SCHEMA mailsonde; CREATE TABLE mailsonde.mine ()')
  await expect(restore(pool, file, READERS)).rejects.toThrow(why)
  await pool.query('SELECT FROM mailsonde.mine')
  await pool.end()
})

it('is refused while services are connected', async () => {
  const { pool, open } = await target()
  const service = await open()
  await service.pool.query('SELECT 1')
  await expect(restore(pool, path, READERS)).rejects.toThrow('stop the services first')
  await pool.end()
})

it('a backup that breaks off leaves no file', async () => {
  const file = join(folder, 'broken.gz')
  await expect(backUp(source.pool, file, Date.now, AbortSignal.abort())).rejects.toThrow()
  expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false])
})

it('what the data folder keeps is copied once, and what the database has stays', async () => {
  const files = filesStore(join(folder, 'data'), () => {})
  await files.sources.putAll([
    { key: 'a', value: 1 },
    { key: 'b', value: 2 },
  ])
  const store = postgresStore(async () => source.db, { cluster: '', node: 'n' })
  await store.sources.put('b', 3)
  expect(await copyRepositories(files, store)).toContain('sources: 1 rows copied, 1 were there already')
  expect((await store.sources.list({ limit: 9 })).map(({ key, value }) => [key, value])).toEqual([
    ['a', 1],
    ['b', 3],
  ])
  expect(await copyRepositories(files, store)).toContain('sources: 0 rows copied, 2 were there already')
})

it('a backup and the making and removing of jobs hold up nobody', async () => {
  const database = await labDatabase()
  const big = () =>
    labList(
      database,
      Array.from({ length: OWN_TABLE_ROWS + 1 }, (_, i) => `u${i}@x.example`),
    )
  const kept = await labRunning(database, await big())
  const gone = await big()
  const file = join(folder, 'meanwhile.gz')
  // The reader of the backup waits while it has read a few rows: its transaction stays open.
  const backup = backUp(database.pool, file, Date.now, AbortSignal.timeout(60_000))
  let isOver = false
  void backup.finally(() => (isOver = true)).catch(() => {})
  for (let n = 0; n < 3; n++) {
    const made = await big()
    expect(await jobsOf(database.db).remove(made.id)).toBe(true)
  }
  expect(await jobsOf(database.db).remove(gone.id)).toBe(true)
  const pair = (await jobRowsOf(database.db).duePairs()).find(({ number }) => number === kept.number)
  expect((await jobRowsOf(database.db).claim(pair!, 5)).rows).toHaveLength(5)
  expect((await backup).tables).toBeGreaterThan(10)
  expect(isOver).toBe(true)
  const { pool, open } = await target()
  await restore(pool, file, READERS)
  await pool.end()
  expect((await jobsOf((await open()).db).list({ limit: 9 })).map(({ id }) => id)).toContain(kept.id)
})

it('an open snapshot that has read the table of a job delays neither other jobs nor the next removal', async () => {
  const database = await labDatabase()
  const job = await labList(
    database,
    Array.from({ length: OWN_TABLE_ROWS + 1 }, (_, i) => `u${i}@x.example`),
  )
  const other = await labRunning(database, await labList(database, ['a@x.example']))
  await database.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE mailsonde.job_rows, ${sql.raw(`mailsonde.job_rows_${job.number}`)} IN ACCESS SHARE MODE`.execute(
      tx,
    )
    await jobsOf(database.db).remove(job.id)
    const made = await labList(
      database,
      Array.from({ length: OWN_TABLE_ROWS + 1 }, (_, i) => `u${i}@x.example`),
    )
    expect(made.own_table).toBe(true)
    expect((await jobRowsOf(database.db).claim({ ...other, provider: 'p' }, 1)).rows).toHaveLength(1)
  })
})

it('a backup with the tables of 3,000 jobs is restored', { timeout: 120_000 }, async () => {
  const { pool } = await target()
  const file = join(labFolder(), 'many.gz')
  const many = Array.from({ length: 3_000 }, (_, i) => `{"table":"job_rows_${i + 1_000}","columns":["line"]}\n\\.`)
  writeFileSync(
    file,
    changed((lines) => lines.push(...many)),
  )
  expect((await restore(pool, file, READERS)).tables).toBeGreaterThan(3_000)
  await pool.query('DROP SCHEMA mailsonde CASCADE').catch(() => {})
  await pool.end()
})

it('a second backup to the same file leaves the first alone', async () => {
  const file = join(labFolder(), 'twice.gz')
  const signal = new AbortController().signal
  writeFileSync(`${file}.part`, 'of the first')
  await expect(backUp(source.pool, file, Date.now, signal)).rejects.toMatchObject({ code: 'EEXIST' })
  expect(readFileSync(`${file}.part`, 'utf8')).toBe('of the first')
})
