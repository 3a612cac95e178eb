import { createHash } from 'node:crypto'
import type { Json } from '../../base/json.ts'
import { checkRow, type Repository, type RepositoryBounds, type Row, StoreError } from '../contract.ts'
import { storeProblem } from '../problems.ts'
import type { RowsFile, Values } from './rows-file.ts'

/** A change that waits for its turn. `make` changes the rows in place and returns the result for the caller; it may be called again on newer rows. */
type Waiting = {
  readonly make: (rows: Values) => { readonly isChanged: boolean; readonly result: boolean }
  readonly resolve: (result: boolean) => void
  readonly reject: (error: unknown) => void
}

/** `settled` waits for the changes in progress; it never rejects. */
export type FileRepository = Repository & { readonly settled: () => Promise<void> }

/** A {@link Repository} in one file. Changes that are requested while one is being written are written together. `before` is awaited first. */
export function fileRepository(
  file: RowsFile,
  bounds: RepositoryBounds,
  before: () => Promise<void> = async () => {},
): FileRepository {
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
    const done = before().then(
      () =>
        new Promise<boolean>((resolve, reject) => {
          waiting.push({ make, resolve, reject })
          if (!isWriting) void writeAll()
        }),
    )
    const ended = done.then(
      () => {},
      () => {},
    )
    underWay.add(ended)
    void ended.then(() => underWay.delete(ended))
    return done
  }

  async function read(): Promise<Values> {
    await before()
    return file.read()
  }

  const putAll = async (rows: Parameters<Repository['putAll']>[0]): Promise<void> => {
    for (const { key, value } of rows) checkRow(key, value)
    if (rows.length > 0) await change((values) => ({ isChanged: store(values, rows, bounds), result: true }))
  }
  return {
    get: async (key) => {
      checkRow(key)
      const value = (await read()).get(key)
      return value === undefined ? undefined : rowOf(key, value)
    },
    list: async ({ limit, after = '' }) => {
      const values = await read()
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
