import type { Kind } from './column.ts'
import { type Line, rowOfJson } from './lines.ts'
import { listError } from './problems.ts'
import { type Held, type IntakeRow, MAX_RECORD } from './row.ts'

/** Characters that may stand before the first item, and after the last one. */
const MAX_AROUND = 1_024
/** Characters kept of an item that is too long. */
const KEPT = 1_024

/**
 * The rows of a streamed `{"items": [...]}`, those of a piece together. The items are extracted from the stream and parsed one by one, so that a list of any size needs the memory of its
 * largest item. Rows are identified by line: of several items that begin on one line, each after the first counts as a line of its own. Throws AppError `bad_list`, with the line, for
 * text of another form or text that ends early.
 */
export async function* jsonRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  const cutter = itemCutter(firstLine)
  for await (const piece of text) {
    const items = cutter.take(piece)
    held(cutter.held())
    if (items.length > 0) yield items.map((item) => rowOfJson(kind, item))
  }
  cutter.end()
}

type Cutter = {
  readonly take: (piece: string) => readonly Line[]
  readonly end: () => void
  /** Characters of the item that has not ended. */
  readonly held: () => number
}

/** Extracts the items of the list from pieces of text. */
function itemCutter(firstLine: number): Cutter {
  let state: 'before' | 'between' | 'inside' | 'after' = 'before'
  let line = firstLine
  /** What stands before the items, or after them. */
  let around = ''
  let item = ''
  let length = 0
  let itemLine = firstLine - 1
  let depth = 0
  let inText = false
  let isEscaped = false

  /** Whether the item ended before this character. */
  function isEnd(c: string): boolean {
    if (inText) {
      if (isEscaped) isEscaped = false
      else if (c === '\\') isEscaped = true
      else if (c === '"') inText = false
    } else if (c === '"') inText = true
    else if (c === '{' || c === '[') depth++
    else if ((c === '}' || c === ']') && depth > 0) depth--
    else if (depth === 0 && (c === ',' || c === ']')) return true
    return false
  }
  /** Adds a part of a piece to the item: parts are few, since a text that grew by single characters would be a chain in memory. */
  function add(part: string): void {
    length += part.length
    item = length > MAX_RECORD ? (item + part).slice(0, KEPT) : item + part
  }
  function before(c: string): void {
    around += c
    if (around.length > MAX_AROUND) throw listError('no_items')
    if (c !== '[') return
    if (!/^\s*\{\s*"items"\s*:\s*\[$/.test(around)) throw listError('no_items')
    state = 'between'
    around = ''
  }
  function begin(): void {
    state = 'inside'
    item = ''
    length = 0
    itemLine = Math.max(line, itemLine + 1)
    depth = 0
  }

  function take(piece: string): readonly Line[] {
    const items: Line[] = []
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const c = piece[at]!
      if (state === 'before') before(c)
      else if (state === 'after') {
        around += c
        if (around.length > MAX_AROUND) throw listError('after_items', { line })
      } else if (state === 'between') {
        if (c === ']') state = 'after'
        else if (!/[\s,]/.test(c)) {
          begin()
          from = at
        }
      }
      if (state === 'inside' && isEnd(c)) {
        add(piece.slice(from, at))
        items.push({ line: itemLine, text: item, isTooLong: length > MAX_RECORD })
        item = ''
        state = c === ']' ? 'after' : 'between'
      }
      if (c === '\n') line++
    }
    if (state === 'inside') add(piece.slice(from))
    return items
  }
  function end(): void {
    if (state === 'before' && around.trim() === '') return
    if (state !== 'after') throw listError('items_end', { line })
    if (!/^\s*\}\s*$/.test(around)) throw listError('after_items', { line })
  }
  return { take, end, held: () => item.length }
}
