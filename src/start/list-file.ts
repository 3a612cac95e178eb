import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, lstat, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { invalidFlag } from '../base/errors.ts'
import { systemWords } from '../base/system-words.ts'
import { parseDuration } from '../base/time.ts'
import type { ListAsked } from '../cli/list-command.ts'
import { interruption } from '../cli/session.ts'
import type { Config } from '../config.ts'
import { answerList, isAnswer, type ListFile, type ListProgress, resultsOf } from '../jobs/list-file.ts'
import { listError } from '../jobs/problems.ts'
import type { Execute } from '../operations/execute.ts'
import type { Upload } from '../operations/operation.ts'
import { type Journal, openJournal } from '../store/files/journal.ts'
import { NotOwnFile } from '../store/own-file.ts'
import { askBy } from './jobs.ts'
import { fileError, listNotice, optionError } from './problems.ts'

type ListSetting = {
  readonly open: () => Promise<{ readonly execute: Execute; readonly close: () => Promise<void> }>
  readonly openUpload: (path: string) => Upload
  readonly tell: (line: string) => void
  readonly complain: (text: string) => void
}

/**
 * Processes a list file in this process and writes its results, without a service or a database. Answers are appended
 * to `RESULTS.part` beside the results: after Ctrl-C or a crash the same command continues with the remaining rows.
 * Both files may be in a folder that others can write: no link is followed, new files get names that did not exist and
 * mode 0600, and a journal that others own or may write is refused. Returns the exit status; throws AppError.
 */
export async function workOnList(asked: ListAsked, config: Config, setting: ListSetting): Promise<number> {
  const { kind, file, out, column } = asked
  if (file === '-') throw optionError('standard_input')
  const giveUp = parseDuration(asked.giveUpAfter)
  if (!giveUp.ok) throw invalidFlag('give-up-after', giveUp.problem, { code: 'invalid_duration' })
  await refuseForeignLink(file)
  const { contentType } = setting.openUpload(file)
  const part = `${out}.part`
  const { size, mtimeMs } = await stat(file)
  if (await lstat(out).catch(() => undefined)) throw fileError('results_exist', { path: out })
  const answers = await journalAt(part, { mailsonde: 1, kind, size, modified: Math.round(mtimeMs), column })
  const list: ListFile = {
    kind,
    contentType,
    open: () => setting.openUpload(file).octets,
    ...(column !== undefined && { column }),
    maxUpload: config.maxUpload,
    options: {},
    giveUpMs: giveUp.value,
  }
  const interrupted = interruption()
  const session = await setting.open()
  const { now } = Date
  let told = ''
  const faults = new Set<string>()
  if (answers.size() > 0) setting.complain(listNotice('resuming', { count: answers.size() }).text)
  try {
    const work = {
      ask: askBy(session.execute),
      answers,
      now,
      tell: (progress: ListProgress) => {
        const line = lineOf(progress)
        if (line !== told) setting.tell(line)
        told = line
      },
      onFault: (error: unknown) => {
        const reason = String(error)
        if (!faults.has(reason)) setting.complain(listNotice('fault', { reason }).text)
        faults.add(reason)
      },
    }
    const done = await answerList(list, work, interrupted.stopped)
    if (done.rows === 0) {
      await answers.close()
      await rm(part)
      throw listError('empty')
    }
    const format = /\.(?:ndjson|jsonl)$/i.test(out) ? 'ndjson' : 'csv'
    const text = Readable.from(resultsOf(list, answers, format), { objectMode: true })
    await writeNew(out, text, interrupted.stopped)
    await answers.close()
    await rm(part)
    setting.tell('')
    setting.complain(endOf(out, done))
    return 0
  } catch (error) {
    const status = interrupted.status()
    if (status === undefined) throw error
    setting.tell('')
    setting.complain(listNotice('stopped', { count: answers.size(), path: part }).text)
    return status
  } finally {
    interrupted.release()
    await answers.close().catch(() => {})
    await session.close()
  }
}

async function journalAt(path: string, about: object): Promise<Journal> {
  try {
    const journal = await openJournal(path, JSON.stringify(about), isAnswer)
    if (journal) return journal
  } catch (cause) {
    if (cause instanceof NotOwnFile) throw fileError('not_own', { path, why: cause.why }, { cause })
    throw fileError('unreadable', { path, reason: systemWords(cause) }, { cause })
  }
  throw fileError('other_list', { path })
}

/**
 * Links that others laid are not followed, as with the kernel's `fs.protected_symlinks` in a sticky folder: they lead
 * to files that those users cannot read.
 */
async function refuseForeignLink(path: string): Promise<void> {
  const [{ uid, mode }, found] = await Promise.all([stat(dirname(path)), lstat(path)]).catch((cause: Error) => {
    throw fileError('unreadable', { path, reason: systemWords(cause) }, { cause })
  })
  if (process.geteuid === undefined || !found.isSymbolicLink()) return
  const isOwn = found.uid === process.geteuid() || ((mode & 0o022) === 0 && found.uid === uid)
  if (!isOwn) throw fileError('not_own', { path, why: 'link' })
}

/** Writes a file that does not exist yet, as a whole or not at all, with mode 0600. */
async function writeNew(path: string, text: Readable, signal: AbortSignal): Promise<void> {
  const made = `${path}.${randomBytes(8).toString('hex')}.new`
  try {
    await pipeline(text, createWriteStream(made, { mode: 0o600, flags: 'wx' }), { signal })
    await link(made, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw fileError('results_exist', { path })
      await rename(made, path) // a file system without hard links
    })
  } finally {
    await rm(made, { force: true })
  }
}

function lineOf({ answered: count, rows, waiting, nextDueMs }: ListProgress): string {
  if (waiting === 0 || nextDueMs === undefined) return listNotice('answers', { count, rows }).text
  const time = new Date(nextDueMs).toISOString().slice(11, 19)
  return listNotice('answers_waiting', { count, rows, waiting, time }).text
}

/** The end of the work, with the rows that could not be read. */
function endOf(path: string, { rows: count, badCount: bad, badRows }: ListProgress): string {
  if (bad === 0) return listNotice('done', { path, count }).text
  const lines = badRows.map((row) => `  ${listNotice('bad_row', row).text}`)
  return `${listNotice('done_in_part', { path, count, bad }).text}:\n${lines.join('\n')}`
}
