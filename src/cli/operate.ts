import { sleep } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { formatJson, isJsonRecord } from '../base/json.ts'
import type { Execute } from '../operations/execute.ts'
import type { Given, Verdict } from '../operations/given.ts'
import type { Operation, Raw, Upload } from '../operations/operation.ts'
import type { AskedService } from './ask-service.ts'
import { type Asked, formatsOf } from './commands.ts'

const EXIT: Record<Verdict, number> = { good: 0, bad: 1, unclear: 3 }

export type Setting = {
  readonly version: string
  readonly print: (text: string) => void
  readonly onTerminal: boolean
  /** Opens this process's own service; `close` writes down what it remembers. */
  readonly open: () => Promise<{ readonly execute: Execute; readonly close: () => Promise<void> }>
  /** The running service to ask instead, where there is one. */
  readonly service: AskedService | undefined
  /** A line of progress, beside the answer. */
  readonly tell: (line: string) => void
  /** Writes a piece of a stream, and waits until it is taken. */
  readonly write: (text: string) => Promise<void>
  /** Opens a file to upload. Throws AppError. */
  readonly openUpload: (path: string) => Upload
  readonly find: (operation: string) => Promise<Operation | undefined>
}

/** Runs one operation for the command line, in this process or on a server, prints its answer and gives the exit status. */
export async function operate(asked: Omit<Asked, 'flags'>, setting: Setting): Promise<number> {
  const { operation, raw, view, upload } = asked
  const format = readFormat(operation, view.format, setting.onTerminal)
  const minScore = readMinScore(view.minScore)
  const input = operation.streams?.includes(format) ? { ...raw, format } : raw
  operation.ask(input) // refused here too, so that a typo costs no question
  const body = upload === undefined ? undefined : setting.openUpload(upload)
  const session = await (setting.service ? there(setting.service) : here(setting))
  try {
    const first = await session.ask(operation, input, body)
    const given = view.wait ? await follow(operation, first, session, setting) : first
    await give(operation, given, format, setting)
    return session.interrupted() ? INTERRUPTED : EXIT[given.verdict(minScore)]
  } finally {
    await session.close()
  }
}

const INTERRUPTED = 130

/** Where questions are put: this process, or a running service. */
type Session = {
  readonly ask: (operation: Operation, raw: Raw, upload?: Upload) => Promise<Given>
  /** Fires at Ctrl-C. */
  readonly stopped: AbortSignal
  readonly interrupted: () => boolean
  readonly close: () => Promise<void>
}

async function there(service: AskedService): Promise<Session> {
  const { askService } = await import('./ask-service.ts')
  const stop = interruption()
  return {
    ...stop,
    ask: (operation, raw, upload) => askService(operation, raw, service, upload),
    close: async () => stop.release(),
  }
}

async function here({ open }: Setting): Promise<Session> {
  const { execute, close } = await open()
  const stop = interruption()
  return {
    ...stop,
    ask: (operation, raw, upload) => execute(operation, raw, { signal: stop.stopped, ...(upload && { upload }) }),
    close: async () => {
      stop.release()
      await close() // it writes down what it remembers: the answer is printed by then
    },
  }
}

function interruption(): Pick<Session, 'stopped' | 'interrupted'> & { readonly release: () => void } {
  const stop = new AbortController()
  const fire = (): void => stop.abort(new DOMException('stopped', 'AbortError'))
  process.once('SIGINT', fire)
  return { stopped: stop.signal, interrupted: () => stop.signal.aborted, release: () => process.off('SIGINT', fire) }
}

const FOLLOW_EVERY_MS = 1_000

/** Tells how far work in the background is, until it has ended or Ctrl-C; gives what was said last. */
async function follow(operation: Operation, first: Given, session: Session, setting: Setting): Promise<Given> {
  const by = operation.followedBy === undefined ? undefined : await setting.find(operation.followedBy)
  let given = first
  for (let progress = given.progress(); by && progress && !progress.hasEnded; progress = given.progress()) {
    setting.tell(progress.line)
    await sleep(FOLLOW_EVERY_MS, session.stopped).catch(() => {})
    if (session.interrupted()) {
      const words = `mailsonde ${by.name} ${Object.values(progress.raw).join(' ')} --wait`
      setting.tell(`it goes on; come back with: ${words}`)
      return given
    }
    given = await session.ask(by, progress.raw)
  }
  setting.tell(given.progress()?.line ?? '')
  return given
}

async function give(operation: Operation, given: Given, format: string, setting: Setting): Promise<void> {
  if (!given.stream) return setting.print(await show(operation, given, format, setting))
  for await (const piece of given.stream.text) await setting.write(piece)
}

async function show(
  operation: Operation,
  given: Given,
  format: string,
  about: { readonly version: string },
): Promise<string> {
  const document = await given.rendered(format, about)
  if (document) return document.text
  const { answer } = given
  if (!isJsonRecord(answer)) throw new Error(`the answer of ${operation.name} is no object`)
  if (format === 'json') {
    const lines = given.lines()?.filter(isJsonRecord)
    return lines ? lines.map((line) => formatJson(line)).join('\n') : formatJson(answer, 2)
  }
  const { viewMarkdown, viewTable } = await import('./view.ts')
  return format === 'markdown' ? viewMarkdown(answer) : viewTable(answer)
}

function readFormat(operation: Operation, text: string | undefined, onTerminal: boolean): string {
  const format = text ?? (onTerminal ? 'table' : 'json')
  const known = formatsOf(operation)
  if (known.includes(format)) return format
  throw new AppError('invalid_parameter', `--format: ${JSON.stringify(format)} is not one of ${known.join(', ')} here`)
}

function readMinScore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new AppError('invalid_parameter', `--min-score: ${JSON.stringify(text)} is not a whole number from 0 to 100`)
  return Number(text)
}
