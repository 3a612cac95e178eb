import { constants, type Dir, type Dirent, lstatSync, opendirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReportsImportAnswer } from '../answers/reports.ts'
import { only } from '../base/at-most.ts'
import { isTimeout, sleep } from '../base/deadline.ts'
import { AppError, codeOf, ERRORS, messageOf } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { type AskedService, askService } from '../cli/ask-service.ts'
import type { Config } from '../config.ts'
import { ofFile, reportsImportDocument } from '../documents/reports.ts'
import { formatTerminal, type Look } from '../documents/terminal/terminal.ts'
import { reportsImport } from '../operations/reports/import.ts'
import type { ImportRequest } from '../reports/import.ts'
import { afterLine, buffered, nextSeparator, unquoted } from '../reports/parse/containers.ts'
import { presentImport } from '../reports/present.ts'
import type { ReportService } from '../reports/service.ts'
import { openKeyFile } from '../store/key-file.ts'
import { isAway } from '../store/postgres/connect.ts'
import { embeddedConnection } from '../store/postgres/embedded.ts'
import type { Log } from '../world.ts'
import { createDeps } from './deps.ts'
import { keyPath } from './keys.ts'
import { delivererOf } from './mail-in.ts'
import { openOutside } from './world.ts'

/** EX_TEMPFAIL of sysexits.h: a mail server keeps the message and tries again. */
const EX_TEMPFAIL = 75
/** Files that one command reads. */
const MAX_FILES = 1_000_000
const IMPORT_MS = 15 * 60_000

type Setup = {
  readonly log: Log
  readonly version: string
  readonly service: AskedService | undefined
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
  readonly look: Look
}

/**
 * `mailsonde reports import FILE…`: files, folders, Maildir, mbox, `-`. A file that cannot be opened or read stops no
 * other. Returns the exit status: 0 done, 1 a report
 * could not be read, 2 there is no such file or no report in any of them, 75 when another attempt can help. A message
 * on standard input counts only if its sender is proven, and is never a reason for a bounce: what is no report is
 * logged, and the status is 0.
 */
export async function importFiles(paths: readonly string[], config: Config, setup: Setup): Promise<number> {
  const { service: remote, complain, print, look, version } = setup
  if (remote !== undefined && paths.includes('-')) {
    complain('mailsonde: a message on standard input is taken beside the database: leave --server out')
    return 2
  }
  const outside = await openOutside(await besideService(config), setup.log, version)
  const made = createDeps(await besideService(config), outside)
  try {
    const { reports } = await made.provide(['reports'])
    const take: Take = remote === undefined ? importedBy(reports) : askedOf(remote, config.maxReport)
    const answers: ReportsImportAnswer[] = []
    let worst = 0
    /** A fault of one file or message: the others are read. What is wrong in it stands among the refused. */
    const faultOf = (path: string) => (error: unknown) => {
      if (concernsAll(error)) throw error
      if (error instanceof AppError && (error.code === 'bad_report' || error.code === 'payload_too_large')) {
        const refused = [{ name: path, code: error.code, detail: error.message }]
        answers.push({ reports: [], refused, failure_reports: 0, foreign_rows: 0 })
        return
      }
      complain(`mailsonde: ${printable(path, 200)}: ${printable(messageOf(error), 1_000)}`)
      worst = Math.max(worst, isOfInput(error) ? 2 : 1)
    }
    for (const path of paths) {
      if (path === '-') await importMessage(config, reports, outside.world)
      else
        for (const file of filesBelow(path, faultOf))
          answers.push(...(await importFile(take, file, config.maxReport, faultOf)))
    }
    if (paths.every((path) => path === '-')) return 0
    const sums: ReportsImportAnswer = {
      reports: answers.flatMap((one) => one.reports),
      refused: answers.flatMap((one) => one.refused),
      failure_reports: answers.reduce((sum, one) => sum + one.failure_reports, 0),
      foreign_rows: answers.reduce((sum, one) => sum + one.foreign_rows, 0),
    }
    if (!paths.includes('-') && sums.reports.length + sums.refused.length + sums.failure_reports === 0) {
      if (worst === 0)
        complain(`mailsonde: there is no report in ${paths.map((path) => printable(path, 200)).join(', ')}`)
      return 2
    }
    print(formatTerminal(reportsImportDocument(sums, version), look))
    if (worst > 0) return worst
    return sums.refused.some(({ code }) => code === 'bad_report' || code === 'payload_too_large') ? 1 : 0
  } catch (error) {
    complain(`mailsonde: ${printable(messageOf(error), 1_000)}`)
    return isOfInput(error) ? 2 : EX_TEMPFAIL
  } finally {
    await made.shutDown()
    await outside.close()
  }
}

