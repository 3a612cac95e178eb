import { messageOf } from '../base/errors.ts'
import { type Json, keysOf } from '../base/json.ts'
import type { Problem } from '../base/problem.ts'
import { storeProblem } from './problems.ts'

export type Row = { readonly key: string; readonly value: Json }

/**
 * Rows of one kind by key. A call waits for other processes for at most {@link MAX_WAIT_MS} and rejects with
 * {@link StoreError} if it failed; nothing was then stored. Rows are written one by one or all together (`putAll`), so processes that write
 * different rows never undo each other's changes. A key is 1 to {@link MAX_KEY} printable ASCII characters, a value at
 * most {@link MAX_VALUE} bytes of JSON.
 */
export type Repository = {
  readonly get: (key: string) => Promise<Row | undefined>
  /** Rows in the order of their keys (by character code), starting after the key `after`; at most `limit`. */
  readonly list: (page: { readonly limit: number; readonly after?: string }) => Promise<readonly Row[]>
  readonly put: (key: string, value: Json) => Promise<void>
  /** All of them or none. */
  readonly putAll: (rows: readonly Row[]) => Promise<void>
  /** Stores the value if there is no such row; returns whether it did. */
  readonly add: (key: string, value: Json) => Promise<boolean>
  /** Returns whether there was such a row. */
  readonly delete: (key: string) => Promise<boolean>
}

/**
 * The content of a repository, and what happens when it is full: the rows longest unchanged are removed, or a new row
 * is refused.
 */
export type RepositoryBounds = { readonly maxRows: number; readonly whenFull: 'drop_oldest' | 'refuse' }

export const REPOSITORIES = {
  /** Facts about this node: its id, whether keys are required. */
  node: { maxRows: 100, whenFull: 'refuse' },
  /** The nodes of the cluster, by id. */
  peers: { maxRows: 1_000, whenFull: 'drop_oldest' },
  /** The state of each source address with each provider. */
  sources: { maxRows: 5_000, whenFull: 'drop_oldest' },
  /** The self-tests of the blacklists, by family and zone. */
  selfTests: { maxRows: 1_000, whenFull: 'drop_oldest' },
} as const satisfies Readonly<Record<string, RepositoryBounds>>

export type RepositoryName = keyof typeof REPOSITORIES
/** The state that survives a restart. */
export type Store = Readonly<Record<RepositoryName, Repository>>

/** How long a call waits for other processes, ms. */
export const MAX_WAIT_MS = 10_000
/** Maximum number of characters of a key. */
export const MAX_KEY = 512
/** Maximum size of a value, bytes of JSON. */
export const MAX_VALUE = 64 * 1024

/**
 * Why the store failed: `unavailable` (cannot be read, written or locked: worth another attempt), `damaged` (the stored
 * data is invalid), `newer` (a later version of the program wrote it), `full`, `too_large`.
 */
export class StoreError extends Error {
  readonly code: 'unavailable' | 'damaged' | 'newer' | 'full' | 'too_large'
  readonly problem: Problem

  constructor(code: StoreError['code'], problem: Problem, options: { cause?: unknown } = {}) {
    super(problem.text, options)
    this.name = 'StoreError'
    this.code = code
    this.problem = problem
  }
}

/** What could not be done with a file of the store. */
type FileFault = 'not_created' | 'not_written' | 'not_read' | 'not_removed' | 'not_renamed' | 'folder'

/** The error of a file that could not be used, with the reason of the system. */
export const unavailable = (what: FileFault, path: string, cause: unknown): StoreError =>
  new StoreError('unavailable', storeProblem(what, { path, reason: messageOf(cause) }), { cause })

/** Throws TypeError for an invalid key, and StoreError `too_large` for a value over the bound. */
export function checkRow(key: string, value?: Json): void {
  if (!/^[ -~]{1,512}$/.test(key)) throw new TypeError(`not a key of a row: ${JSON.stringify(key.slice(0, 100))}`)
  if (value === undefined) return
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > MAX_VALUE)
    throw new StoreError('too_large', storeProblem('value_too_large', { key, count: bytes, max: MAX_VALUE }))
}

/** Number of rows that are read at a time. */
const PAGE = 500

/** Copies each row that does not exist yet from one store to another: repeating it changes nothing. */
export async function copyRepositories(from: Store, to: Store): Promise<string> {
  const lines: string[] = []
  for (const name of keysOf(REPOSITORIES)) {
    let [copied, kept] = [0, 0]
    for (let after: string | undefined; ; ) {
      const rows = await from[name].list({ limit: PAGE, ...(after !== undefined && { after }) })
      for (const { key, value } of rows)
        if (await to[name].add(key, value)) copied++
        else kept++
      after = rows.at(-1)?.key
      if (rows.length < PAGE) break
    }
    lines.push(`${name}: ${copied} rows copied${kept > 0 ? `, ${kept} were there already` : ''}`)
  }
  return lines.join('\n')
}
