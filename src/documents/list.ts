import { counted } from '../base/text.ts'
import { code, conclude, type Document, type Parts, quiet } from './block.ts'
import { documentOf } from './words.ts'

export type List<Item> = {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly next_cursor: string | null
  /** False: more will follow later. */
  readonly complete?: boolean
}

/** How a list and its items are called. */
type Names = { readonly title: string; readonly one: string; readonly many?: string }

/** A page of a list: how many there are, `parts` that show them, and how to request the next page. */
export const listDocument = <Item>(
  { title, one, many }: Names,
  { data, has_more, next_cursor: cursor, complete = true }: List<Item>,
  version: string,
  ...parts: readonly Parts[]
): Document =>
  documentOf(
    title,
    version,
    conclude(title, 'none', counted(data.length, one, many), endInWords(has_more, complete, data.length === 0)),
    parts,
    cursor !== null && quiet('Next page: ', code(`--cursor ${cursor}`), ', in a URL ', code(`cursor=${cursor}`)),
  )

function endInWords(hasMore: boolean, isComplete: boolean, isEmpty: boolean): string {
  if (hasMore) return 'More follow on the next page.'
  if (!isComplete) return 'The others follow when they are known.'
  return isEmpty ? 'None.' : 'This is the complete list.'
}
