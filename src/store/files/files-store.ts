import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isJsonRecord, type Json } from '../../base/json.ts'
import {
  checkRow,
  REPOSITORIES,
  type Repository,
  type RepositoryBounds,
  type RepositoryName,
  type Row,
  type Store,
  StoreError,
} from '../contract.ts'
import { storeProblem } from '../problems.ts'
import { type Codec, type RowsFile, rowsFile, type Values } from './rows-file.ts'

export type Warn = (event: string, fields: Record<string, unknown>) => void

/** The files of the repositories in the data folder. */
const FILES: Readonly<Record<RepositoryName, string>> = {
  node: 'node.json',
  peers: 'peers.json',
  sources: 'sources.json',
  selfTests: 'self-tests.json',
}

/**
 * A {@link Store} with one file per repository in `folder` (created with the first write, mode 0700). Several processes
 * may use it at the same time. A damaged file is renamed, reported through `warn`, and never overwritten.
 */
export function filesStore(folder: string, warn: Warn): Store & { readonly settled: () => Promise<void> } {
  const open = (name: RepositoryName): FileRepository => {
    const path = join(folder, FILES[name])
    const onDamaged = ({ message }: StoreError, movedTo: string): void =>
      warn('a data file is damaged and was renamed', { path, moved_to: movedTo, reason: message })
    return fileRepository(rowsFile({ path, codec: rowsCodec(path), onDamaged }), REPOSITORIES[name])
  }
  const repositories = eachRepository(open)
  return {
    ...repositories,
    settled: async () => {
      await Promise.all(Object.values(repositories).map(({ settled }) => settled()))
    },
  }
}

const FORMAT = 1

/** `{"format": 1, "rows": [[key, value], …]}`. */
function rowsCodec(path: string): Codec {
  const damaged = (why: 'no_object' | 'no_rows' | 'row'): never => {
    throw new StoreError('damaged', storeProblem('damaged', { path, why }))
  }
  return {
    read: (text) => {
      const json = parsedJson(text)
      if (!isJsonRecord(json)) return damaged('no_object')
      if (typeof json.format === 'number' && json.format > FORMAT)
        throw new StoreError('newer', storeProblem('newer', { path, version: json.format }))
      if (json.format !== FORMAT || !Array.isArray(json.rows)) return damaged('no_rows')
      const rows: Values = new Map()
      for (const row of json.rows as readonly Json[]) {
        if (!Array.isArray(row) || row.length !== 2 || typeof row[0] !== 'string') return damaged('row')
        rows.set(row[0], row[1] as Json)
      }
      return rows
    },
    write: (rows) => `${JSON.stringify({ format: FORMAT, rows: [...rows] })}\n`,
  }
}

function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/**
 * A change that waits for its turn. `make` changes the rows in place and returns the result for the caller; it may be
 * called again on newer rows.
 */
type Waiting = {
  readonly make: (rows: Values) => { readonly isChanged: boolean; readonly result: boolean }
  readonly resolve: (result: boolean) => void
  readonly reject: (error: unknown) => void
}

/** `settled` waits for the changes in progress; it never rejects. */
type FileRepository = Repository & { readonly settled: () => Promise<void> }

/** A {@link Repository} in one file. Changes that are requested while one is being written are written together. */
function fileRepository(file: RowsFile, bounds: RepositoryBounds): FileRepository {
  let waiting: Waiting[] = []
  let isWriting = false
  const underWay = new Set<Promise<void>>()

  async function writeAll(): Promise<void> {
    isWriting = true
    await Promise.resolve() // changes of the same turn are written together
    while (waiting.length > 0) {
      const changes = waiting
      waiting = []
      await writeTogether(file, changes)
    }
    isWriting = false
  }

  function change(make: Waiting['make']): Promise<boolean> {
    const done = new Promise<boolean>((resolve, reject) => {
      waiting.push({ make, resolve, reject })
      if (!isWriting) void writeAll()
    })
    const ended = done.then(
      () => {},
      () => {},
    )
    underWay.add(ended)
    void ended.then(() => underWay.delete(ended))
    return done
  }

  const putAll = async (rows: Parameters<Repository['putAll']>[0]): Promise<void> => {
    for (const { key, value } of rows) checkRow(key, value)
    if (rows.length > 0) await change((values) => ({ isChanged: store(values, rows, bounds), result: true }))
  }
  return {
    get: async (key) => {
      checkRow(key)
      const value = (await file.read()).get(key)
      return value === undefined ? undefined : rowOf(key, value)
    },
    list: async ({ limit, after = '' }) => {
      const values = await file.read()
      const keys = [...values.keys()].filter((key) => key > after).sort((a, b) => (a < b ? -1 : 1))
      return keys.slice(0, limit).map((key) => rowOf(key, values.get(key)!))
    },
    put: (key, value) => putAll([{ key, value }]),
    putAll,
    replace: async (key, value, expected) => {
      checkRow(key, value)
      return change((values) => {
        const now = values.get(key)
        const isExpected = (now === undefined ? undefined : versionOf(now)) === expected
        return { isChanged: isExpected && store(values, [{ key, value }], bounds), result: isExpected }
      })
    },
    delete: async (key) => {
      checkRow(key)
      return change((values) => {
        const result = values.delete(key)
        return { isChanged: result, result }
      })
    },
    settled: async () => {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

/** Each caller gets the result of its change once all of them are written, or the reason if they cannot be written. */
async function writeTogether(file: RowsFile, changes: readonly Waiting[]): Promise<void> {
  let tell: (() => void)[] = []
  try {
    await file.change((rows) => {
      tell = []
      let isChanged = false
      for (const { make, resolve, reject } of changes) {
        try {
          const made = make(rows)
          isChanged ||= made.isChanged
          tell.push(() => resolve(made.result))
        } catch (error) {
          tell.push(() => reject(error))
        }
      }
      return isChanged
    })
    for (const told of tell) told()
  } catch (error) {
    for (const { reject } of changes) reject(error)
  }
}

/** Puts rows last, as those changed most recently. Throws StoreError `full` before anything is changed. */
function store(values: Values, rows: readonly Pick<Row, 'key' | 'value'>[], bounds: RepositoryBounds): true {
  const { maxRows, whenFull } = bounds
  const added = new Set(rows.map(({ key }) => key).filter((key) => !values.has(key))).size
  if (whenFull === 'refuse' && values.size + added > maxRows)
    throw new StoreError('full', storeProblem('full', { max: maxRows }))
  for (const { key, value } of rows) {
    values.delete(key)
    values.set(key, value)
  }
  for (const key of values.keys()) {
    if (values.size <= maxRows) break
    values.delete(key)
  }
  return true
}

const rowOf = (key: string, value: Json): Row => ({ key, value, version: versionOf(value) })

/** A version is a hash of the value, so that it need not be stored. */
const versionOf = (value: Json): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)

/** A store in memory for the life of the process, with the bounds of the others. */
export const memoryStore = (): Store =>
  eachRepository((name) => {
    const rows: Values = new Map()
    return fileRepository({ read: async () => rows, change: async (make) => void make(rows) }, REPOSITORIES[name])
  })

/** What `open` returns for each repository. */
const eachRepository = <T>(open: (name: RepositoryName) => T): Readonly<Record<RepositoryName, T>> => ({
  node: open('node'),
  peers: open('peers'),
  sources: open('sources'),
  selfTests: open('selfTests'),
})
