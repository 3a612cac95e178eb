import { messageInJson, valueIn } from './json-mail.ts'
import { contentOf } from './mime.ts'

/** What the octets that somebody gave for a message are. */
export type FormKind = 'message' | 'header_only' | 'pasted' | 'mbox' | 'emlx' | 'msg'

/** Octets as characters (latin1), and what was said about them. */
export type Draft = { text: string; kind?: FormKind; isCopied?: true; readonly notes: string[] }

/** Octets in front that decide whether a message is given as it is. */
export const WINDOW = 64 * 1024
export const FIELD = /^[!-9;-~]{1,76}[ \t]*:/
/** A text up to its first empty line. */
export const headOf = (text: string): string => text.slice(0, /\n\r?\n/.exec(text)?.index)

export function decoded(octets: Buffer): Draft {
  const wide = wideIn(octets)
  if (wide) {
    const text = new TextDecoder(wide).decode(octets)
    return { text: Buffer.from(text).toString('latin1'), notes: ['it was saved as UTF-16, and is read as UTF-8'] }
  }
  const text = octets.toString('latin1')
  if (/^\x1b\[[\d;]{1,20}m/m.test(text.slice(0, WINDOW)))
    return { text: text.replace(/\x1b\[[\d;]{0,20}[mK]/g, ''), notes: ['the colours of a terminal were taken away'] }
  if (text.startsWith('\xef\xbb\xbf')) return { text: text.slice(3), notes: ['the byte order mark was taken away'] }
  if (text.includes('\r') && !text.includes('\n'))
    return { text: text.replaceAll('\r', '\r\n'), notes: ['its lines ended in CR alone'] }
  if (/^[^\n]{0,998}\r\r\n/.test(text))
    return { text: text.replaceAll('\r\r\n', '\r\n'), notes: ['its lines ended in CR CR LF'] }
  return { text, notes: [] }
}

/** The form of UTF-16: by its mark, or by the zeros beside letters. */
function wideIn(octets: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const start = octets.subarray(0, 32).toString('latin1')
  if (/^(?:\xff\xfe|(?:[\t\n\r -~]\0){16})/.test(start)) return 'utf-16le'
  return /^(?:\xfe\xff|(?:\0[\t\n\r -~]){16})/.test(start) ? 'utf-16be' : undefined
}

/** Base64 of a whole message, what the interfaces of providers say in JSON, and the text of a program. */
export function takeEncoding(draft: Draft): void {
  const text = draft.text.trim()
  if (text.length > 100 && /^[A-Za-z0-9+/_=\s-]+$/.test(text)) {
    const inner = Buffer.from(text, 'base64').toString('latin1')
    if (!FIELD.test(inner)) return
    draft.text = inner
    draft.notes.push('it was base64')
    return
  }
  const value = valueIn(Buffer.from(text, 'latin1').toString('utf8'))
  const inner = messageInJson(value)
  if (inner !== undefined) {
    draft.text = inner
    draft.notes.push('it was written in JSON, as the interface of a provider gives it')
  } else if (value === undefined && !text.includes('\n') && text.split('\\n', 4).length === 4) {
    draft.text = text
      .replace(/^(?:\[\s{0,20})?b?["']|["'](?:\s{0,20}\])?$/g, '')
      .replaceAll('\\r', '\r')
      .replaceAll('\\n', '\n')
      .replaceAll('\\t', '\t')
      .replace(/\\u00([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/\\(["'])/g, '$1')
    draft.notes.push('line ends were written as \\n')
  }
}

/** A header in a table, a line a field: the name and the value with a tab between them, or in columns of Markdown. */
export function takeTable(draft: Draft): void {
  const head = headOf(draft.text)
  const lines = head.replace(TABLE_HEAD, '').split('\n')
  const rows = lines.filter((line) => ROW.test(line) || CELLS.test(line)).length
  if (rows < 5 || rows * 2 < lines.length) return
  const fields = lines.map((line) => {
    const [, name, rest = ''] = CELLS.exec(line) ?? []
    return name === undefined
      ? line.replace(/^([A-Za-z][\w-]{1,75}):?\t+(?=\S)/, '$1: ')
      : `${name}: ${rest.trimEnd().replace(/\|$/, '').trimEnd()}`
  })
  draft.text = fields.join('\n') + draft.text.slice(head.length)
  draft.isCopied = true
  draft.notes.push('the names of the fields stood in a column of their own')
}
const ROW = /^[A-Za-z][\w-]{1,75}\t+\S/
const CELLS = /^\|[ \t]{0,20}([A-Za-z][\w-]{1,75}):?[ \t]{0,20}\|[ \t]{0,20}([^\n]*)/
/** The names of the columns, and the line below them. */
const TABLE_HEAD = /^\|[^\n]{1,200}\n\|[ \t]{0,9}:?-{2,99}[^\n]{0,99}\n/

/** A cell of a table (RFC 4180 §2). */
export function takeCell(draft: Draft): void {
  const text = draft.text.trim()
  if (!/^"[!-9;-~]{1,76}[ \t]*:[^\n]*\n/.test(text) || !text.endsWith('"')) return
  draft.text = text.slice(1, -1).replaceAll('""', '"')
  draft.notes.push('the quotes of a table were taken away')
}

/** A header whose tags and parameters are written in quoted-printable. */
export const QUOTED_PRINTABLE = /(?:[;:\s](?:v|a|d|s|h|boundary|charset)|smtp\.mailfrom)=3D/i

/** The names of fields as items of a list, or in bold, as notes and chats write them. */
export function takeEmphasis(draft: Draft): void {
  const head = headOf(draft.text)
  const found = head.match(EMPHASIS)
  if (!found || found.length < 3) return
  draft.text = head.replace(EMPHASIS, '$1$2:') + draft.text.slice(head.length)
  draft.isCopied = true
  draft.notes.push('the marks of a list or of bold text around the names of fields were taken away')
}
const EMPHASIS =
  /^(?:(?:[*-]|\xe2\x80\xa2)[ \t](?!\*|_)([A-Za-z][\w-]{1,75})|(?:(?:[*-]|\xe2\x80\xa2)[ \t])?(?:\*\*|__|<b>)([A-Za-z][\w-]{1,75})(?::?(?:\*\*|__|<\/b>))):?(?=[ \t]|\r?$)/gm

/** Quoted-printable (RFC 2045 §6.7) of a whole message, and line ends and tabs as `cat -A` and `vi` show them. */
export function takeVisible(draft: Draft): void {
  const head = draft.text.slice(0, WINDOW)
  // A part of a message in quoted-printable has such words, too.
  if (/=\r?\n/.test(head) && QUOTED_PRINTABLE.test(headOf(head))) {
    const octets = Buffer.from(draft.text.replace(/=\r?\n/g, ''), 'latin1')
    const part = { start: 0, end: octets.length, encoding: 'quoted-printable' }
    draft.text = contentOf(octets, part).toString('latin1')
    draft.notes.push('it was written in quoted-printable')
  } else if (/^[^\n]{1,998}\^M\$?\n/.test(head)) {
    const text = draft.text.replace(/\^M\$?$/gm, '')
    draft.text = head.includes('^M$\n') ? text.replaceAll('^I', '\t') : text
    draft.notes.push('line ends were written as ^M')
  } else return
  draft.isCopied = true
}

/** Addresses as the source of a web page has them. */
export const ESCAPED = /^[!-9;-~]{1,76}[ \t]*:[^<\n]{0,400}&lt;[^<\s]{1,320}&gt;/m
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ', amp: '&' }
export function takeEntities(draft: Draft): void {
  if (!ESCAPED.test(draft.text.slice(0, WINDOW))) return
  draft.text = draft.text.replace(/&(lt|gt|quot|#39|nbsp|amp);/g, (_, name: string) => ENTITIES[name]!)
  draft.isCopied = true
  draft.notes.push('characters that were written as in HTML (&lt;) were read as characters')
}

/** A blank that does not break lines behind the name of a field. */
const NO_BREAK = /^[!-9;-~]{1,76}:\xc2?\xa0/m

/** A text without the links that a program made of its addresses and hosts: `joe@a.example<mailto:joe@a.example>`. */
function withoutLinks(text: string): string {
  if (!/<(?:mailto|https?):|\]\(/.test(text)) return text
  const isBehind = (link: string, at: number): boolean => text.slice(at - link.length, at) === link
  const bare = text.replace(/<(?:mailto:|https?:\/\/)([^<>\s]{1,320}?)\/?>/g, (all, link: string, at: number) =>
    isBehind(link, at) ? '' : all,
  )
  // Markdown
  return bare.replace(/\[([^[\]\s]{1,320})\]\((?:mailto:|https?:\/\/)([^()\s]{1,320}?)\/?\)/g, (all, name, link) =>
    name === link ? name : all,
  )
}

/** Characters without a width, as web pages have them in long words (UTF-8 as latin1). */
const INVISIBLE = /\xe2\x80\x8b|\xe2\x81\xa0|\xc2\xad/g
const IN_ADDRESS =
  /^(?:from|to|cc|reply-to|return-path|message-id|received)[ \t]*:[^\n]*(?:\xe2\x80\x8b|\xe2\x81\xa0)/im

/** Fields that have quotes in pairs. */
const QUOTING = /^(?:from|to|cc|reply-to|sender|content-[a-z-]{1,30}|x-[\w-]{1,70})[ \t]*:/i
/** Whether quotes are those of a word processor (UTF-8 as latin1). */
const isTypographic = (head: string): boolean =>
  /\xe2\x80[\x9c-\x9e]/.test(head) &&
  head.split('\n').some((line) => QUOTING.test(line) && line.split(/\xe2\x80[\x9c-\x9e]/, 3).length === 3)

/** What pages and programs did to the characters of a header, undone; a header without it stays as it is. */
const UNDONE: readonly (readonly [note: string, undo: (head: string) => string])[] = [
  [
    'blanks of a web page in the header were read as blanks',
    (head) => (NO_BREAK.test(head) ? head.replace(/\xc2?\xa0/g, ' ') : head),
  ],
  [
    'quotes of a word processor in the header were read as plain ones',
    (head) =>
      isTypographic(head) ? head.replace(/\xe2\x80[\x9c-\x9e]/g, '"').replace(/\xe2\x80[\x98\x99]/g, "'") : head,
  ],
  [
    'links and invisible characters of a page in the header were taken away',
    (head) => withoutLinks(IN_ADDRESS.test(head) ? head.replace(INVISIBLE, '') : head),
  ],
]

/** Whether a header has characters that nobody sends. */
export const isRetyped = (head: string): boolean => UNDONE.some(([, undo]) => undo(head) !== head)

export function takeCharacters(draft: Draft): void {
  for (const [note, undo] of UNDONE) {
    const head = headOf(draft.text)
    const bare = undo(head)
    if (bare === head) continue
    draft.text = bare + draft.text.slice(head.length)
    draft.isCopied = true
    draft.notes.push(note)
  }
}
