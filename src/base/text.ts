import { once } from './share-work.ts'

/**
 * Characters that no output contains unchanged: controls (C0, DEL, C1), format characters (bidirectional marks and
 * overrides, U+061C, zero-width characters, U+FEFF), line and paragraph separators, lone surrogates, Hangul fillers,
 * and plane 14 (tag characters and variation selectors that hide text).
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]/gu

/** Most text: printable ASCII. */
const PLAIN = /^[ -~]*$/

/**
 * `text` with a space in place of every character that controls a terminal, reorders text or is invisible, cut at
 * `maxLength` characters. For external text.
 */
export function printable(text: string, maxLength = 512): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  return PLAIN.test(cut) ? cut : cut.replace(UNSAFE, ' ')
}

/**
 * A line that no build server takes for a command to it: GitHub Actions reads lines that begin with `::name …::`, and
 * it and Azure Pipelines `##[name]` and `##vso[name]` anywhere in a line. An IPv6 address at the beginning stays as it
 * is.
 */
export const withoutCommands = (line: string): string =>
  line.replace(/^(\s*):(?=:)(?!:[0-9a-f:.]*(?:[\s,;/]|$))/i, '$1: ').replace(/##(?=(?:vso)?\[)/gi, '# #')

/**
 * `text` with the same characters as JSON escapes (`\u202e`; two escapes for one beyond the basic plane), so that JSON
 * stays the same value.
 */
export const escapeUnsafe = (text: string): string =>
  text.replace(UNSAFE, (chars) => [...Array(chars.length).keys()].map((i) => escaped(chars.charCodeAt(i))).join(''))

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const

/** Text made safe as HTML content and as a quoted attribute value. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => HTML[c as keyof typeof HTML])

/** Text with percent escapes resolved; unchanged where they are none. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A name of 20 letters that nobody uses. */
export const madeUpName = (random: () => number): string =>
  Array.from({ length: 20 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('')

/** `a, b`; beyond `most` items `a, b and 3 more`. */
export const firstOf = (items: readonly string[], most: number, between = ', '): string =>
  `${items.slice(0, most).join(between)}${items.length > most ? ` and ${items.length - most} more` : ''}`

/** `1 lookup`, `2 lookups`. */
export const counted = (count: number, one: string, many: string = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

const END = /[\s@<>"'(),:;]/
/** Longest local part of an address (RFC 5321 §4.5.3.1.1). */
const MAX_LOCAL = 64
/** Longest domain of an address (RFC 5321 §4.5.3.1.2). */
const MAX_DOMAIN = 255

/**
 * `text` with the local part of every mailbox address cut to its first character: `j***@example.org`. Each character is
 * looked at twice at most.
 */
export function maskAddresses(text: string): string {
  let [masked, copied, used] = ['', 0, 0]
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let [begin, end] = [at, at + 1]
    while (begin > used && at - begin < MAX_LOCAL && !END.test(text[begin - 1]!)) begin--
    while (end < text.length && end - at <= MAX_DOMAIN && !END.test(text[end]!)) end++
    if (begin === at || end === at + 1) continue
    masked += `${text.slice(copied, begin + 1)}***`
    copied = at
    used = end
  }
  return masked + text.slice(copied)
}

/**
 * The lines of a stream, trimmed, without empty ones and comments (`#` first). A line is read up to `maxLength`
 * characters and one more, by which the reader detects that it was longer; the rest of it is dropped.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let open = ''
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    open = cut(open + first, maxLength)
    for (const next of others) {
      yield* lineOf(open)
      open = cut(next, maxLength)
    }
  }
  yield* lineOf(cut(open + decoder.decode(), maxLength))
}

const cut = (text: string, maxLength: number): string => text.slice(0, maxLength + 1)

function* lineOf(text: string): Generator<string> {
  const line = text.trim()
  if (line !== '' && !line.startsWith('#')) yield line
}

/**
 * The columns that a terminal uses for characters: none for combining ones, two for wide ones (UAX #11), otherwise one.
 */

/** Text whose characters take one column each: ASCII, Latin, and the signs of documents. */
const NARROW = /^[\x20-\x7e\u00a1-\u02ff\u2013-\u2026\u2190-\u2193\u2212\u2500-\u259f\u2713\u2715]*$/
/** Wide and fullwidth blocks of East Asian scripts, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
const NONE = /^[\p{M}\p{Cf}\u1160-\u11ff]+$/u

/** Made with the first text that needs it: it takes 10 ms of every start. */
const segmenter = once(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

/** The characters as readers see them: a letter with its combining marks is one. */
const graphemes = (text: string): readonly string[] =>
  NARROW.test(text) ? [...text] : [...segmenter().segment(text)].map(({ segment }) => segment)

/** Columns of one grapheme: 0, 1 or 2. */
const columnsOf = (grapheme: string): number => (NONE.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

/** Columns of a text without control characters. */
export const columns = (text: string): number =>
  NARROW.test(text) ? text.length : graphemes(text).reduce((sum, one) => sum + columnsOf(one), 0)

/** The longest beginning of `text` within this many columns, and the rest; at least one grapheme is taken. */
export function splitAt(text: string, width: number): readonly [string, string] {
  if (NARROW.test(text)) return [text.slice(0, Math.max(1, width)), text.slice(Math.max(1, width))]
  let taken = ''
  let used = 0
  for (const one of graphemes(text)) {
    used += columnsOf(one)
    if (used > width && taken !== '') break
    taken += one
  }
  return [taken, text.slice(taken.length)]
}
