import type { Selectable } from 'kysely'
import type pg from 'pg'
import { quoted } from './backup-format.ts'
import { jobOfTable } from './job-tables.ts'
import { type MonitorRow, monitorRow } from './monitors.ts'
import { backupError } from './problems.ts'
import type { DeliveriesTable, MonitorsTable } from './schema.ts'

/** What JSON columns hold, in jsonb, json or as text. `null` is JSON's; a column that is NULL holds nothing. */
const KINDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  jobs: { options: ['object'], layout: ['object', 'null'] },
  job_rows: { columns: ['array', 'object'], answer: ['object'] },
  monitors: {
    ...{ options: ['object'], notify: ['array'], conditions: ['array'], quiet: ['object', 'null'] },
    ...{ last: ['object', 'null'], known: ['object'], notifier: ['object', 'null'], unsubscribed: ['array'] },
  },
  monitor_points: { changes: ['array'] },
  deliveries: { channel: ['object'], attempts: ['array'], body: ['object'] },
  stored_answers: { answer: ['object'] },
  idempotency_keys: { answer: ['object'] },
  reports: { policy: ['object'] },
  rows: { value: ['object', 'array', 'string', 'number', 'boolean', 'null'] },
}

/** Reads the rows of which code above the store knows the schema; throws for one that does not fit it. */
export type RowReaders = {
  readonly monitor: (row: MonitorRow) => void
  readonly delivery: (row: Pick<Selectable<DeliveriesTable>, 'channel' | 'attempts'>) => void
}

/** Rows that are read at a time. */
const PAGE = 1_000

/** Checks the JSON columns of a restored database: otherwise its first reader would fail, long after the data before it is gone. Throws AppError. */
export async function checkJson(client: pg.PoolClient, path: string, readers: RowReaders): Promise<void> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'mailsonde' AND c.relkind = 'r'`,
  )
  for (const { name } of tables)
    for (const [column, kinds] of Object.entries(KINDS[jobOfTable(name) === undefined ? name : 'job_rows'] ?? {})) {
      const { rows } = await client.query(
        `SELECT FROM mailsonde.${quoted(name)} WHERE NOT json_typeof(${quoted(column)}::text::json) = ANY($1) LIMIT 1`,
        [kinds],
      )
      if (rows.length > 0) throw backupError('json', { path, table: name, column })
    }
  await read<Selectable<MonitorsTable>>(client, path, 'monitors', (row) => readers.monitor(monitorRow(row)))
  await read<Selectable<DeliveriesTable>>(client, path, 'deliveries', readers.delivery)
}

async function read<Row extends pg.QueryResultRow & { readonly number: string }>(
  client: pg.PoolClient,
  path: string,
  table: string,
  each: (row: Row) => void,
): Promise<void> {
  for (let after = '0'; ; ) {
    const { rows } = await client.query<Row>(
      `SELECT * FROM mailsonde.${quoted(table)} WHERE number > $1 ORDER BY number LIMIT ${PAGE}`,
      [after],
    )
    try {
      rows.forEach(each)
    } catch (cause) {
      throw backupError('row', { path, table, reason: (cause as Error).message }, { cause })
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.number
  }
}
