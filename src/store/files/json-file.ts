import { randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { codeOf } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { MAX_WAIT_MS, StoreError, unavailable } from '../contract.ts'
import { makeFolder, replaceFile, sweep } from '../own-file.ts'
import { storeProblem } from '../problems.ts'

/** Maximum size of a file, bytes. */
const MAX_BYTES = 64 * 1024 * 1024
/** The file by which the processes that use a folder take turns. */
const LOCK = 'mailsonde.lock'

/** Values by key, the one longest unchanged first. */
export type Values = Map<string, Json>

/** Values in a file that several processes change in turn. A missing file has none. */
export type JsonFile = {
  readonly path: string
  /** Reads the text of the file. Throws StoreError `damaged` or `newer`. */
  readonly parse: (text: string) => Values
  readonly format: (values: Values) => string
  /** The file is on the disk when a change has settled, even after a power failure. */
  readonly durable?: boolean
  /**
   * Called with a damaged file that was renamed: it then has no values. Without it every call rejects with `damaged`
   * until the file is repaired.
   */
  readonly onDamaged?: (error: StoreError, movedTo: string) => void
}

/** The present values of the file. Rejects with StoreError. */
export async function readJsonFile(file: JsonFile): Promise<Values> {
  try {
    return await valuesOf(file)
  } catch (error) {
    if (!file.onDamaged || !isDamage(error)) throw error
    let values: Values = new Map()
    await changeJsonFile(file, (now) => {
      values = now
      return false
    })
    return values
  }
}

/**
 * Makes a change on the present values, while no other process may change a file of the folder. `make` returns whether
 * it changed them: the file is then replaced, completely or not at all. Rejects with StoreError.
 */
export async function changeJsonFile(file: JsonFile, make: (values: Values) => boolean): Promise<void> {
  const { path, durable = false } = file
  await ensureFolder(path)
  await withLock(join(dirname(path), LOCK), async () => {
    await sweep(path)
    const values = await valuesOf(file).catch((error: unknown) => setAside(file, error))
    if (!make(values)) return
    await replaceFile(path, file.format(values), { durable }).catch((cause: unknown) => {
      throw unavailable('not_written', path, cause)
    })
  })
}

async function valuesOf({ path, parse }: JsonFile): Promise<Values> {
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES)
      throw new StoreError('too_large', storeProblem('too_large', { path, count: size, max: MAX_BYTES }))
    return parse(await readFile(path, 'utf8'))
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return new Map()
    throw cause instanceof StoreError ? cause : unavailable('not_read', path, cause)
  }
}

/** Renames a damaged file, if that is wanted. */
async function setAside({ path, onDamaged }: JsonFile, error: unknown): Promise<Values> {
  if (!onDamaged || !isDamage(error)) throw error
  const aside = `${path}.damaged-${randomBytes(4).toString('hex')}`
  await rename(path, aside).catch((cause: unknown) => {
    throw unavailable('not_renamed', path, cause)
  })
  onDamaged(error, aside)
  return new Map()
}

const isDamage = (error: unknown): error is StoreError => error instanceof StoreError && error.code === 'damaged'

async function ensureFolder(path: string): Promise<void> {
  try {
    await makeFolder(dirname(path))
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

/**
 * Runs `work` while this process, and no other, holds the lock file `path`. A lock whose process has died is taken over
 * at once, and so is one that has not changed for 5 s. Rejects with StoreError `unavailable` if the lock was not
 * available within 10 s or the file cannot be created.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, abandonedMs = ABANDONED_MS): Promise<T> {
  const mine = `${process.pid} ${whereami()} ${randomBytes(8).toString('hex')}`
  await acquire(path, mine, abandonedMs)
  try {
    return await work()
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
