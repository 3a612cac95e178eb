import { createHash } from 'node:crypto'
import { constants as flags } from 'node:fs'
import { chmod, type FileHandle, mkdir, mkdtemp, open, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { makeFolder, NotOwnFile, openOwnFile, readOwnFile, replaceFile } from '../own-file.ts'
import { privateDatabaseError } from './problems.ts'

/** The user and group that run the server; undefined if the program does not run as root. */
export type Account = { readonly uid?: number; readonly gid?: number }

/**
 * The location of the files of a data folder's private server. `folder` belongs to the server's user: as root, the
 * program reads there but changes nothing, because that user could replace any name in it by a link.
 */
export type Place = {
  readonly folder: string
  readonly cluster: string
  readonly socketDir: string
  /** The log of the server, beside its folder; it belongs to the program. */
  readonly logPath: string
}

/**
 * Maximum length of the socket's folder: the path of a Unix socket has at most 107 octets (sun_path in unix(7)), of
 * which `/.s.PGSQL.5432` takes 14.
 */
const MAX_SOCKET_DIR = 92
/** The location of the server's files if its user cannot enter the data folder. */
export const SYSTEM_FOLDER = '/var/lib/mailsonde'
/** Size above which the log is started again. */
const MAX_LOG = 4 * 1024 * 1024

/**
 * The user that runs the server; PostgreSQL refuses to run as root. Throws AppError if root names a user that does not
 * exist or is root itself.
 */
export async function accountOf(user: string): Promise<Account> {
  if (process.getuid?.() !== 0) return {}
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((one) => one.startsWith(`${user}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined || Number(uid) === 0)
    throw privateDatabaseError('user', { user }, { at: '--db-user' })
  return { uid: Number(uid), gid: Number(gid) }
}

/**
 * The folders of the server, created if they are missing and owned by its user. They are in the data folder; if the
 * server's user cannot enter that, they are below `/var/lib/mailsonde`.
 */
export async function placeFor(dataDir: string, account: Account): Promise<Place> {
  await makeFolder(dataDir)
  const folder = await folderFor(resolve(dataDir), account)
  await ownFolder(folder, account)
  const socketDir = Buffer.byteLength(folder) <= MAX_SOCKET_DIR ? folder : await shortSocketDir(folder, account)
  return { folder, cluster: join(folder, 'cluster'), socketDir, logPath: `${folder}.log` }
}

/** Opens the log of the server to append to it. The server inherits the open file. */
export async function openLog({ logPath: path }: Place): Promise<FileHandle> {
  const file = await ownFileOrFault(path, () => openOwnFile(path, { append: true, create: true }))
  if ((await file.stat()).size > MAX_LOG) await file.truncate(0)
  return file
}

/**
 * The result of `work` on a file of the program's own. Rejects with AppError if others may have placed or changed it.
 */
export async function ownFileOrFault<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof NotOwnFile)) throw cause
    throw privateDatabaseError('file', { path, why: cause.why }, { cause })
  }
}

async function folderFor(dataDir: string, account: Account): Promise<string> {
  const inside = join(dataDir, 'postgres')
  if (account.uid === undefined) return inside
  if ((await mayEnter(dirname(dataDir), account)) && (await allowTraversal(dataDir, account))) return inside
  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 })
  return join(SYSTEM_FOLDER, `postgres-${shortHash(dataDir)}`)
}

/** The data folder itself belongs to the program: the server may pass through it, but not list it. */
async function allowTraversal(dataDir: string, account: Account): Promise<boolean> {
  if (!(await mayEnter(dataDir, account))) await chmod(dataDir, 0o711)
  return mayEnter(dataDir, account)
}

/** Whether a user may enter a folder and all its parents. */
export async function mayEnter(path: string, account: Account): Promise<boolean> {
  const { mode, uid, gid } = await stat(path)
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  if ((mode & bit) === 0) return false
  return dirname(path) === path || mayEnter(dirname(path), account)
}

/** A folder with a random name below the system's folder for temporary files; its name is stored beside `folder`. */
async function shortSocketDir(folder: string, account: Account): Promise<string> {
  const path = `${folder}.socket`
  const known = await ownFileOrFault(path, () => readOwnFile(path, MAX_SOCKET_DIR))
  if (known !== undefined && (await isOwnFolder(known, account))) return known
  const made = await mkdtemp(join(tmpdir(), 'mailsonde-')) // a random name that did not exist
  await ownFolder(made, account)
  await replaceFile(path, made, { durable: false })
  return made
}

const isOwnFolder = (path: string, account: Account): Promise<boolean> =>
  ownFolder(path, account, { create: false }).then(
    () => true,
    () => false,
  )

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/**
 * A folder that only the server's user may enter. A link, and a folder that belongs to another user, are refused,
 * because that user may have planted them. All is done on the open folder, so that nobody can replace it by another one
 * in between.
 */
async function ownFolder(path: string, account: Account, { create = true } = {}): Promise<void> {
  if (create) await mkdir(path, { mode: 0o700 }).catch(unlessThere)
  const folder = await open(path, flags.O_RDONLY | flags.O_DIRECTORY | flags.O_NOFOLLOW).catch((cause: Error) => {
    throw privateDatabaseError('folder', { path, reason: cause.message }, { cause })
  })
  try {
    const wanted = account.uid ?? process.getuid?.()
    if (create && account.uid !== undefined && (await folder.stat()).uid === 0)
      await folder.chown(account.uid, account.gid ?? -1)
    const { uid, mode } = await folder.stat()
    if (wanted !== undefined && uid !== wanted)
      throw privateDatabaseError('folder', { path, reason: `it belongs to another user (${uid})` })
    if ((mode & 0o777) !== 0o700) await folder.chmod(0o700)
  } finally {
    await folder.close()
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
