import { randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { link, open, readFile, rename, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { MAX_WAIT_MS, StoreError, unavailable } from '../contract.ts'
import { storeProblem } from '../problems.ts'

/** How long a lock may stay unchanged before a waiter takes it over, ms. Its holder is stopped, or on another machine and dead. */
const ABANDONED_MS = 5_000
const POLL_MS = 4

/** A lock that is held. */
export type Lock = {
  /** Whether it is still held: another process may have taken it over from a process that was stopped for long. */
  readonly isHeld: () => Promise<boolean>
}

/**
 * Runs `work` while this process, and no other, holds the lock file `path`. A lock whose process has died is taken over at once, and so is one that has not
 * changed for 5 s. Rejects with StoreError `unavailable` if the lock was not available within 10 s or the file cannot be created.
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
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
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
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
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
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
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
