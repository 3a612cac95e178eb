import { counted } from '../base/text.ts'
import { type Block, code, quiet } from './block.ts'

/** One page of a list. */
export type List<Item> = {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

const OPEN = 'The others follow when they are known.'

/** The description of a page of a list, as a sentence. */
export const listConclusion = (
  subject: string,
  count: number,
  one: string,
  hasMore: boolean,
  many?: string,
  /** Whether more will follow later. */
  isOpen = false,
): Block => ({
  kind: 'conclusion',
  conclusion: {
    subject,
    mark: 'none',
    badge: counted(count, one, many),
    words: hasMore
      ? 'More follow on the next page.'
      : isOpen
        ? OPEN
        : count === 0
          ? 'None.'
          : 'This is the complete list.',
    notes: [],
  },
})

/** How to request the next page; nothing on the last one. */
export const moreBlocks = (cursor: string | null): Block[] =>
  cursor === null ? [] : [quiet('Next page: ', code(`--cursor ${cursor}`), ', in a URL ', code(`cursor=${cursor}`))]
