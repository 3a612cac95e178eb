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

/** `1 lookup`, `2 lookups`. */
export const counted = (count: number, one: string, many: string = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

/** What ends an address within a text. */
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