/** A file that cannot be opened stays so, and an option that is refused, too: another attempt does not help. */
const isOfInput = (error: unknown): boolean =>
  error instanceof AppError
    ? error.code === 'invalid_parameter'
    : ['ENOENT', 'EACCES', 'ENOTDIR', 'EISDIR', 'ELOOP'].includes(codeOf(error) ?? '') &&
      'path' in (error as NodeJS.ErrnoException)

/** Whether no other file can be stored either: the database or its storage. */
const concernsAll = (error: unknown): boolean =>
  !isOfInput(error) &&
  (isAway(error) ||
    isTimeout(error) ||
    (error instanceof AppError && (ERRORS[error.code].status >= 500 || error.code === 'too_much_stored')))

/** The private database of a running service is used through its socket: two servers cannot share a folder. */
async function besideService(config: Config): Promise<Config> {
  if (config.databaseUrl !== undefined) return config
  try {
    const { host, user, password } = await embeddedConnection(config.dataDir, config.dbUser)
    statSync(join(host, '.s.PGSQL.5432'))
    const url = `postgres://${user}:${encodeURIComponent(password)}@/postgres?host=${encodeURIComponent(host)}`
    return { ...config, databaseUrl: url }
  } catch {
    return config // no service runs: this process starts the database
  }
}

async function importMessage(
  config: Config,
  reports: () => Promise<ReportService>,
  world: Parameters<typeof delivererOf>[3],
): Promise<void> {
  const keys = openKeyFile(keyPath(config), world.monotonic).read()
  const deliver = delivererOf(config, reports, () => (keys.kind === 'keys' ? keys.keys : []), world)
  let message: Buffer
  try {
    message = await buffered(process.stdin, config.maxReport)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    world.log.warn('a message is larger than --max-report', { way: 'pipe' })
    process.stdin.resume() // the mail server writes all of it, and must not get a broken pipe
    return
  }
  await deliver(message, 'pipe', AbortSignal.timeout(IMPORT_MS))
}

/** Stores the reports of an input. Rejects with AppError. */
type Take = (input: FileInput, signal: AbortSignal) => Promise<ReportsImportAnswer>

const importedBy =
  (reports: () => Promise<ReportService>): Take =>
  async ({ name, octets }, signal) => {
    const request: ImportRequest = { name, way: 'file', owner: '', signal, accepts: () => 'taken' }
    return presentImport(await (await reports()).import(octets, request))
  }

/** Time until the service is asked again that says that it was asked too often, ms. */
const AGAIN_MS = 10_000

const askedOf =
  (service: AskedService, maxOctets: number): Take =>
  async ({ name, octets }, signal) => {
    const whole = octets instanceof Uint8Array ? octets : await buffered(octets, maxOctets)
    for (;;) {
      const upload = { octets: only(whole), contentType: 'application/octet-stream' }
      try {
        const { answer } = await askService(reportsImport, {}, service, signal, upload)
        return ofFile(answer as ReportsImportAnswer, printable(name, 200))
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error
        await sleep(AGAIN_MS, signal)
      }
    }
  }

