import { withoutCommands } from '../base/text.ts'
import type { TextStream } from '../operations/given.ts'

/** Characters of a line that are held until it ends. A longer one is passed on in parts. */
const MAX_LINE = 4 * 1024 * 1024

/**
 * The text of rows that others have worded, for standard output: no line is a command of a build server (`::name::`, `##[name]`, `##vso[name]`). In NDJSON the values stay
 * the same; of CSV, which has no escapes, such a cell is changed, since a quoted cell may have lines of its own.
 */
export async function* withoutCommandsIn({ contentType, text }: TextStream): AsyncGenerator<string> {
  const safe = contentType.startsWith('text/csv') ? withoutCommands : asJson
  let rest = ''
  for await (const piece of text) {
    const lines = (rest + piece.toString()).split(/(?<=[\r\n])/)
    rest = lines.at(-1)!.length > MAX_LINE ? '' : lines.pop()!
    if (lines.length > 0) yield lines.map(safe).join('')
  }
  if (rest !== '') yield safe(rest)
}

/** A line of JSON begins with a brace. */
const asJson = (line: string): string => line.replace(/##(?=(?:vso)?\[)/gi, '#\\u0023')
