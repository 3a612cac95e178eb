import { within } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import type { ViewFlags } from '../cli/program.ts'
import { viewMarkdown, viewTable } from '../cli/view.ts'
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import type { Deps } from '../operations/deps.ts'
import type { JsonObject, Operation, Verdict } from '../operations/operation.ts'
import { readInput } from '../operations/read-input.ts'
import type { World } from '../world.ts'
import { asIf } from './as-if.ts'
import { type AskedServer, askServer } from './ask-server.ts'
import { createDeps } from './deps.ts'
import { openOutside } from './world.ts'

const EXIT: Record<Verdict, number> = { good: 0, bad: 1, unclear: 3 }
const FORMATS = ['table', 'json', 'markdown', 'html'] as const
type Format = (typeof FORMATS)[number]

export type Setting = {
  readonly config: Config
  readonly logger: Logger
  readonly version: string
  readonly print: (text: string) => void
  readonly onTerminal: boolean
  /** How the rooms are opened; the real ones when it is left out. */
  readonly open?: Open
}

export type Open = (setting: Pick<Setting, 'config' | 'logger' | 'version'>) => Promise<{
  readonly world: World
  readonly deps: Deps
  readonly close: () => Promise<void>
}>

/** Runs one operation for the command line, in this process or on a server, prints its answer and gives the exit status. */
export async function operate(
  asked: Operation,
  given: Readonly<Record<string, unknown>>,
  view: ViewFlags,
  setting: Setting,
): Promise<number> {
  const { operation, raw } = asIf(asked, given, view)
  const format = readFormat(operation, view.format, setting.onTerminal)
  const minScore = readMinScore(view.minScore)
  const input = readInput(operation.input, raw) as Record<string, unknown> // refused here too, so that a typo costs no question
  const answer = view.server
    ? await askServer(operation, raw, proverOf(view.server, setting.config))
    : await runHere(operation, input, setting)
  setting.print(show(operation, answer, format, setting.version))
  if (minScore !== undefined) return EXIT[scoreVerdict(answer, minScore)]
  return EXIT[operation.verdict?.(answer) ?? 'good']
}

async function runHere(operation: Operation, input: Record<string, unknown>, setting: Setting): Promise<JsonObject> {
  const { world, deps, close } = await (setting.open ?? openReal)(setting)
  const stop = new AbortController()
  const interrupted = (): void => stop.abort(new DOMException('stopped', 'AbortError'))
  process.once('SIGINT', interrupted)
  try {
    const deadlineMs =
      (typeof input.timeout === 'number' ? input.timeout : operation.deadlineMs) + (operation.graceMs ?? 0)
    return await operation.run({ ...world, signal: within(deadlineMs, stop.signal) }, deps, input)
  } finally {
    process.off('SIGINT', interrupted)
    await close()
  }
}

const openReal: Open = async ({ config, logger, version }) => {
  const outside = await openOutside(config, logger, version)
  const { deps, settle } = await createDeps(config, outside)
  const close = async (): Promise<void> => {
    await settle()
    await outside.close()
  }
  return { world: outside.world, deps, close }
}

/** With --peer-secret the call is proven as a node's own, by --node-id. */
const proverOf = (server: string, { apiKeys, peerSecret, nodeId }: Config): AskedServer => ({
  server,
  key: apiKeys[0],
  peerSecret,
  nodeId,
})

function show(operation: Operation, answer: JsonObject, format: Format, version: string): string {
  const document = operation.documents?.[format]
  if (document) return document.render(answer, { version })
  if (format === 'json' && operation.stream)
    return (answer.data as JsonObject[]).map((one) => JSON.stringify(one)).join('\n')
  if (format === 'json') return JSON.stringify(answer, null, 2)
  return format === 'markdown' ? viewMarkdown(answer) : viewTable(answer)
}

function readFormat(operation: Operation, text: string | undefined, onTerminal: boolean): Format {
  const format = text ?? (onTerminal ? 'table' : 'json')
  const known = FORMATS.filter((name) => name !== 'html' || operation.documents?.html)
  if ((known as readonly string[]).includes(format)) return format as Format
  throw new AppError('invalid_parameter', `--format: ${JSON.stringify(format)} is not one of ${known.join(', ')} here`)
}

function readMinScore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new AppError('invalid_parameter', `--min-score: ${JSON.stringify(text)} is not a whole number from 0 to 100`)
  return Number(text)
}

/** Under the wanted score is bad; where what is unknown decides it, it cannot be told. */
function scoreVerdict(answer: JsonObject, wanted: number): Verdict {
  const score = answer.score as number
  const least = (answer.score_min as number | undefined) ?? score
  const most = (answer.score_max as number | undefined) ?? score
  if (least >= wanted) return 'good'
  return most < wanted ? 'bad' : 'unclear'
}
