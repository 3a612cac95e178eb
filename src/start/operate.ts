import { within } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { formatJson, type JsonObject } from '../base/json.ts'
import type { ViewFlags } from '../cli/program.ts'
import type { Config } from '../config.ts'
import type { Deps } from '../operations/deps.ts'
import type { Operation, Verdict } from '../operations/operation.ts'
import { readInput } from '../operations/read-input.ts'
import type { Log, World } from '../world.ts'
import type { AskedService } from './ask-service.ts'
import { createDeps } from './deps.ts'
import { openOutside } from './world.ts'

const EXIT: Record<Verdict, number> = { good: 0, bad: 1, unclear: 3 }
const FORMATS = ['table', 'json', 'markdown', 'html'] as const
type Format = (typeof FORMATS)[number]

export type Setting = {
  readonly config: Config
  readonly log: Log
  readonly version: string
  readonly print: (text: string) => void
  readonly onTerminal: boolean
  /** How the rooms are opened; the real ones when it is left out. */
  readonly open?: Open
}

/** Opens the outside, and of the rooms those that are needed; undefined: all. */
export type Open = (
  setting: Pick<Setting, 'config' | 'log' | 'version'>,
  needs: readonly (keyof Deps)[] | undefined,
) => Promise<{
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
  const isSupposed = view.with !== undefined || view.zone !== undefined
  const { operation, raw } = isSupposed
    ? (await import('./as-if.ts')).asIf(given, view)
    : { operation: asked, raw: given }
  const format = readFormat(operation, view.format, setting.onTerminal)
  const minScore = readMinScore(view.minScore)
  const input = readInput(operation.input, raw) as Record<string, unknown> // refused here too, so that a typo costs no question
  const give = async (answer: JsonObject): Promise<void> =>
    setting.print(await show(operation, answer, format, setting.version))
  const answer = view.server
    ? await runThere(operation, raw, proverOf(view.server, setting.config), give)
    : await runHere(operation, input, setting, give)
  if (minScore !== undefined) return EXIT[scoreVerdict(answer, minScore)]
  return EXIT[operation.verdict?.(answer) ?? 'good']
}

type Give = (answer: JsonObject) => Promise<void>

async function runThere(
  operation: Operation,
  raw: Readonly<Record<string, unknown>>,
  server: AskedService,
  give: Give,
): Promise<JsonObject> {
  const { askService } = await import('./ask-service.ts')
  const answer = await askService(operation, raw, server)
  await give(answer)
  return answer
}

async function runHere(
  operation: Operation,
  input: Record<string, unknown>,
  setting: Setting,
  give: Give,
): Promise<JsonObject> {
  const needs = input.vantage === undefined ? operation.needs : undefined
  const { world, deps, close } = await (setting.open ?? openReal)(setting, needs)
  const stop = new AbortController()
  const interrupted = (): void => stop.abort(new DOMException('stopped', 'AbortError'))
  process.once('SIGINT', interrupted)
  try {
    const deadlineMs =
      (typeof input.timeout === 'number' ? input.timeout : operation.deadlineMs) + (operation.graceMs ?? 0)
    const answer = await operation.run({ ...world, signal: within(deadlineMs, stop.signal) }, deps, input)
    await give(answer) // before the rooms write down what they remember: nobody waits for that
    return answer
  } finally {
    process.off('SIGINT', interrupted)
    await close()
  }
}

const openReal: Open = async ({ config, log, version }, needs) => {
  const outside = await openOutside(config, log, version)
  const { deps, settle } = await createDeps(config, outside, needs)
  const close = async (): Promise<void> => {
    await settle()
    await outside.close()
  }
  return { world: outside.world, deps, close }
}

/** With --peer-secret the call is proven as a node's own, by --node-id. */
const proverOf = (server: string, { apiKeys, peerSecret, nodeId }: Config): AskedService => ({
  server,
  key: apiKeys[0],
  peerSecret,
  nodeId,
})

async function show(operation: Operation, answer: JsonObject, format: Format, version: string): Promise<string> {
  const document = operation.documents?.[format]
  if (document) return document.render(answer, { version })
  if (format === 'json' && operation.stream)
    return (answer.data as JsonObject[]).map((one) => formatJson(one)).join('\n')
  if (format === 'json') return formatJson(answer, 2)
  const { viewMarkdown, viewTable } = await import('../cli/view.ts')
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
