import { randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { link, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { codeOf } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { MAX_WAIT_MS, StoreError, unavailable } from '../contract.ts'
import { replaceFile, sweep } from '../own-file.ts'
import { storeProblem } from '../problems.ts'

/** Maximum size of a file, bytes. */
const MAX_BYTES = 64 * 1024 * 1024
/** Maximum number of attempts at a change whose lock was lost to another process. */
const MAX_TRIES = 3

/** Values by key, the one longest unchanged first. */
export type Values = Map<string, Json>
/** The format of rows in a file. `read` throws StoreError `damaged` or `newer`. */
export type Codec = { readonly read: (text: string) => Values; readonly write: (rows: Values) => string }

type RowsFileOptions = {
  readonly path: string
  readonly codec: Codec
  /** The file is on the disk when a change has settled, even after a power failure. */
  readonly durable?: boolean
  /**
   * Called with a damaged file that was renamed: the rows are then empty. Without it every call rejects with `damaged`
   * until the file is repaired.
   */
  readonly onDamaged?: (error: StoreError, movedTo: string) => void
}

export type RowsFile = {
  /** The present rows of the file; read again only if it has changed. Rejects with StoreError. */
  readonly read: () => Promise<Values>
  /**
   * Makes a change on the present content of the file, while no other process may change it. `make` returns whether it
   * changed the rows. Rejects with StoreError.
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
    if (codeOf(cause) === 'ENOENT') return ''
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

/**
 * How long a lock may stay unchanged before a waiter takes it over, ms. Its holder is stopped, or on another machine
 * and dead.
 */
const ABANDONED_MS = 5_000
const POLL_MS = 4

/** A lock that is held. */
type Lock = {
  /** Whether it is still held: another process may have taken it over from a process that was stopped for long. */
  readonly isHeld: () => Promise<boolean>
}

/**
 * Runs `work` while this process, and no other, holds the lock file `path`. A lock whose process has died is taken over
 * at once, and so is one that has not changed for 5 s. Rejects with StoreError `unavailable` if the lock was not
 * available within 10 s or the file cannot be created.
 */
export async function withLock<T>(
  path: string,
  work: (lock: Lock) => Promise<T>,
  abandonedMs = ABANDONED_MS,
): Promise<T> {
  const mine = `${process.pid} ${whereami()} ${randomBytes(8).toString('hex')}`
  await acquire(path, mine, abandonedMs)
  try {
    return await work({ isHeld: async () => (await contentOf(path)) === mine })
  } finally {
    if ((await contentOf(path)) === mine) await unlink(path).catch(() => {})
  }
}

async function acquire(path: string, mine: string, abandonedMs: number): Promise<void> {
  const begunMs = performance.now()
  let seen: { readonly content: string; readonly sinceMs: number } | undefined
  while (!(await created(path, mine))) {
    const nowMs = performance.now()
    const content = await contentOf(path)
    if (content === undefined) continue // released in the meantime
    if (content !== seen?.content) seen = { content, sinceMs: nowMs }
    if (isDead(content) || nowMs - seen.sinceMs >= abandonedMs) await takeAway(path, content)
    else if (nowMs - begunMs >= MAX_WAIT_MS)
      throw new StoreError('unavailable', storeProblem('locked', { path, holder: content.split(' ')[0] ?? '' }))
    else await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** True if the file was created with this content. `wx` follows no link (open(2): O_EXCL). */
async function created(path: string, content: string): Promise<boolean> {
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(path, 'wx', 0o600)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw unavailable('not_created', path, cause)
  }
  try {
    await file.writeFile(content)
  } catch (cause) {
    await unlink(path).catch(() => {}) // an empty lock would block every process
    throw unavailable('not_written', path, cause)
  } finally {
    await file.close()
  }
  return true
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw unavailable('not_read', path, cause)
  }
}

/** Removes a lock with this content. A newer lock in its place is restored. */
async function takeAway(path: string, content: string): Promise<void> {
  const aside = `${path}.${randomBytes(8).toString('hex')}`
  try {
    await rename(path, aside)
  } catch {
    return // another process was faster
  }
  if ((await contentOf(aside)) !== content) await link(aside, path).catch(() => {})
  await unlink(aside).catch(() => {})
}

/** Whether the process that holds the lock is one of this machine and has ended. */
function isDead(content: string): boolean {
  const [pid, where] = content.split(' ')
  if (where !== whereami() || !/^\d+$/.test(pid ?? '')) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

let place: string | undefined
/** The machine, and on Linux the process namespace: elsewhere the same number is another process. */
function whereami(): string {
  if (place !== undefined) return place
  let namespace = ''
  try {
    namespace = readlinkSync('/proc/self/ns/pid')
  } catch {
    // not Linux
  }
  place = `${encodeURIComponent(hostname())}/${namespace}`
  return place
}