async function importFile(
  take: Take,
  { path, isNamed }: Found,
  maxOctets: number,
  faultOf: (name: string) => (error: unknown) => void,
): Promise<readonly ReportsImportAnswer[]> {
  const answers: ReportsImportAnswer[] = []
  const signal = AbortSignal.timeout(IMPORT_MS)
  try {
    for await (const input of inputsOf(path, isNamed, maxOctets))
      await take(input, signal).then((one) => answers.push(one), faultOf(input.name))
  } catch (error) {
    faultOf(path)(error)
  }
  return answers
}

/** `isNamed`: by a person, who may mean what a link leads to. */
type Found = { readonly path: string; readonly isNamed: boolean }

/**
 * The files at and below a path; a Maildir is a folder. Links are not followed. What cannot be opened is left out, and
 * `faultOf` gets it.
 */
function* filesBelow(
  path: string,
  faultOf: (path: string) => (error: unknown) => void,
  budget = { left: MAX_FILES },
  isNamed = true,
): Generator<Found> {
  let folder: Dir
  try {
    if (!(isNamed ? statSync(path) : lstatSync(path)).isDirectory()) {
      if (budget.left-- > 0) yield { path, isNamed }
      return
    }
    folder = opendirSync(path)
  } catch (error) {
    return faultOf(path)(error)
  }
  try {
    for (let entry: Dirent | null = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (entry.name === 'tmp' && entry.isDirectory()) continue // of a Maildir: not delivered yet
      if (entry.isDirectory() || entry.isFile()) yield* filesBelow(join(path, entry.name), faultOf, budget, false)
    }
  } finally {
    folder.closeSync()
  }
}

type FileInput = { readonly name: string; readonly octets: Uint8Array | AsyncIterable<Uint8Array> }

/** The messages of an mbox file, which may be far larger than a report, or the whole of another file. */
async function* inputsOf(path: string, isNamed: boolean, maxOctets: number): AsyncGenerator<FileInput> {
  // Found in a folder: a link that took the place of a file since is refused.
  const file = await open(path, isNamed ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NOFOLLOW)
  const stream = file.createReadStream({ highWaterMark: 1_048_576 })
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  try {
    const first = await chunks.next()
    const all = async function* (): AsyncGenerator<Buffer> {
      for (let next = first; !next.done; next = await chunks.next()) yield next.value
    }
    if (first.done || !first.value.subarray(0, 5).equals(FROM)) yield { name: path, octets: all() }
    else yield* messagesOf(path, all(), maxOctets)
  } finally {
    stream.destroy()
    await file.close()
  }
}

const FROM = Buffer.from('From ')
/** Octets of what separates two messages: the end of an empty line and {@link FROM}. */
const SEPARATOR = 8

/**
 * The messages of an mbox (RFC 4155). Of one that is too large only so much is kept that it is refused; memory does not
 * grow with the number of lines.
 */
export async function* messagesOf(
  path: string,
  chunks: AsyncIterable<Buffer>,
  maxOctets: number,
): AsyncGenerator<FileInput> {
  let kept: Buffer[] = []
  let size = 0
  let number = 0
  let rest = Buffer.alloc(0)
  const keep = (piece: Buffer): void => {
    if (size <= maxOctets) kept.push(piece)
    size += piece.length
  }
  const message = (): FileInput => {
    const whole = Buffer.concat(kept)
    kept = []
    size = 0
    return { name: `${path}#${++number}`, octets: unquoted(whole.subarray(afterLine(whole, 0))) }
  }
  for await (const chunk of chunks) {
    const text = Buffer.concat([rest, chunk])
    let from = 0
    for (let at = nextSeparator(text, 0); at >= 0; at = nextSeparator(text, at)) {
      keep(text.subarray(from, at))
      yield message()
      from = at
    }
    const end = Math.max(from, text.length - SEPARATOR)
    keep(text.subarray(from, end))
    rest = text.subarray(end)
  }
  keep(rest)
  yield message()
}
