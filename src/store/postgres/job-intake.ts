import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { AppError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { StoredBadRow, StoredRow } from './job-rows.ts'
import { storable, storableJson } from './storable.ts'

/** A part of an upload: records `from` to `received`, and the line on which the next part begins. */
export type IntakePart = {
  readonly rows: readonly StoredRow[]
  readonly bad: readonly StoredBadRow[]
  readonly layout: { readonly [key: string]: Json } | null
  readonly from: number
  readonly received: number
  readonly nextLine: number
}

/** Stores a part in whole, or not at all. The same part again changes nothing; rejects with AppError `wrong_offset` where another upload came between. */
export type TakeIn = (job: number, part: IntakePart) => Promise<void>

/** Octets that are handed to the database at a time. */
const PIECE = 64 * 1024

/** Parts of uploads, by COPY and in one transaction with how far the upload came. */
export const takeInOf =
  (pool: pg.Pool): TakeIn =>
  async (job, part) => {
    const client = await pool.connect()
    let isBroken = true
    try {
      await client.query('BEGIN')
      if (await advance(client, job, part)) {
        await copy(
          client,
          `mailsonde.job_rows_${Math.trunc(job)} (job, line, input, columns, key, domain)`,
          rowLines(job, part.rows),
        )
        await copy(client, 'mailsonde.job_bad_rows (job, line, reason, text)', badLines(job, part.bad))
      }
      await client.query('COMMIT')
      isBroken = false
    } finally {
      client.release(isBroken) // a transaction that failed ends with its connection
    }
  }

/** Notes how far the upload came; false when this part is there already. The row of the job is locked until the end: two uploads of one job take turns. */
async function advance(client: pg.PoolClient, job: number, part: IntakePart): Promise<boolean> {
  const moved = await client.query(
    `UPDATE mailsonde.jobs SET layout = coalesce($2::jsonb, layout), received = $3, next_line = $4, touched_at = now()
     WHERE number = $1 AND received = $5 AND state = 'receiving'`,
    [job, part.layout === null ? null : storableJson(part.layout), part.received, part.nextLine, part.from],
  )
  if (moved.rowCount === 1) return true
  const { rows } = await client.query<{ received: string }>('SELECT received FROM mailsonde.jobs WHERE number = $1', [
    job,
  ])
  const held = rows[0] === undefined ? undefined : Number(rows[0].received)
  if (held === part.received) return false
  throw new AppError(
    'wrong_offset',
    held === undefined ? 'the job was removed' : `another upload came between: ${held} records are held`,
    held === undefined ? {} : { received: held },
  )
}

async function copy(client: pg.PoolClient, into: string, lines: Iterable<string>): Promise<void> {
  let text = ''
  let stream: ReturnType<typeof open> | undefined
  const open = () => client.query(copyFrom(`COPY ${into} FROM STDIN`))
  for (const line of lines) {
    stream ??= open()
    text += line
    if (text.length < PIECE) continue
    if (!stream.write(text)) await once(stream, 'drain')
    text = ''
  }
  if (!stream) return
  stream.end(text)
  await finished(stream)
}

function* rowLines(job: number, rows: readonly StoredRow[]): Iterable<string> {
  for (const { line, input, columns, key, domain } of rows)
    yield `${job}\t${line}\t${field(input)}\t${escaped(storableJson(columns))}\t${field(key)}\t${field(domain)}\n`
}

function* badLines(job: number, rows: readonly StoredBadRow[]): Iterable<string> {
  for (const { line, reason, text } of rows) yield `${job}\t${line}\t${field(reason)}\t${field(text)}\n`
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** A field in the text format of COPY. */
const field = (text: string): string => escaped(storable(text))
const escaped = (text: string): string =>
  /[\\\t\n\r]/.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (letter) => ESCAPES[letter]!) : text
