import { escapeHtml, printable } from '../../base/text.ts'
import type { Inline, Line, Mark } from '../block.ts'
import {
  inWords,
  isPart,
  SEVERITY_MARKS,
  SEVERITY_WORDS,
  SIGNS,
  STATUS_MARKS,
  STATUS_WORDS,
  safeLink,
  wordsFor,
} from '../words.ts'

/** Maximum number of characters written of one text; external text may be long. */
const MAX_TEXT = 8_192

/** Text as HTML content or as a quoted attribute value. */
export const safe = (text: string): string => escapeHtml(printable(text, MAX_TEXT))

export const inlines = (line: Line): string => line.map(inline).join('')

function inline(one: Inline): string {
  if (typeof one === 'string') return safe(one)
  if ('code' in one) return codeText(one.code)
  if ('strong' in one) return `<strong>${safe(one.strong)}</strong>`
  if ('link' in one) return link(one.link, one.text)
  if ('status' in one) return badge('status', STATUS_MARKS[one.status], STATUS_WORDS[one.status])
  if ('time' in one) return timeTag(one.time)
  if ('severity' in one)
    return `<span class="severity ${wordsFor(SEVERITY_MARKS, one.severity) ?? 'none'}">${safe(wordsFor(SEVERITY_WORDS, one.severity) ?? one.severity)}</span>`
  return badge('mark', one.mark, one.text)
}

/** A time; scripts of a page show it in the time zone of the reader. Another text is written as such. */
export const timeTag = (time: string): string =>
  ISO.test(time) ? `<time datetime="${time}">${inWords(time)}</time>` : safe(time)

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

export const codeText = (text: string): string =>
  `<code${text.length > 60 ? ' class="long"' : ''}>${unbroken(text)}</code>`

/**
 * Text in which a mail address with hyphens breaks after `@` and dots alone: a line that ends in a hyphen of it looks
 * like the end of the address. A part that is wider than the line breaks anywhere.
 */
export const unbroken = (text: string): string =>
  safe(text).replaceAll(/\S+/g, (word) =>
    word.includes('@') && word.includes('-')
      ? word.replaceAll(/[^@.]+(?:[@.]|$)/g, '<span class="whole">$&</span>')
      : word,
  )

/** A mark with its sign, which screen readers skip, and its words. */
export const badge = (look: 'status' | 'mark', mark: Mark, words: string): string =>
  `<span class="${look} ${mark}"><span aria-hidden="true">${SIGNS[mark]}</span> ${safe(words)}</span>`

function link(href: string, text: string): string {
  if (isPart(href)) return `<a href="${href}">${safe(text)}</a>`
  const url = safeLink(href)
  return url === undefined
    ? safe(text)
    : `<a class="away" href="${safe(url)}" rel="noopener noreferrer nofollow">${safe(text)}</a>`
}
