import { formatJson, isJsonRecord, type JsonRecord } from '../base/json.ts'
import { printable, withoutCommands } from '../base/text.ts'
import type { Look } from '../documents/terminal/terminal.ts'
import type { Given, Operation, TextStream, Verdict } from '../operations/operation.ts'
import { verdictLine } from './machine/outcome.ts'
import type { Form } from './view-flags.ts'

type Shown = {
  readonly operation: Operation
  readonly given: Given
  readonly verdict: Verdict
  /** The target; undefined if the operation has none. */
  readonly target: string | undefined
}

/** The answer as JSON. Throws if it is not an object, which would be a bug. */
export function recordOf({ operation, given }: Pick<Shown, 'operation' | 'given'>): JsonRecord {
  if (isJsonRecord(given.answer)) return given.answer
  throw new Error(`the answer of ${operation.name} is no object`)
}

/** An answer as text that ends in a newline. `inLines`: JSON on one line, because other answers follow. */
export async function show(
  shown: Shown,
  form: Exclude<Form, { kind: 'machine' }>,
  about: { readonly version: string; readonly look: Look; readonly inLines: boolean; readonly all?: boolean },
): Promise<string> {
  const indent = about.inLines ? undefined : 2
  if (form.kind === 'fields')
    return `${linesOf(shown, form.select) ?? formatJson(form.select(recordOf(shown)), indent)}\n`
  if (form.kind === 'verdict') {
    const target = shown.target ?? shown.operation.name
    return `${withoutCommands(printable(`${target}: ${verdictLine(recordOf(shown), shown.verdict)}`, 1_000))}\n`
  }
  const document = shown.given.rendered(form.format, about)
  if (document) return `${document.text}\n`
  if (form.format === 'json') return `${linesOf(shown, (line) => line) ?? formatJson(recordOf(shown), indent)}\n`
  const read = shown.given.document({ version: about.version, brief: !about.all })
  if (!read) throw new Error(`${shown.operation.name} has no document`)
  const { formatTerminal } = await import('../documents/terminal/terminal.ts')
  return `${formatTerminal(read, about.look)}\n`
}

/** An answer that consists of lines, each as JSON. */
const linesOf = ({ given }: Shown, each: (line: JsonRecord) => JsonRecord): string | undefined =>
  given
    .lines()
    ?.filter(isJsonRecord)
    .map((line) => formatJson(each(line)))
    .join('\n')

/** Characters of a line that are held until it ends. A longer one is passed on in parts. */
const MAX_LINE = 4 * 1024 * 1024

/**
 * The text of rows that others have worded, for standard output: no line is a command of a build server (`::name::`,
 * `##[name]`, `##vso[name]`). In NDJSON the values stay the same; of CSV, which has no escapes, such a cell is changed,
 * since a quoted cell may have lines of its own.
 */
export async function* withoutCommandsIn({ contentType, text }: TextStream): AsyncGenerator<string> {
  const safe = contentType.startsWith('text/csv') ? withoutCommands : asJson
  let rest = ''
  for await (const piece of text) {
    const lines = (rest + piece).split(/(?<=[\r\n])/)
    rest = lines.at(-1)!.length > MAX_LINE ? '' : lines.pop()!
    if (lines.length > 0) yield lines.map(safe).join('')
  }
  if (rest !== '') yield safe(rest)
}

/** A line of JSON begins with a brace. */
const asJson = (line: string): string => line.replace(/##(?=(?:vso)?\[)/gi, '#\\u0023')
