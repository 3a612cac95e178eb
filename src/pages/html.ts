import { escapeHtml, printable } from '../base/text.ts'
import type { Mark } from '../documents/block.ts'
import { timeTag } from '../documents/html/inline.ts'
import { SIGNS } from '../documents/words.ts'

/** HTML that is safe in a page: created by {@link html} or by the renderer of documents. */
export type Html = { readonly safe: string }

type Value = Html | string | number | undefined | false | readonly Html[]

/** Maximum number of characters written of one text; external text may be long. */
const MAX_TEXT = 8_192

/**
 * A template whose values are escaped: anything except {@link Html} is text. `undefined` and `false` are omitted.
 * Attributes must be quoted.
 */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  safe: parts.reduce((all, part, i) => `${all}${written(values[i - 1])}${part}`),
})

function written(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return escapeHtml(printable(value, MAX_TEXT))
  if (typeof value === 'number') return String(value)
  return 'safe' in value ? value.safe : value.map(({ safe }) => safe).join('')
}

/** Text of any length for the content of a `textarea` or `pre`, with its line ends. */
// the parser drops the first newline
export const verbatim = (text: string): Html => ({ safe: `\n${escapeHtml(text)}` })

/** HTML of a renderer that has escaped every text itself. */
export const rendered = (safe: string): Html => ({ safe })

/** A time in ISO 8601; the script of every page shows it in the visitor's time zone. */
export const timeOf = (time: string): Html => rendered(timeTag(time))

/** Words with the sign and colour of a mark, in one line. */
export const marked = (mark: Mark, words: string): Html =>
  html`<span class="mark ${mark}">${SIGNS[mark]}\u00a0${words}</span>`
