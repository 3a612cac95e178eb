import { AppError } from '../base/errors.ts'
import { formatJson, isJsonRecord } from '../base/json.ts'
import type { Execute } from '../operations/execute.ts'
import type { Given, Operation, Raw, Verdict } from '../operations/operation.ts'
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
}

/** Runs one operation for the command line, in this process or on a server, prints its answer and gives the exit status. */
export async function operate({ operation, raw, view }: Omit<Asked, 'flags'>, setting: Setting): Promise<number> {
  const format = readFormat(operation, view.format, setting.onTerminal)
  const minScore = readMinScore(view.minScore)
  operation.ask(raw) // refused here too, so that a typo costs no question
  const give = async (given: Given): Promise<void> => setting.print(await show(operation, given, format, setting))
  const given = setting.service
    ? await there(operation, raw, setting.service, give)
    : await here(operation, raw, setting, give)
  return EXIT[given.verdict(minScore)]
}

type Give = (given: Given) => Promise<void>

async function there(operation: Operation, raw: Raw, service: AskedService, give: Give): Promise<Given> {
  const { askService } = await import('./ask-service.ts')
  const given = await askService(operation, raw, service)
  await give(given)
  return given
}

async function here(operation: Operation, raw: Raw, { open }: Setting, give: Give): Promise<Given> {
  const { execute, close } = await open()
  const stop = new AbortController()
  const interrupted = (): void => stop.abort(new DOMException('stopped', 'AbortError'))
  process.once('SIGINT', interrupted)
  try {
    const given = await execute(operation, raw, { signal: stop.signal })
    await give(given) // before it is written down what is remembered: nobody waits for that
    return given
  } finally {
    process.off('SIGINT', interrupted)
    await close()
  }
}

async function show(
  operation: Operation,
  given: Given,
  format: string,
  about: { readonly version: string },
): Promise<string> {
  const document = given.document(format, about)
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

function readFormat({ formats }: Operation, text: string | undefined, onTerminal: boolean): string {
  const format = text ?? (onTerminal ? 'table' : 'json')
  const known = formatsOf(formats)
  if (known.includes(format)) return format
  throw new AppError('invalid_parameter', `--format: ${JSON.stringify(format)} is not one of ${known.join(', ')} here`)
}

function readMinScore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new AppError('invalid_parameter', `--min-score: ${JSON.stringify(text)} is not a whole number from 0 to 100`)
  return Number(text)
}
