import type { Socket } from 'node:net'
import pg from 'pg'
import type { Json } from '../../base/json.ts'
import { storableJson } from './copy-text.ts'

/** Maximum number of connections of one process: statements are short, and the private server allows 100. */
const MAX_CONNECTIONS = 12
const CONNECT_MS = 5_000
/**
 * A statement that runs longer is canceled. Only migrations, the end of an intake and a removal may need more, and lift
 * this limit.
 */
const STATEMENT_MS = 60_000
/**
 * A connection without data for this long, while an answer is due, is checked; behind a pooler, where nobody knows
 * whether the server works on it, it is closed after longer.
 */
const SILENT_MS = 10_000
const POOLED_SILENT_MS = 300_000
/**
 * Maximum size of the answer to a statement, octets; what COPY streams does not count. The largest of ours, the sources
 * of a report, has 32 MiB.
 */
const MAX_ANSWER = 128 * 1_048_576

/**
 * The server's settings for a connection: the limit of a statement; and for a node that is cut off, the connection ends
 * after some 25 s, and an open transaction with its locks after 15 s. On a Unix socket the settings of TCP have no
 * effect.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: String(STATEMENT_MS),
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25000',
  idle_in_transaction_session_timeout: '15000',
}
/**
 * Behind a pooler in transaction mode (pgbouncer) a connection is not one of the server, and settings would stay with
 * whoever gets that one next: there they are left alone. Such a connection has another process id than the server's
 * process.
 */
const CONFIGURE = `SELECT set_config(name, setting, false) FROM unnest($1::text[], $2::text[]) AS s (name, setting) WHERE pg_backend_pid() = $3`

type Warn = (event: string, fields?: Record<string, unknown>) => void

type PoolSettings = {
  /** Connections at most; default 12. */
  readonly maxConnections?: number | undefined
  readonly warn: Warn
}

/**
 * Connections to a server. A broken connection, or a half-open one, is closed within some 15 s, and its statement
 * rejects.
 */
export function poolOf(where: pg.ClientConfig, { maxConnections = MAX_CONNECTIONS, warn }: PoolSettings): pg.Pool {
  const pool = new pg.Pool({
    ...where,
    types: { getTypeParser },
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'mailsonde',
    onConnect: (client) => {
      // The pool listens only to idle clients: a break in the middle of a transaction would end the process. Its
      // statement, or its next one, rejects.
      client.on('error', () => {})
      watchSilence(client, where, warn)
      boundAnswers(client)
      return configure(client)
    },
  })
  // A broken idle connection is replaced when the next one is needed.
  pool.on('error', (error) => warn('a database connection was lost', { reason: error.message }))
  return pool
}

/** 64-bit integers, and the sums of such, are numbers: ours stay far below 2^53. `pg` has them as text. */
const getTypeParser = ((type: number, format?: 'text' | 'binary') =>
  type === pg.types.builtins.INT8 || type === pg.types.builtins.NUMERIC
    ? Number
    : pg.types.getTypeParser(type, format as 'text')) as typeof pg.types.getTypeParser

const pooled = new WeakSet<object>()

async function configure(client: pg.ClientBase): Promise<void> {
  const values = [Object.keys(SETTINGS), Object.values(SETTINGS), (client as unknown as Inner).processID]
  const { rowCount } = await client.query(CONFIGURE, values)
  if (rowCount === 0) pooled.add(client)
}

/** The members of a client that `pg` does not declare. */
type Inner = {
  readonly connection: { readonly stream: Socket }
  readonly processID: number
  /** Whether the last statement was answered completely. */
  readonly readyForQuery: boolean
}

const READY_FOR_QUERY = 'Z'.charCodeAt(0)

/**
 * Closes a connection on which the answer to a statement is larger than {@link MAX_ANSWER}: `pg` would hold all of it
 * (PostgreSQL 18, "Message Formats"). The listener of `pg` is replaced, as there may be no second one: a COPY takes its
 * place for its time, between two messages.
 */
function boundAnswers(client: pg.ClientBase): void {
  const { stream } = (client as unknown as Inner).connection
  const head = Buffer.alloc(5) // the type of a message, and its length with these four octets
  let [known, left, size] = [0, 0, 0]
  function isBounded(octets: Buffer): boolean {
    for (let at = 0; at < octets.length; ) {
      if (left > 0) {
        const some = Math.min(left, octets.length - at)
        left -= some
        at += some
        continue
      }
      head[known++] = octets[at++]!
      if (known < head.length) continue
      known = 0
      left = head.readUInt32BE(1) - 4
      size = head[0] === READY_FOR_QUERY ? 0 : size + left
      if (left < 0 || size > MAX_ANSWER) return false
    }
    return true
  }
  for (const listener of stream.listeners('data')) {
    stream.off('data', listener as () => void)
    stream.on('data', (octets: Buffer) => {
      if (isBounded(octets)) return void Reflect.apply(listener, stream, [octets])
      const error = new Error('the answer of the database is larger than any of ours')
      stream.destroy(Object.assign(error, { code: 'ECONNRESET' }))
    })
  }
}

/** Closes a silent connection on which the server has no work: the answer was lost. */
function watchSilence(client: pg.ClientBase, where: pg.ClientConfig, warn: Warn): void {
  const inner = client as unknown as Inner
  const { stream } = inner.connection
  const watch = (): void => void stream.setTimeout(pooled.has(client) ? POOLED_SILENT_MS : SILENT_MS)
  stream.on('timeout', () => {
    if (inner.readyForQuery) return watch() // no answer is due
    const isBusy = pooled.has(client) ? Promise.resolve(false) : isWorkedOn(where, inner.processID)
    isBusy.then(
      (is) => {
        if (is) return watch()
        warn('a silent database connection was closed', {})
        stream.destroy(Object.assign(new Error('the database connection is half open'), { code: 'ETIMEDOUT' }))
      },
      (error: Error) => stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' })), // the server is unavailable
    )
  })
  watch()
}

/** Whether the server is executing a statement of this connection, queried on another one. */
async function isWorkedOn(where: pg.ClientConfig, processId: number): Promise<boolean> {
  const asking = new pg.Client({ ...where, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS })
  asking.on('error', () => {})
  try {
    await asking.connect()
    const { rows } = await asking.query<{ busy: boolean }>(
      `SELECT state = 'active' AS busy FROM pg_stat_activity WHERE pid = $1`,
      [processId],
    )
    return rows[0]?.busy === true
  } finally {
    void asking.end().catch(() => {})
  }
}

/** The object identifier of the type `json` in PostgreSQL. */
const JSON_OID = 114

/**
 * Values as a parameter of type `json[]` in PostgreSQL's binary format (array_send): the number of dimensions, a flag
 * for nulls, the type, the length and the first index, then each element after its size. As text, each element would be
 * escaped once more, and the server would have to undo it.
 */
export function jsonArray(values: readonly Json[]): Buffer {
  const texts = values.map((value) => {
    const text = storableJson(value)
    return { text, size: Buffer.byteLength(text) }
  })
  const array = Buffer.allocUnsafe(texts.reduce((sum, { size }) => sum + 4 + size, values.length === 0 ? 12 : 20))
  let at = 0
  const put = (number: number): void => void (at = array.writeInt32BE(number, at))
  for (const part of [values.length === 0 ? 0 : 1, 0, JSON_OID]) put(part)
  if (values.length > 0) for (const part of [values.length, 1]) put(part)
  for (const { text, size } of texts) {
    put(size)
    at += array.write(text, at)
  }
  return array
}
