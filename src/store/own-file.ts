import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { codeOf } from '../base/errors.ts'

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

/** Why a file is not used: it is none of ours, or others may have changed it. */
export type NotOwn = 'link' | 'not_a_file' | 'owner' | 'mode' | 'links'

/** A file that somebody else may have placed or changed. */
export class NotOwnFile extends Error {
  readonly path: string
  readonly why: NotOwn
  constructor(path: string, why: NotOwn) {
    super(`${path}: ${why}`)
    this.name = 'NotOwnFile'
    this.path = path
    this.why = why
  }
}

/**
 * Creates a folder and those above it, for this user alone. Rejects with the error of the file system, where Node.js
 * itself says ENOENT of one that is read-only.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path, { mode: 0o700 })
  }
}

/** How to open: to read what is there, or to append to it; `create`: a missing file is made, with mode 0600. */
type Purpose = { readonly append?: true; readonly create?: true }

/**
 * Opens a file that this user alone owns and may write, also in a folder that others can write: no link is followed,
 * and a file that has another owner, a second name or a mode for others to write is not used. Rejects with
 * {@link NotOwnFile} and with the error of the file system (ENOENT).
 */
export async function openOwnFile(path: string, { append, create }: Purpose = {}): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a named pipe would wait for its other end.
  const flags = (append ? O_RDWR | O_APPEND : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK
  const file = await opened(path, flags, create === true)
  const stat = await file.stat()
  const why = !stat.isFile() ? 'not_a_file' : problemOf(stat)
  if (why === undefined) return file
  await file.close()
  throw new NotOwnFile(path, why)
}

async function opened(path: string, flags: number, create: boolean): Promise<FileHandle> {
  try {
    return await open(path, flags)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ELOOP') throw new NotOwnFile(path, 'link')
    if (code === 'ENXIO') throw new NotOwnFile(path, 'not_a_file')
    if (code !== 'ENOENT' || !create) throw error
  }
  return open(path, flags | O_CREAT | O_EXCL, 0o600)
}

function problemOf({ uid, mode, nlink }: { uid: number; mode: number; nlink: number }): NotOwn | undefined {
  if (process.geteuid === undefined) return undefined // Windows has neither
  if (uid !== process.geteuid()) return 'owner'
  if ((mode & 0o022) !== 0) return 'mode'
  return nlink > 1 ? 'links' : undefined
}

/** The text of such a file, at most `maxBytes` of it; undefined if it is missing. */
export async function readOwnFile(path: string, maxBytes: number): Promise<string | undefined> {
  const file = await openOwnFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    return await headOf(file, maxBytes)
  } finally {
    await file.close()
  }
}

/** The first bytes of a file as text. */
export async function headOf(file: FileHandle, maxBytes: number): Promise<string> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
  return buffer.subarray(0, bytesRead).toString()
}

/**
 * Replaces the file by `text`, completely or not at all: the text is written to a new file of mode 0600, which then
 * gets the name. The new file has a random name and is opened with O_EXCL, so that no link is followed. `durable`: it
 * is on the disk before it gets the name. Rejects with the error of the file system.
 */
export async function replaceFile(
  path: string,
  text: string,
  { durable }: { readonly durable: boolean },
): Promise<void> {
  const next = `${path}.${randomBytes(8).toString('hex')}.new`
  const file = await open(next, 'wx', 0o600)
  try {
    await file.writeFile(text)
    if (durable) await file.sync()
  } catch (error) {
    await file.close()
    await unlink(next).catch(() => {})
    throw error
  }
  await file.close()
  await rename(next, path)
}

/**
 * Removes temporary files of {@link replaceFile} that killed processes left behind. The caller holds the lock of
 * `path`.
 */
export async function sweep(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)]
  for (const file of await readdir(folder).catch(() => []))
    if (file.startsWith(`${name}.`) && /\.[0-9a-f]{16}\.new$/.test(file))
      await unlink(join(folder, file)).catch(() => {})
}
