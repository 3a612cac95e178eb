/** Reads pasted text step by step: each step takes something away from around the value, or decodes it. */

/** What was taken away from around a value, or decoded in it. */
export type Taken =
  | 'invisible'
  | 'name'
  | 'brackets'
  | 'mailto'
  | 'quotes'
  | 'punctuation'
  | 'markup'
  | 'label'
  | 'port'
  | 'text'
  | 'several'
  | 'at'

/** A value, and what was taken away to get it; white space around it does not count. */
export type Pasted<T> = { readonly value: T; readonly taken: readonly Taken[] }

/** Longest text that is read as one value, characters. */
export const MAX_TEXT = 4_096

/** Format characters (zero-width ones, U+FEFF, soft hyphens, directions), Hangul fillers. White space is beside them. */
const INVISIBLE = /[\p{Cf}\u0085\u115f\u1160\u3164\uffa0]/u
/** Those of them that are in no value at all. The joiners (U+200C, U+200D) are in names of some scripts. */
const INSIDE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g
const WHITE = /\s/
/** White space that is not ASCII is as invisible as the rest. */
const isOdd = (c: string): boolean => c > '\u007f' && (WHITE.test(c) || INVISIBLE.test(c))
const isBlank = (c: string): boolean => WHITE.test(c) || isOdd(c)

/** Text without white space around it and invisible characters, and whether there were invisible ones. */
export function trimming(text: string): Pasted<string> {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text[from]!)) from++
  while (to > from && isBlank(text[to - 1]!)) to--
  let odd = false
  for (let at = 0; at < text.length && !odd; at++) {
    if (at === from) at = to
    odd = at < text.length && isOdd(text[at]!)
  }
  const inside = text.slice(from, to)
  const value = inside.replace(INSIDE, '')
  odd ||= value !== inside
  // Quotes of typography could be characters of a name; around one they are none.
  const isQuoted =
    value.length > 2 && TYPOGRAPHIC.some(([open, close]) => value.startsWith(open!) && value.endsWith(close!))
  if (isQuoted) return { value: trimmed(value.slice(1, -1)), taken: odd ? ['invisible', 'quotes'] : ['quotes'] }
  return { value, taken: odd ? ['invisible'] : [] }
}
const TYPOGRAPHIC = ['“”', '„“', '„”', '””', '‘’', '‚‘', '«»', '»«', '‹›']

/** Text without white space and invisible characters around it. */
export const trimmed = (text: string): string => trimming(text).value

const PAIRS: readonly (readonly [open: string, close: string, taken: Taken])[] = [
  ['"', '"', 'quotes'],
  ["'", "'", 'quotes'],
  ['`', '`', 'quotes'],
  ['<', '>', 'brackets'],
  ['(', ')', 'brackets'],
  ['[', ']', 'brackets'],
  ['{', '}', 'brackets'],
  // Bold and italic type of Markdown.
  ['*', '*', 'markup'],
  ['_', '_', 'markup'],
]
/** Characters that a sentence or a list leaves behind a value; no address, name or selector ends with one. */
const STRAY = /[.,;:!?…]/

/** A step that takes something away; undefined: there is nothing of its kind. */
export type Step = (text: string) => Pasted<string> | undefined

/** Most things that are taken away from one text. */
const MAX_STEPS = 8

/** Takes away what the steps find, the first of them first, until the text is a value (`isRead`) or none finds more. */
export function reduced(text: string, steps: readonly Step[], isRead: (text: string) => boolean): Pasted<string> {
  const bare = trimming(text)
  let { value } = bare
  const taken = new Set(bare.taken)
  for (let round = 0; round < MAX_STEPS && !isRead(value); round++) {
    const found = firstOf(steps, value)
    if (!found) break
    value = trimmed(found.value)
    for (const one of found.taken) taken.add(one)
  }
  return { value, taken: [...taken] }
}

function firstOf(steps: readonly Step[], text: string): Pasted<string> | undefined {
  for (const step of steps) {
    const found = step(text)
    if (found) return found
  }
  return undefined
}

export const unpaired: Step = (text) => {
  const pair = text.length > 2 && PAIRS.find(([open, close]) => text.startsWith(open) && text.endsWith(close))
  return pair ? { value: text.slice(1, -1), taken: [pair[2]] } : undefined
}

/** Text without white space and invisible characters around it, and without a pair of quotes. */
export function unquoted(text: string, quotes = /^(["'`])(.*)\1$/s): string {
  const bare = trimmed(text)
  const inside = quotes.exec(bare)?.[2]
  return inside === undefined ? bare : trimmed(inside)
}

export const unpunctuated: Step = (text) => {
  let [from, to] = [0, text.length]
  while (to > 0 && STRAY.test(text[to - 1]!)) to--
  while (from < to && /[,;]/.test(text[from]!)) from++
  return to - from < text.length ? { value: text.slice(from, to), taken: ['punctuation'] } : undefined
}

/** Marks of footnotes behind a value. */
export const unmarked: Step = (text) => {
  const value = text.startsWith('*') ? text : text.replace(/[*†‡]{1,10}$/, '')
  return value === text ? undefined : { value, taken: ['punctuation'] }
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  commat: '@',
  period: '.',
  colon: ':',
}
const ENTITY = /&(?:#(\d{1,6})|#x([\da-f]{1,5})|(amp|lt|gt|quot|apos|nbsp|commat|period|colon));/gi

/** Entities of HTML (`&#64;`) as characters. */
export const withoutEntities: Step = (text) => {
  if (!text.includes('&')) return undefined
  const value = text.replace(ENTITY, (_, decimal?: string, hex?: string, name?: string) =>
    name === undefined
      ? String.fromCodePoint(decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal))
      : NAMED_ENTITIES[name.toLowerCase()]!,
  )
  return value === text ? undefined : { value, taken: ['markup'] }
}

/** Numbers and bullets of a list: `1. joe@example.org`, `- joe@example.org`. */
export const unlisted: Step = (text) => {
  const mark = /^(?:[-*+•·‣▪◦–—>]|\(?\d{1,6}[.):])\s+(?=\S)/.exec(text)?.[0]
  return mark === undefined ? undefined : { value: text.slice(mark.length), taken: ['label'] }
}

/** `example[.]org`, `example (dot) org`: names that nobody should click. */
export const withoutBrackets: Step = (text) => {
  const value = text.replace(/\s{0,4}[[({<]\s{0,4}(?:\.|dot|punkt|punto|point)\s{0,4}[\])}>]\s{0,4}/gi, '.')
  return value === text ? undefined : { value, taken: ['at'] }
}

export const isAscii = (text: string): boolean => /^[ -~]*$/.test(text)
