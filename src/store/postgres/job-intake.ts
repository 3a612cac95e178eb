import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Json } from '../../base/json.ts'
import { copyField, escaped, storableJson } from './copy-text.ts'
import type { StoredBadRow, StoredRow } from './job-rows.ts'
import { createTableText, OWN_TABLE_ROWS, tableNameOf } from './jobs.ts'
import { uploadError } from './problems.ts'

/** A part of an upload: records `from` to `received`, and the line on which the next part begins. */
export type IntakePart = {
  /** Lines of {@link rowLine}, several in each piece. */
  readonly rows: readonly Buffer[]
  /** Lines of {@link badLine}. */
  readonly bad: readonly Buffer[]
  readonly layout: { readonly [key: string]: Json } | null
  readonly from: number
  readonly received: number
  readonly nextLine: number
}

/**
 * Stores a part completely or not at all. Repeating a part changes nothing; rejects with AppError `wrong_offset` if
 * another upload continued this one.
 */
export type TakeIn = (job: number, part: IntakePart) => Promise<void>

/** Stores parts of uploads by COPY, in one transaction with the progress of the upload. */
export const takeInOf =
  (pool: pg.Pool): TakeIn =>
  async (job, part) => {
    const client = await pool.connect()
    let isBroken = true
    try {
      await client.query('BEGIN')
      const moved = await advance(client, job, part)
      if (moved) {
        const table = tableNameOf({ number: job, own_table: moved.own_table || (await moveOut(client, job, part)) })
        await copy(client, `${table} (job, line, input, columns, key, domain)`, part.rows)
        await copy(client, 'mailsonde.job_bad_rows (job, line, reason, detail, text)', part.bad)
      }
      await client.query('COMMIT')
      isBroken = false
    } finally {
      client.release(isBroken) // a failed transaction ends with its connection
    }
  }

/**
 * Records the progress of the upload; undefined if this part is stored already. The row of the job stays locked until
 * the end, so two uploads of one job take turns.
 */
async function advance(
  client: pg.PoolClient,
  job: number,
  part: IntakePart,
): Promise<{ readonly own_table: boolean } | undefined> {
  const moved = await client.query<{ own_table: boolean }>(
    `UPDATE mailsonde.jobs SET layout = coalesce($2::jsonb, layout), received = $3, next_line = $4, octets = octets + $6, touched_at = now()
     WHERE number = $1 AND received = $5 AND state = 'receiving' RETURNING own_table`,
    [
      job,
      part.layout === null ? null : storableJson(part.layout),
      part.received,
      part.nextLine,
      part.from,
      sizeOf(part),
    ],
  )
  if (moved.rows[0]) return moved.rows[0]
  const { rows } = await client.query<{ received: number }>('SELECT received FROM mailsonde.jobs WHERE number = $1', [
    job,
  ])
  const held = rows[0]?.received
  if (held === part.received) return undefined
  throw held === undefined ? uploadError('removed') : uploadError('continued', { received: held }, { received: held })
}

/** Gives a job that has become large a table of its own; returns whether it did. */
async function moveOut(client: pg.PoolClient, job: number, { received }: IntakePart): Promise<boolean> {
  if (received <= OWN_TABLE_ROWS) return false
  await client.query(createTableText(job))
  await client.query(
    `WITH moved AS (DELETE FROM mailsonde.job_rows WHERE job = ${Math.trunc(job)} RETURNING *)
     INSERT INTO ${tableNameOf({ number: job, own_table: true })} SELECT * FROM moved`,
  )
  await client.query('UPDATE mailsonde.jobs SET own_table = true WHERE number = $1', [job])
  return true
}

const sizeOf = ({ rows, bad }: IntakePart): number => [...rows, ...bad].reduce((sum, { length }) => sum + length, 0)

/** Hands lines in the text format of COPY on. `into`: a table, or a table with columns. */
export async function copy(client: pg.PoolClient, into: string, pieces: readonly Uint8Array[]): Promise<void> {
  if (pieces.length === 0) return
  const stream = client.query(copyFrom(`COPY ${into} FROM STDIN`))
  for (const piece of pieces) if (!stream.write(piece)) await once(stream, 'drain')
  stream.end()
  await finished(stream)
}

/** A row in the format of COPY. */
export function rowLine(job: number, { line, input, columns, key, domain }: StoredRow): string {
  const asked = copyField(input)
  const own = escaped(storableJson(columns))
  return `${job}\t${line}\t${asked}\t${own}\t${key === input ? asked : copyField(key)}\t${copyField(domain)}\n`
}

export const badLine = (job: number, { line, reason, detail, text }: StoredBadRow): string =>
  `${job}\t${line}\t${reason}\t${copyField(detail)}\t${copyField(text)}\n`
