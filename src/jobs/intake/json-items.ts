import type { Kind } from './column.ts'
import { rowOfJson } from './lines.ts'
import { listError } from './problems.ts'
import type { IntakeRow } from './row.ts'

/** Maximum number of characters of an item. */
const MAX_ITEM = 2 * 1024 * 1024

/**
 * The rows of a streamed `{"items": [...]}`, those of a piece together. The items are extracted from the stream and parsed one by one, so that a list of any size needs the memory of its
 * largest item. Rows are identified by line: of several items that begin on one line, each after the first counts as a line of its own. Throws AppError `bad_list`, with the line, for
 * text of another form or text that ends early.
 */
export async function* jsonRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
): AsyncIterable<readonly IntakeRow[]> {
  const cutter = itemCutter(firstLine)
  for await (const piece of text) {
    const items = cutter.take(piece)
    if (items.length > 0) yield items.map(({ line, text: item }) => rowOfJson(kind, line, item))
  }
  cutter.end()
}

type Item = { readonly line: number; readonly text: string }

/** Extracts the items of the list from pieces of text. */
function itemCutter(firstLine: number): { readonly take: (piece: string) => Item[]; readonly end: () => void } {
  let state: 'before' | 'between' | 'inside' | 'after' = 'before'
  let line = firstLine
  let head = ''
  let item = ''
  let itemLine = firstLine - 1
  let depth = 0
  let inText = false
  let isEscaped = false

  /** Reads one character of an item; true if the item ended before it. */
  function inside(c: string): boolean {
    if (inText) {
      if (isEscaped) isEscaped = false
      else if (c === '\\') isEscaped = true
      else if (c === '"') inText = false
    } else if (c === '"') inText = true
    else if (c === '{' || c === '[') depth++
    else if ((c === '}' || c === ']') && depth > 0) depth--
    else if (depth === 0 && (c === ',' || c === ']')) return true
    item += c
    if (item.length > MAX_ITEM) throw listError('item_too_long', { line: itemLine, max: MAX_ITEM })
    return false
  }
  function before(c: string): void {
    head += c
    if (head.length > 1_024) throw listError('no_items')
    if (c === '[') {
      if (!/^\s*\{\s*"items"\s*:\s*\[$/.test(head)) throw listError('no_items')
      state = 'between'
    }
  }
  function take(piece: string): Item[] {
    const items: Item[] = []
    for (const c of piece) {
      if (state === 'before') before(c)
      else if (state === 'after') head += c
      else if (state === 'between') {
        if (c === ']') {
          state = 'after'
          head = ''
        } else if (!/[\s,]/.test(c)) {
          state = 'inside'
          item = ''
          itemLine = Math.max(line, itemLine + 1)
          depth = 0
        }
      }
      if (state === 'inside' && inside(c)) {
        items.push({ line: itemLine, text: item })
        state = c === ']' ? 'after' : 'between'
        head = ''
      }
      if (c === '\n') line++
    }
    if (state === 'after' && head.length > 1_024) throw listError('after_items', { line })
    return items
  }
  function end(): void {
    if (state === 'before' && head.trim() === '') return
    if (state !== 'after') throw listError('items_end', { line })
    if (!/^\s*\}\s*$/.test(head)) throw listError('after_items', { line })
  }
  return { take, end }
}
