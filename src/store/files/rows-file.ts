import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Json } from '../../base/json.ts'
import { StoreError, unavailable } from '../contract.ts'
import { storeProblem } from '../problems.ts'
import { type Lock, withLock } from './lock.ts'
import { replaceFile, sweep } from './replace-file.ts'

/** Maximum size of a file, bytes. */
const MAX_BYTES = 64 * 1024 * 1024
/** Maximum number of attempts at a change whose lock was lost to another process. */
const MAX_TRIES = 3

/** Values by key, the one longest unchanged first. */
export type Values = Map<string, Json>
/** The format of rows in a file. `read` throws StoreError `damaged` or `newer`. */
export type Codec = { readonly read: (text: string) => Values; readonly write: (rows: Values) => string }

export type RowsFileOptions = {
  readonly path: string
  readonly codec: Codec
  /** The file is on the disk when a change has settled, even after a power failure. */
  readonly durable?: boolean
  /** Called with a damaged file that was renamed: the rows are then empty. Without it every call rejects with `damaged` until the file is repaired. */
  readonly onDamaged?: (error: StoreError, movedTo: string) => void
}

export type RowsFile = {
  /** The present rows of the file; read again only if it has changed. Rejects with StoreError. */
  readonly read: () => Promise<Values>
  /**
   * Makes a change on the present content of the file, while no other process may change it. `make` returns whether it changed the rows. Rejects with
   * StoreError.
   */
  readonly change: (make: (rows: Values) => boolean) => Promise<void>
}

/** Rows in one file that several processes change in turn: no change is lost. A missing file has none. */
export function rowsFile(options: RowsFileOptions): RowsFile {
  const { path, codec } = options
  let kept: { readonly stamp: string; readonly rows: Values } | undefined
  let isSwept = false

  async function read(): Promise<Values> {
    const stamp = await stampOf(path)
    if (kept && kept.stamp === stamp) return kept.rows
    try {
      const rows = stamp === '' ? new Map() : codec.read(await textOf(path))
      kept = { stamp, rows }
      return rows
    } catch (error) {
      if (!options.onDamaged || !isDamage(error)) throw error
      await change(() => false)
      return read()
    }
  }

  async function change(make: (rows: Values) => boolean): Promise<void> {
    await ensureFolder(path)
    for (let tries = 0; tries < MAX_TRIES; tries++)
      if (await withLock(`${path}.lock`, (lock) => changeLocked(make, lock))) return
    throw new StoreError('unavailable', storeProblem('lock_lost', { path }))
  }

  /** False if the lock was lost before the change was written. */
  async function changeLocked(make: (rows: Values) => boolean, { isHeld }: Lock): Promise<boolean> {
    if (!isSwept) await sweep(path)
    isSwept = true
    const rows = await readNow(options)
    if (!make(rows)) return true
    try {
      return await replaceFile(path, codec.write(rows), { durable: options.durable === true, mayReplace: isHeld })
    } catch (cause) {
      throw unavailable('not_written', path, cause)
    } finally {
      kept = undefined
    }
  }
  return { read, change }
}

/** The content of the file, read without the cache. A damaged file is renamed if that is wanted. */
async function readNow({ path, codec, onDamaged }: RowsFileOptions): Promise<Values> {
  if ((await stampOf(path)) === '') return new Map()
  try {
    return codec.read(await textOf(path))
  } catch (error) {
    if (!onDamaged || !isDamage(error)) throw error
    const aside = `${path}.damaged-${randomBytes(4).toString('hex')}`
    await rename(path, aside).catch((cause: unknown) => {
      throw unavailable('not_renamed', path, cause)
    })
    onDamaged(error, aside)
    return new Map()
  }
}

const isDamage = (error: unknown): error is StoreError => error instanceof StoreError && error.code === 'damaged'

/** Identifies the content of a file; empty if there is no file. */
async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeNs, size, ino } = await stat(path, { bigint: true })
    if (size > MAX_BYTES)
      throw new StoreError('too_large', storeProblem('too_large', { path, count: Number(size), max: MAX_BYTES }))
    return `${mtimeNs} ${size} ${ino}`
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw cause instanceof StoreError ? cause : unavailable('not_read', path, cause)
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw unavailable('not_read', path, cause)
  }
}

async function ensureFolder(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw unavailable('folder', path, cause)
  }
}
