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
import { changeJsonFile, type JsonFile, readJsonFile, type Values } from './json-file.ts'

export type Warn = (event: string, fields: Record<string, unknown>) => void

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
  let last: Promise<void> = Promise.resolve()
  function open(name: RepositoryName): Repository {
    const path = join(folder, FILES[name])
    const onDamaged = ({ message }: StoreError, movedTo: string): void =>
      warn('a data file is damaged and was renamed', { path, moved_to: movedTo, reason: message })
    const file: JsonFile = { path, parse: (text) => parsed(path, text), format: formatted, onDamaged }
    const change: Rows['change'] = (make) => {
      const done = last.then(() => changeJsonFile(file, make))
      last = done.catch(() => {}) // its caller reports it
      return done
    }
    return repositoryOn({ read: () => readJsonFile(file), change }, REPOSITORIES[name])
  }
  return {
    ...eachRepository(open),
    settled: async () => {
      for (let seen: unknown; seen !== last; ) {
        seen = last
        await last
      }
    },
  }
}

const FORMAT = 1

/** `{"format": 1, "rows": [[key, value], …]}`. */
const formatted = (rows: Values): string => `${JSON.stringify({ format: FORMAT, rows: [...rows] })}\n`

function parsed(path: string, text: string): Values {
  const damaged = (why: 'no_object' | 'no_rows' | 'row'): never => {
    throw new StoreError('damaged', storeProblem('damaged', { path, why }))
  }
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
}

function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** The rows of a repository. `change`: `make` changes them in place and returns whether it did. */
type Rows = {
  readonly read: () => Promise<Values>
  readonly change: (make: (rows: Values) => boolean) => Promise<void>
}

function repositoryOn({ read, change }: Rows, bounds: RepositoryBounds): Repository {
  const putAll: Repository['putAll'] = async (rows) => {
    for (const { key, value } of rows) checkRow(key, value)
    if (rows.length > 0) await change((values) => store(values, rows, bounds))
  }
  return {
    get: async (key) => {
      checkRow(key)
      const value = (await read()).get(key)
      return value === undefined ? undefined : { key, value }
    },
    list: async ({ limit, after = '' }) => {
      const values = await read()
      const keys = [...values.keys()].filter((key) => key > after).sort((a, b) => (a < b ? -1 : 1))
      return keys.slice(0, limit).map((key) => ({ key, value: values.get(key)! }))
    },
    put: (key, value) => putAll([{ key, value }]),
    putAll,
    add: async (key, value) => {
      checkRow(key, value)
      let isNew = false
      await change((values) => {
        isNew = !values.has(key)
        return isNew && store(values, [{ key, value }], bounds)
      })
      return isNew
    },
    delete: async (key) => {
      checkRow(key)
      let isThere = false
      await change((values) => (isThere = values.delete(key)))
      return isThere
    },
  }
}

/** Puts rows last, as those changed most recently. Throws StoreError `full` before anything is changed. */
function store(values: Values, rows: readonly Row[], bounds: RepositoryBounds): true {
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

/** A store in memory for the life of the process, with the bounds of the others. */
export const memoryStore = (): Store =>
  eachRepository((name) => {
    const rows: Values = new Map()
    return repositoryOn({ read: async () => rows, change: async (make) => void make(rows) }, REPOSITORIES[name])
  })

/** What `open` returns for each repository. */
const eachRepository = <T>(open: (name: RepositoryName) => T): Readonly<Record<RepositoryName, T>> => ({
  node: open('node'),
  peers: open('peers'),
  sources: open('sources'),
  selfTests: open('selfTests'),
})
