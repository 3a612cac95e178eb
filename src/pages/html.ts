import { escapeHtml, printable } from '../base/text.ts'

/** HTML that is safe to be put into a page: made by {@link html} or by the renderer of documents. */
export type Html = { readonly safe: string }

type Value = Html | string | number | undefined | false | readonly Html[]

/** Maximum number of characters written of one text; texts from outside may be long. */
const MAX_TEXT = 8_192

/** A template whose values are escaped: what is no {@link Html} is text. `undefined` and `false` are nothing. Attributes must stand in quotes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html => ({
  safe: parts.reduce((all, part, i) => `${all}${written(values[i - 1])}${part}`),
})

function written(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return escapeHtml(printable(value, MAX_TEXT))
  if (typeof value === 'number') return String(value)
  return 'safe' in value ? value.safe : value.map(({ safe }) => safe).join('')
}

/** Text as it is, of any length, for the content of a `textarea`: what is sent back is what was given. */
export const verbatim = (text: string): Html => ({ safe: `\n${escapeHtml(text)}` }) // a parser drops the first newline

/** HTML of a renderer that has escaped every text itself. */
export const rendered = (safe: string): Html => ({ safe })
