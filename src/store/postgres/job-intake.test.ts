import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import type { Database } from './connect.ts'
import { badLine, type IntakePart, rowLine, type TakeIn, takeInOf } from './job-intake.ts'
import { type JobRecord, jobsOf } from './jobs.ts'

let database: Database
let takeIn: TakeIn
beforeAll(async () => {
  database = await labDatabase()
  takeIn = takeInOf(database.pool)
})

const newJob = (): Promise<JobRecord> =>
  jobsOf(database.db).create({
    ...{ id: `job_${randomUUID()}`, kind: 'verify', name: '', owner: '', options: {} },
    expiresAt: new Date(Date.now() + 1e9),
  })
const part = ({ number }: JobRecord, texts: readonly string[], over: Partial<IntakePart> = {}): IntakePart => ({
  rows: texts.map((text, i) =>
    Buffer.from(rowLine(number, { line: i + 1, input: text, columns: [text, 'x'], key: text, domain: 'a' })),
  ),
  bad: [Buffer.from(badLine(number, { line: 1_000, reason: 'no_input', detail: 'why', text: texts[0] ?? '' }))],
  layout: { format: 'text' },
  from: 0,
  received: texts.length + 1,
  nextLine: 1_001,
  ...over,
})

it.each<[string, string, string?]>([
  ['plain text', 'joe@a.example'],
  ['tab, newline, carriage return', 'a\tb\nc\rd'],
  ['the end of a COPY', '\\.'],
  ['what COPY takes for null', '\\N'],
  ['backslashes', 'a\\b\\\\tc'],
  ['quotes, a comma, a brace', '"a",{b}'],
  ['letters beyond ASCII', 'jürgen@ü.example 🙂'],
  ['NUL', 'a\0b', 'a\uFFFDb'],
  ['half a surrogate pair', 'a\ud800b', 'a\uFFFDb'],
  ['an escape of JSON as text', '\\u0000 \\ud800'],
  ['nothing', ''],
  ['64 KiB', 'x'.repeat(65_536)],
])('keeps %s as it came', async (_, text, kept = text) => {
  const job = await newJob()
  await takeIn(job.number, part(job, [text]))
  const rows = await database.pool.query('SELECT input, columns, key FROM mailsonde.job_rows WHERE job = $1', [
    job.number,
  ])
  expect(rows.rows).toEqual([{ input: kept, columns: [kept, 'x'], key: kept }])
  const bad = await database.pool.query('SELECT text FROM mailsonde.job_bad_rows WHERE job = $1', [job.number])
  expect(bad.rows).toEqual([{ text: kept }])
})

it('the same part again changes nothing, one that comes between is refused, and so is one for a job that was removed', async () => {
  const job = await newJob()
  const first = part(job, ['a', 'b'])
  await takeIn(job.number, first)
  await takeIn(job.number, first)
  expect(await jobsOf(database.db).byId(job.id)).toMatchObject({ received: 3, next_line: 1_001 })
  await expect(takeIn(job.number, part(job, ['c']))).rejects.toMatchObject({ code: 'wrong_offset' })
  await jobsOf(database.db).remove(job.id)
  await expect(takeIn(job.number, part(job, ['d'], { from: 3 }))).rejects.toMatchObject({ code: 'wrong_offset' })
})

it('of two uploads of one job at once, one goes on', async () => {
  const job = await newJob()
  const both = await Promise.allSettled([
    takeIn(job.number, part(job, ['a'])),
    takeIn(job.number, part(job, ['b', 'c'])),
  ])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})
