import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, messageOf } from '../base/errors.ts'
import { limiter, type Release } from '../base/limiter.ts'
import { uploadLimitError } from '../jobs/problems.ts'
import { makeFolder } from '../store/own-file.ts'
import { requestError } from './problems.ts'

/** Bodies that are received or read at the same time, of one caller and in all: this bounds the octets on disk, too. */
const OPEN = { caller: 8, all: 32 }
/** Bodies above {@link BLOCK} that are read at the same time: each is in memory as a whole then. */
const READ = { caller: 2, all: 8 }
/** What a body has in memory while it is received; a larger one continues in a file. */
const BLOCK = 262_144
/** Time in which all of a body must have arrived, ms. */
const RECEIVE_MS = 300_000
/** When a caller may try again, s. */
const RETRY_SECONDS = 10

type Octets = AsyncIterable<Uint8Array>

/**
 * Receives the whole body of a caller and then does the work: a slow sender holds a place among the senders, and none
 * that the work needs. At most `maxOctets` are received; a reader with a bound of its own sees that there are more.
 * Rejects with AppError `too_many_uploads` or `timeout`, and as the work does.
 */
export type Spool = <T>(body: Octets, by: Sender, work: (octets: Octets) => Promise<T>) => Promise<T>
type Sender = { readonly caller: string; readonly signal: AbortSignal }

/** `folder`: where a body is while it is received. Its file has no name there, so that nothing can be left of it. */
export function spoolIn(
  { folder, maxOctets }: { readonly folder: string; readonly maxOctets: number },
  receiveMs = RECEIVE_MS,
): Spool {
  const turns = limiter({})

  function place(caller: string): Release {
    const leaveOwn = turns.tryEnter(`of ${caller}`, { concurrent: OPEN.caller })
    if (!leaveOwn) throw uploadLimitError('owner', { max: OPEN.caller }, { retryAfterSeconds: RETRY_SECONDS })
    const leaveAll = turns.tryEnter('all', { concurrent: OPEN.all })
    if (leaveAll) return both(leaveOwn, leaveAll)
    leaveOwn()
    throw uploadLimitError('all', { max: OPEN.all }, { retryAfterSeconds: RETRY_SECONDS })
  }

  async function turnToRead({ caller, signal }: Sender): Promise<Release> {
    const leaveOwn = await turns.enter(`read of ${caller}`, { concurrent: READ.caller }, signal)
    try {
      return both(leaveOwn, await turns.enter('read', { concurrent: READ.all }, signal))
    } catch (error) {
      leaveOwn()
      throw error
    }
  }

  return async (body, by, work) => {
    const leave = place(by.caller)
    let file: FileHandle | undefined
    let leaveTurn: Release | undefined
    try {
      const block = Buffer.allocUnsafeSlow(BLOCK)
      const begun = performance.now()
      let [used, size] = [0, 0]
      for await (const piece of untilClosed(body)) {
        by.signal.throwIfAborted()
        if (performance.now() - begun > receiveMs) throw requestError('late_body', { seconds: receiveMs / 1_000 })
        const taken = piece.subarray(0, maxOctets - size)
        size += taken.length
        for (let at = 0; at < taken.length; ) {
          if (used === BLOCK) {
            file ??= await kept(nameless(folder))
            await kept(file.write(block, 0, used))
            used = 0
          }
          const part = taken.subarray(at, at + BLOCK - used)
          block.set(part, used)
          used += part.length
          at += part.length
        }
        if (size === maxOctets) break
      }
      if (file) leaveTurn = await turnToRead(by)
      return await work(read(file, size - used, block.subarray(0, used)))
    } finally {
      await file?.close()
      leaveTurn?.()
      leave()
    }
  }
}

/** A client that goes away is no fault of the service. */
async function* untilClosed(body: Octets): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw codeOf(cause) === 'ECONNRESET' ? requestError('broken_off', undefined, { cause }) : cause
  }
}

const both =
  (one: Release, other: Release): Release =>
  () => {
    one()
    other()
  }

/** A disk that is full, or a folder that cannot be written, is told to the caller. */
async function kept<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw requestError('not_kept', { reason: codeOf(cause) ?? messageOf(cause) }, { cause })
  }
}

/** A file that only its handle leads to: it is gone when that is closed, or the process ends. */
async function nameless(folder: string): Promise<FileHandle> {
  await makeFolder(folder)
  const path = join(folder, `upload-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    await unlink(path)
  } catch (error) {
    await file.close()
    throw error
  }
  return file
}

async function* read(file: FileHandle | undefined, size: number, rest: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; file && at < size; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(Math.min(BLOCK, size - at)), 0, null, at)
    if (bytesRead === 0) throw new Error('the file of an upload has become shorter')
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
  if (rest.length > 0) yield rest
}
