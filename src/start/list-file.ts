import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseDuration } from '../base/duration.ts'
import { invalidFlag } from '../base/errors.ts'
import type { ListAsked } from '../cli/list-command.ts'
import { interruption } from '../cli/session.ts'
import type { Config } from '../config.ts'
import { answerList, type ListFile, type ListProgress, resultsOf } from '../jobs/file/list-file.ts'
import type { Execute } from '../operations/execute.ts'
import type { Upload } from '../operations/operation.ts'
import { openJournal } from '../store/files/journal.ts'
import { askBy } from './jobs.ts'
import { fileError, optionError } from './problems.ts'

export type ListSetting = {
  readonly open: () => Promise<{ readonly execute: Execute; readonly close: () => Promise<void> }>
  readonly openUpload: (path: string) => Upload
  readonly tell: (line: string) => void
  readonly complain: (text: string) => void
}

/**
 * Processes a list file in this process and writes its results, without a service or a database. Answers are appended to `RESULTS.part` beside the results:
 * after Ctrl-C or a crash the same command continues with the remaining rows. Returns the exit status; throws AppError.
 */
export async function workOnList(asked: ListAsked, config: Config, setting: ListSetting): Promise<number> {
  const { kind, file, out, column } = asked
  if (file === '-') throw optionError('standard_input')
  const giveUp = parseDuration(asked.giveUpAfter)
  if (!giveUp.ok) throw invalidFlag('give-up-after', giveUp.problem, 'invalid_duration')
  const { contentType } = setting.openUpload(file)
  const part = `${out}.part`
  const { size, mtimeMs } = await stat(file)
  if (await stat(out).catch(() => undefined)) throw fileError('results_exist', { path: out })
  const answers = await openJournal(
    part,
    JSON.stringify({ mailsonde: 1, kind, size, modified: Math.round(mtimeMs), column }),
  )
  if (!answers) throw fileError('other_list', { path: part })
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
  if (answers.size() > 0) setting.complain(`resuming: ${answers.size()} answers exist already`)
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
    }
    const done = await answerList(list, work, interrupted.stopped)
    const format = /\.(?:ndjson|jsonl)$/i.test(out) ? 'ndjson' : 'csv'
    const text = Readable.from(resultsOf(list, answers, format), { objectMode: true })
    await pipeline(text, createWriteStream(`${out}.new`, { mode: 0o600 }), { signal: interrupted.stopped })
    await rename(`${out}.new`, out)
    await answers.close()
    await rm(part)
    setting.tell('')
    setting.complain(`${out}: ${done.rows} rows${badWords(done)}`)
    return 0
  } catch (error) {
    const status = interrupted.status()
    if (status === undefined) throw error
    setting.tell('')
    setting.complain(`stopped: ${answers.size()} answers are in ${part}; repeat the command to resume`)
    return status
  } finally {
    interrupted.release()
    await answers.close().catch(() => {})
    await session.close()
  }
}

const lineOf = ({ answered, rows, waiting, nextDueMs }: ListProgress): string => {
  const wait =
    waiting === 0 || nextDueMs === undefined
      ? ''
      : `; ${waiting} wait for a retry, the next at ${new Date(nextDueMs).toISOString().slice(11, 19)} UTC`
  return `${answered} answers; ${rows} rows read${wait}`
}

const badWords = ({ badCount, badRows }: ListProgress): string =>
  badCount === 0
    ? ''
    : `; ${badCount} could not be read or have no address:\n${badRows.map(({ line, reason }) => `  line ${line}: ${reason}`).join('\n')}`
