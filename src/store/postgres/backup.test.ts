import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../../test/lab/database.ts'
import { labFolder } from '../../../test/lab/folder.ts'
import { copyRepositories } from '../copy-repositories.ts'
import { filesStore } from '../files/files-store.ts'
import { backUp } from './backup.ts'
import type { Database } from './connect.ts'
import { jobRowsOf } from './job-rows.ts'
import { jobsOf } from './jobs.ts'
import { SCHEMA_VERSION } from './migrate.ts'
import { poolOf } from './pool.ts'
import { postgresStore } from './postgres-store.ts'
import { restore } from './restore.ts'

const folder = labFolder()
const path = join(folder, 'backup.gz')
const hard = ['plain', 'tab\tnew\nline\r', '\\.', '\\N', '"quotes"', 'ünïcode 🙂', '']
let source: Database
const jobs: number[] = []

beforeAll(async () => {
  source = await labDatabase()
  const rows = jobRowsOf(source.db)
  for (const n of [0, 1]) {
    const id = `job_${n}`
    const expiresAt = new Date(Date.now() + 1e9)
    const job = await jobsOf(source.db).create({
      id,
      kind: 'verify',
      name: hard.join(),
      owner: '',
      options: {},
      expiresAt,
    })
    jobs.push(job.number)
    const list = hard.map((text, i) => ({ line: i + 1, input: text, columns: [text], key: text, domain: `d${i}` }))
    await rows.append(job.number, list)
    await rows.appendBad(job.number, [{ line: 99, reason: 'r', text: 'x' }])
    await rows.complete(job.number)
    await rows.setProviders(job.number, new Map(list.map(({ domain }) => [domain, 'p'])))
    const wanted = [{ chunk: randomUUID(), size: 3 }]
    await source.db.transaction().execute((tx) => rows.cutChunks(tx, job.number, 'p', wanted))
  }
  await backUp(source.pool, path, Date.now, AbortSignal.timeout(20_000))
})

async function target() {
  const url = await labDatabaseUrl()
  const pool = poolOf({ connectionString: url }, { maxConnections: 2, warn: () => {} })
  return { pool, open: () => labDatabase(url) }
}

it('brings back what was there; rows that stood in chunks are due again', async () => {
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const { pool, open } = await target()
  expect(await restore(pool, path)).toMatchObject({ schema: SCHEMA_VERSION })
  await pool.end()
  const copy = await open()
  const read = async (database: Database, table: string) =>
    (await database.pool.query(`SELECT * FROM mailsonde.${table} ORDER BY 1, 2`)).rows
  for (const table of ['jobs', 'job_bad_rows', 'job_counts', 'job_domains'])
    expect(await read(copy, table)).toEqual(await read(source, table))
  const inputs = (await read(copy, 'job_rows')).map(({ input }) => input)
  expect(inputs).toEqual([...hard, ...hard])
  const rows = jobRowsOf(copy.db)
  for (const number of jobs) {
    expect((await rows.queued(number)).size).toBe(0)
    expect(await rows.due(number)).toEqual(new Map([['p', hard.length]]))
  }
  const options = { id: 'job_new', kind: 'verify', name: '', owner: '', options: {}, expiresAt: new Date() } as const
  expect((await jobsOf(copy.db).create(options)).number).toBeGreaterThan(Math.max(...jobs))
})

/** The same backup with its text changed, and a checksum that fits. */
function changed(change: (lines: string[]) => void): Buffer {
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n').slice(0, -1)
  change(lines)
  const text = `${lines.join('\n')}\n`
  return gzipSync(`${text}${JSON.stringify({ tables: 0, sha256: createHash('sha256').update(text).digest('hex') })}\n`)
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
  [
    'with a table that would be SQL',
    () => changed((lines) => lines.push('{"table":"x\\"; DROP","columns":["a"]}', '\\.')),
    'contains an unknown table',
  ],
])('a file %s is refused, and nothing changes', async (what, make, why) => {
  const file = join(folder, `${what}.gz`)
  writeFileSync(file, make())
  const { pool } = await target()
  await pool.query('CREATE SCHEMA mailsonde; CREATE TABLE mailsonde.mine ()')
  await expect(restore(pool, file)).rejects.toThrow(why)
  await pool.query('SELECT FROM mailsonde.mine')
  await pool.end()
})

it('is refused while services are connected', async () => {
  const { pool, open } = await target()
  const service = await open()
  await service.pool.query('SELECT 1')
  await expect(restore(pool, path)).rejects.toThrow('stop the services first')
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
