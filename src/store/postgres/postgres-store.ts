import { type Kysely, sql, type Transaction } from 'kysely'
import { messageOf } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import {
  checkRow,
  REPOSITORIES,
  type Repository,
  type RepositoryName,
  type Row,
  type Store,
  StoreError,
} from '../contract.ts'
import { storeProblem } from '../problems.ts'
import type { Schema } from './schema.ts'

/** The owner of the rows: the whole cluster, or one node. */
type Scopes = { readonly cluster: string; readonly node: string }

/** Facts about a node itself are stored per node; the cluster shares the list of nodes and the states of sources. */
const SCOPE: Readonly<Record<RepositoryName, keyof Scopes>> = {
  node: 'node',
  peers: 'cluster',
  sources: 'cluster',
  selfTests: 'node',
}

/** A {@link Store} in PostgreSQL. The database is opened with the first call, and again after a failure. */
export const postgresStore = (open: () => Promise<Kysely<Schema>>, scopes: Scopes): Store => ({
  node: repository(open, 'node', scopes),
  peers: repository(open, 'peers', scopes),
  sources: repository(open, 'sources', scopes),
  selfTests: repository(open, 'selfTests', scopes),
})

function repository(open: () => Promise<Kysely<Schema>>, name: RepositoryName, scopes: Scopes): Repository {
  const place = { scope: scopes[SCOPE[name]], repository: name }
  const read = <T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> => told(async () => work(await open()))
  /** Writers of one repository take turns, so that its bound holds. */
  const write = <T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T> =>
    told(async () =>
      (await open()).transaction().execute(async (tx) => {
        await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${place.scope} ${name}`}, 0))`.execute(tx)
        return work(tx)
      }),
    )
  const rowsOf = (db: Kysely<Schema>) =>
    db
      .selectFrom('mailsonde.rows')
      .select(['key', 'value'])
      .where('scope', '=', place.scope)
      .where('repository', '=', name)

  async function store(tx: Transaction<Schema>, rows: readonly Row[]): Promise<void> {
    for (const { key, value } of rows) {
      await sql`
        INSERT INTO mailsonde.rows (scope, repository, key, value)
        VALUES (${place.scope}, ${name}, ${key}, ${JSON.stringify(value)})
        ON CONFLICT (scope, repository, key) DO UPDATE SET value = excluded.value, version = nextval('mailsonde.row_changes')`.execute(
        tx,
      )
    }
    await keepBound(tx, name, place.scope)
  }
  return {
    get: async (key) => {
      checkRow(key)
      const row = await read((db) => rowsOf(db).where('key', '=', key).executeTakeFirst())
      return row && rowOf(row)
    },
    list: async ({ limit, after }) => {
      const rows = await read((db) => {
        const all = rowsOf(db).orderBy('key').limit(limit)
        return (after === undefined ? all : all.where('key', '>', after)).execute()
      })
      return rows.map(rowOf)
    },
    put: async (key, value) => {
      checkRow(key, value)
      await write((tx) => store(tx, [{ key, value }]))
    },
    putAll: async (rows) => {
      for (const { key, value } of rows) checkRow(key, value)
      await write((tx) => store(tx, rows))
    },
    add: async (key, value) => {
      checkRow(key, value)
      return write(async (tx) => {
        if (await rowsOf(tx).where('key', '=', key).executeTakeFirst()) return false
        await store(tx, [{ key, value }])
        return true
      })
    },
    delete: async (key) => {
      checkRow(key)
      const gone = await write((tx) =>
        tx
          .deleteFrom('mailsonde.rows')
          .where('scope', '=', place.scope)
          .where('repository', '=', name)
          .where('key', '=', key)
          .executeTakeFirst(),
      )
      return gone.numDeletedRows > 0n
    },
  }
}

const rowOf = ({ key, value }: { readonly key: string; readonly value: string }): Row => ({
  key,
  value: JSON.parse(value) as Json,
})

/** The rows longest unchanged are removed, or the write is refused and rolled back. */
async function keepBound(tx: Transaction<Schema>, name: RepositoryName, scope: string): Promise<void> {
  const { maxRows, whenFull } = REPOSITORIES[name]
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM mailsonde.rows WHERE scope = ${scope} AND repository = ${name}`.execute(tx)
  const over = (rows[0]?.n ?? 0) - maxRows
  if (over <= 0) return
  if (whenFull === 'refuse') throw new StoreError('full', storeProblem('full', { max: maxRows }))
  await sql`
    DELETE FROM mailsonde.rows WHERE scope = ${scope} AND repository = ${name} AND key IN (
      SELECT key FROM mailsonde.rows WHERE scope = ${scope} AND repository = ${name} ORDER BY version LIMIT ${over})`.execute(
    tx,
  )
}

/** Refused or unanswered statements are `unavailable`: worth another attempt. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    throw new StoreError('unavailable', storeProblem('database', { reason: messageOf(cause) }), { cause })
  }
}
