import { counted } from '../base/text.ts'
import type { HeavyKind } from '../lane/heavy.ts'
import { parseIp } from '../names/ip.ts'
import { readBounce } from './bounce.ts'
import {
  type Draft,
  decoded,
  ESCAPED,
  FIELD,
  type FormKind,
  headOf,
  isRetyped,
  QUOTED_PRINTABLE,
  takeCell,
  takeCharacters,
  takeEmphasis,
  takeEncoding,
  takeEntities,
  takeTable,
  takeVisible,
  WINDOW,
} from './copied.ts'
import { contentOf, type Part, parseMime } from './mime.ts'
import { transportHeader } from './outlook.ts'
import { BUTTON, CLOSE, isFoot } from './page-words.ts'
import { parseMail } from './parse.ts'

/** A message as people have it, taken out of what is around it. */
export type Form = {
  readonly kind: FormKind
  /** What was taken away, and what is missing: sentences without a full stop. */
  readonly notes: readonly string[]
  readonly octets: Uint8Array
  /** The body is not here; `intact`: nothing was taken away, so the header is as it was. */
  readonly headerOnly?: { readonly intact: boolean }
  /** Programs changed the text when it was copied, and not all of it could be undone. */
  readonly isCopied?: true
}

/** What is no message: kinds of files, and a text without a header. */
type NotMail =
  | 'address'
  | 'archive'
  | 'calendar'
  | 'contact'
  | 'domain'
  | 'empty'
  | 'gzip'
  | 'key'
  | 'link'
  | 'html'
  | 'no_header'
  | 'office' // Word's .doc and .docx, and their relatives
  | 'outlook' // .msg that was not received
  | 'outlook_damaged'
  | 'outlook_store' // .pst, .ost
  | 'pdf'
  | 'pgp'
  | 'picture'
  | 'quoted' // what a program writes above a message that it quotes
  | 'record' // of SPF, DKIM, DMARC and their kind
  | 'rtf'
  | 'saved_page'
  | 'smime'
  | 'tls_report'
  | 'tnef' // Outlook's winmail.dat
  | 'xml'

const FOLDED = /^[ \t]/
/** Fields that hosts and signers write: no summary in front of a message has them. */
const TRACE =
  /^(?:return-path|received|received-spf|delivered-to|envelope-to|authentication-results|arc-[\w-]{1,40}|dkim-signature|x-[\w-]{1,70})[ \t]*:/i
const KNOWN =
  /^(?:from|to|subject|date|message-id|mime-version|content-type|reply-to|sender|cc|list-[a-z-]{2,30})[ \t]*:/i
/** The hashes of an empty body, simple and relaxed (RFC 6376 §3.4.3, §3.4.4). */
const EMPTY_BODY = /frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN\/XKdLCPjaYaY=|47DEQpj8HBSa\+\/TImW\+5JCeuQeRkm5NMpJWZG3hSuFU=/
const isKnown = (line: string): boolean => KNOWN.test(line) || TRACE.test(line)
const signsNoBody = (head: string): boolean => EMPTY_BODY.test(head.replace(/\s/g, ''))

/** Reads the form of octets that {@link isPlain} does not find to be a message as it is. Linear; never throws. */
export const form: HeavyKind<null, Form | { readonly is: NotMail }> = { name: 'form', work: readForm }

/** Whether the octets are a message as servers send it, header and body: most are, and are not looked at further. */
export function isPlain(octets: Uint8Array): boolean {
  const text = Buffer.from(octets.subarray(0, WINDOW)).toString('latin1')
  const end = /\r?\n\r?\n/.exec(text)
  const head = end ? text.slice(0, end.index) : text
  const lines = head.split('\n')
  if (!isRun(lines) || !lines.some(isKnown) || mayCarry(text)) return false
  if (lines.filter((line) => FIELD.test(line)).length < 2 || /^[["<{]/.test(head) || SAVED_PAGE.test(head)) return false
  if (head.includes('&lt;') && ESCAPED.test(head)) return false
  if (QUOTED_PRINTABLE.test(head) || head.includes('^M\n') || head.includes('^M$\n')) return false
  if (isRetyped(head) || REDACTED.test(head) || isQuotation(lines) || hasLostOctets(text)) return false
  if (end && octets.length <= WINDOW && lacksParts(text, end.index)) return false
  return end ? /\S/.test(text.slice(end.index)) || signsNoBody(head) : octets.length > WINDOW
}

/** Whether a message may have another one attached. */
const mayCarry = (text: string): boolean =>
  /^content-type:\s*(?:multipart\/(?!report)|message\/rfc822)/im.test(headOf(text)) &&
  /message\/rfc822|\.eml\b/i.test(text)

/** A message and what is around it, or what the octets are instead. Pure, linear, never throws. */
export function readForm(octets: Uint8Array): Form | { readonly is: NotMail } {
  const is = fileKind(Buffer.from(octets.subarray(0, 1_024)))
  if (is === 'ole2') return ofOutlook(octets)
  if (is) return { is }
  const draft = decoded(Buffer.from(octets.buffer, octets.byteOffset, octets.length))
  takeEncoding(draft)
  takeCell(draft)
  takeTable(draft)
  takeVisible(draft)
  unwrapAppleMail(draft)
  takeBlankLines(draft)
  unwrapMbox(draft)
  takeTranscript(draft)
  takeFence(draft)
  takeWordsAboveMarks(draft)
  takeEmphasis(draft)
  takeMarks(draft)
  takeNumbers(draft)
  takeBlankEnds(draft)
  takeDoubledLines(draft)
  takeGaps(draft)
  takeEntities(draft)
  takeCharacters(draft)
  if (REDACTED.test(headOf(draft.text.slice(0, WINDOW)))) {
    draft.isCopied = true
    draft.notes.push('parts of the header were made unreadable')
  }
  if (hasLostOctets(draft.text)) {
    draft.isCopied = true
    draft.notes.push('octets that are no characters, as of a binary attachment, were lost when it was copied')
  }
  restoreFolding(draft)
  takeSummary(draft)
  if (!hasHeader(draft.text)) return { is: textKind(draft.text.slice(0, WINDOW)) }
  const lines = draft.text.slice(0, WINDOW).split('\n')
  const head = headAt(lines, 0)
  // A page that shows a message has some of its fields, too.
  if (!head.some(isKnown) && !lines.some((line) => TRACE.test(line))) return { is: 'no_header' }
  if (isQuotation(head)) return { is: 'quoted' }
  if (mayCarry(draft.text.slice(0, WINDOW))) takeAttached(draft)
  const headerOnly = isHeaderOnly(draft.text) && { intact: draft.notes.length === 0 && hasAuthor(head, 0) }
  const kind = headerOnly ? 'header_only' : (draft.kind ?? (draft.notes.length > 0 ? 'pasted' : 'message'))
  const missing = hasAuthor(head, 0)
    ? 'it is the header alone: the body is not here'
    : 'it is a part of a header: neither From nor the body is here'
  return {
    kind,
    notes: headerOnly ? [...draft.notes, missing] : draft.notes,
    octets: Buffer.from(draft.text, 'latin1'),
    ...(headerOnly && { headerOnly }),
    ...(draft.isCopied && { isCopied: true }),
  }
}

/** The header that an Outlook item keeps; its body is one of Outlook's own, not the one that was signed. */
function ofOutlook(octets: Uint8Array): Form | { readonly is: NotMail } {
  const found = transportHeader(Buffer.from(octets.buffer, octets.byteOffset, octets.length))
  if ('is' in found) return found
  // Some versions put a line of their own in front of it.
  const text = found.text.toString('latin1').replace(/^\s*(?:Microsoft Mail Internet Headers [^\n]{1,40}\n)?\s*/, '')
  if (!hasHeader(text)) return { is: 'outlook' }
  return {
    kind: 'msg',
    notes: [
      'it is an Outlook item (.msg), which keeps the header as it was received: the body that was sent is not here',
    ],
    octets: Buffer.from(text, 'latin1'),
    headerOnly: { intact: false },
  }
}

/** The first file in a document of Office (ECMA-376 part 2) or of OpenDocument; its name stands at octet 30. */
const OFFICE_ARCHIVE =
  /^PK\x03\x04[\s\S]{26}(?:\[Content_Types\]\.xml|_rels\/|docProps\/|word\/|xl\/|ppt\/|mimetypeapplication\/)/

function fileKind(start: Buffer): NotMail | 'ole2' | undefined {
  const text = start.toString('latin1')
  if (text.startsWith('%PDF-')) return 'pdf'
  if (text.startsWith('\xd0\xcf\x11\xe0')) return 'ole2'
  if (OFFICE_ARCHIVE.test(text)) return 'office'
  if (/^PK\x03\x04|^7z\xbc\xaf|^Rar!/.test(text)) return 'archive'
  if (text.startsWith('\x1f\x8b')) return 'gzip'
  if (text.startsWith('\x78\x9f\x3e\x22')) return 'tnef'
  if (text.startsWith('!BDN')) return 'outlook_store'
  if (/^(?:\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*|RIFF.{4}WEBP|.{4}ftyp(?:heic|heix|mif1|msf1|avif))/s.test(text))
    return 'picture'
  if (SAVED_PAGE.test(text)) return 'saved_page'
  // A signed or enveloped message in DER (RFC 5652 §3): its type comes first.
  if (/^\x30[\x80-\x84][\s\S]{0,4}\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07/.test(text)) return 'smime'
  if (text.startsWith('{\\rtf')) return 'rtf'
  if (/^(?:\xef\xbb\xbf)?\s*<(?:\?xml|feedback)[\s>]/i.test(text) && !/<html[\s>]/i.test(text)) return 'xml'
  return /^(?:\xef\xbb\xbf)?\s*<(?:\?xml|!doctype html|html|head|body)[\s>]/i.test(text) ? 'html' : undefined
}

/** What a text without the header of a message is. */
function textKind(text: string): NotMail {
  const bare = text.trim()
  if (bare === '') return 'empty'
  if (/^begin:vcalendar\b/i.test(bare)) return 'calendar'
  if (/^begin:vcard\b/i.test(bare)) return 'contact'
  if (/^-----BEGIN (?:PKCS7|CMS)-----/.test(bare)) return 'smime'
  if (/^-----BEGIN PGP /.test(bare)) return 'pgp'
  if (/^-----BEGIN (?:[A-Z]{1,12} ){0,3}(?:KEY|CERTIFICATE)-----/.test(bare)) return 'key'
  if (/^\{[\s\S]{0,2000}"(?:organization-name|report-id|policies)"/.test(bare)) return 'tls_report'
  if (/(?:^|["\s])v=(?:spf1|dmarc1|dkim1|stsv1|tlsrptv1|bimi1)\b/i.test(bare.slice(0, MAX_REMARK))) return 'record'
  if (/^(?:mailto:)?<?[^\s@<>]{1,64}@[^\s@<>]{1,255}\.[^\s@<>.]{2,63}>?$/i.test(bare)) return 'address'
  if (parseIp(bare).ok) return 'address'
  if (/^https?:\/\/[^\s/]{1,255}\/\S{1,2000}$/i.test(bare)) return 'link'
  if (/^(?:https?:\/\/)?(?:[\w-]{1,63}\.){1,10}[a-z][a-z\d-]{1,62}\.?\/?$/i.test(bare)) return 'domain'
  return 'no_header'
}

/** A web page that a browser saved as one file (MHTML). */
const SAVED_PAGE = /^(?:from:[ \t]*"?<?saved by|snapshot-content-location:)/im

/** Apple Mail keeps the number of octets, the message, and a property list. */
function unwrapAppleMail(draft: Draft): void {
  const found = /^\s{0,20}(\d{1,9})[ \t]{0,20}\r?\n(?=[!-9;-~]{1,76}[ \t]*:)/.exec(draft.text)
  if (!found) return
  const start = found[0].length
  const end = start + Number(found[1])
  // A text whose line ends were changed is longer: what stands behind the message is the list alone, or nothing.
  const isExact = /^\s*(?:<\?xml|$)/.test(draft.text.slice(end, end + 40))
  const list = isExact ? -1 : draft.text.lastIndexOf('<?xml version')
  draft.text = draft.text.slice(start, isExact ? end : list > start ? list : undefined)
  draft.kind = 'emlx'
}

function takeBlankLines(draft: Draft): void {
  const blank = /^[ \t\r\n]*\n/.exec(draft.text)
  if (!blank) return
  draft.text = draft.text.slice(blank[0].length)
  draft.notes.push('blank lines in front were taken away')
}

/** Blanks in empty lines, where no line is empty. */
function takeBlankEnds(draft: Draft): void {
  if (/\n\r?\n/.test(draft.text) || !/\n(?:[ \t]|\xc2?\xa0)+\r?\n/.test(draft.text)) return
  draft.text = draft.text.replace(/^(?:[ \t]|\xc2?\xa0)+\r?$/gm, '')
  draft.isCopied = true
  draft.notes.push('blanks in empty lines were taken away')
}

/** The first message of an mbox file (RFC 4155); `>From ` at the start of a line was `From `. */
function unwrapMbox(draft: Draft): void {
  if (!/^From [^\n]{1,1000}\n/.test(draft.text)) return
  const start = draft.text.indexOf('\n') + 1
  const others = [...draft.text.matchAll(/\n\r?\n(?=From [^\s]{1,320} [^\n]{0,80}\d\d:\d\d)/g)]
  const whole = draft.text.slice(start, others[0] ? others[0].index + 1 : undefined)
  const text = whole.replace(/^>(>*From )/gm, '$1')
  draft.kind = 'mbox'
  if (others.length > 0) draft.notes.push(`it is the first of ${others.length + 1} messages`)
  if (text.length < whole.length) draft.notes.push('lines that begin with ">From " lost the mark of the file')
  draft.text = text
}

/** The message of a dialogue in SMTP (RFC 5321 §4.5.2), or of a queue file as `postcat` shows it. */
function takeTranscript(draft: Draft): void {
  // swaks marks what it sends.
  if (/^ [-~]> DATA\r?$/m.test(draft.text.slice(0, WINDOW)))
    draft.text = draft.text.replace(/^ [-~]> ?/gm, '').replace(/^<[-~*]{1,2} {1,2}/gm, '')
  // Exim's spool file has the length of each field, and a mark, in front of it.
  if (
    /^\d{3}[ A-Z*] [!-9;-~]{1,76}:[^\n]*\n(?:[ \t][^\n]*\n)*\d{3}[ A-Z*] [!-9;-~]{1,76}:/m.test(
      draft.text.slice(0, WINDOW),
    )
  ) {
    const at = draft.text.search(/^\d{3}[ A-Z*] [!-9;-~]{1,76}:/m)
    draft.text = draft.text.slice(at).replace(/^\d{3}[ A-Z*] (?=[!-9;-~]{1,76}:)/gm, '')
    draft.notes.push('what stood around the header in the queue file was taken away')
    return
  }
  const start =
    /^(?:\*{3} MESSAGE CONTENTS [^\n]{1,200} \*{3}|DATA|354[ -][^\n]{0,500}|\+OK[^\n]{0,200})\r?\n(?![0-9])/m.exec(
      draft.text.slice(0, WINDOW),
    )
  const isQueue = start?.[0].startsWith('*') === true
  if (!start || (!isQueue && hasHeader(draft.text.slice(0, start.index)))) return
  const from = start.index + start[0].length
  const end = draft.text.indexOf(
    isQueue ? '\n*** HEADER EXTRACTED' : draft.text.includes('\r\n') ? '\n.\r\n' : '\n.\n',
    from,
  )
  const inner = draft.text.slice(from, end < 0 ? undefined : end + 1)
  draft.text = isQueue ? inner : inner.replace(/^\.\./gm, '.')
  draft.notes.push(`what stood around the message in ${isQueue ? 'the queue file' : 'the dialogue'} was taken away`)
}

/** Lines of Markdown around a block of code, or the marks of a forum. */
function takeFence(draft: Draft): void {
  const open =
    /(?<=^|\n)(`{3,9}|~{3,9})[^\n`~]{0,100}\n(?=[!-9;-~]{1,76}[ \t]*:|From )/.exec(draft.text.slice(0, WINDOW)) ??
    /^\[(code|quote|pre)(?:=[^\]\n]{0,100})?\]\s*/i.exec(draft.text) ??
    /^(\{(?:code|noformat|quote)|<pre)\b[^}>\n]{0,200}[}>]\s{0,20}/im.exec(draft.text.slice(0, WINDOW))
  // A block of code below a header is of the message.
  if (!open || hasHeader(draft.text.slice(0, open.index))) return
  const from = open.index + open[0].length
  const mark = open[1]!
  const end = draft.text.lastIndexOf(
    /^[`~]/.test(mark)
      ? `\n${mark}`
      : mark.startsWith('{')
        ? `${mark}}`
        : mark.startsWith('<')
          ? '</pre>'
          : `[/${mark}]`,
  )
  const until = end < from ? undefined : draft.text[end] === '\n' ? end + 1 : end
  draft.text = draft.text.slice(from, until)
  draft.notes.push('the fence of a block of code was taken away')
}

/** Words above a message whose lines have quote marks, and what stands below them. */
function takeWordsAboveMarks(draft: Draft): void {
  const lines = draft.text.split('\n')
  const bare = (line: string): string => line.replace(/^(?:(?:[>|][ \t]?){1,8}|[ \t]{1,16})/, '')
  const start = lines.slice(0, MAX_SUMMARY).findIndex((line) => isKnown(bare(line)))
  const mark = lines[start]?.[0] ?? ''
  if (start < 1 || !/[>| \t]/.test(mark)) return
  const end = lines.findIndex((line, i) => i > start && line.trim() !== '' && !line.startsWith(mark))
  const rest = lines.slice(start, end < 0 ? undefined : end)
  // Lines of a page begin with blanks, too: those of a header have fields of hosts, and an author.
  const isHeader = TRACE.test(bare(rest[0]!)) && rest.some((line) => /^[ \t]+from[ \t]*:/i.test(line))
  if (/[ \t]/.test(mark) && !isHeader) return
  draft.text = rest.join('\n')
  draft.notes.push('what stood around the quoted lines was taken away')
}

/** Blanks or quote marks in front of each line. */
function takeMarks(draft: Draft): void {
  if (/^\xc2?\xa0/.test(draft.text))
    draft.text = draft.text.replace(/^(?:\xc2?\xa0)+/gm, (blanks) => ' '.repeat(blanks.replaceAll('\xc2', '').length))
  const mark =
    /^(?:[ \t]{0,16}(?:[>|+][ \t]?){1,8}|[ \t]{0,16}[#%;*]{1,3}[ \t]|[ \t]{1,16})(?=[!-9;-~]{1,76}[ \t]*:)/.exec(
      draft.text,
    )?.[0]
  if (mark === undefined) return
  const escaped = mark.replace(/[|+*]/g, String.raw`\$&`)
  const bare = mark.trimEnd().replace(/[|+*]/g, String.raw`\$&`)
  if (new RegExp(String.raw`(?:^|\n)(?!${escaped}|${bare}[ \t]*(?:\r?\n|$)|\r?\n|$)`).test(draft.text)) {
    takeMixedMarks(draft)
    return
  }
  draft.text = draft.text.replace(new RegExp(`(^|\\n)(?:${escaped}|${bare}[ \\t]*(?=\\r?\\n|$))`, 'g'), '$1')
  if (bare !== '') draft.isCopied = true
  const what = bare === '' ? counted(mark.length, 'blank') : `the mark "${mark.trim()}"`
  draft.notes.push(`${what} in front of each line ${bare === '' && mark.length > 1 ? 'were' : 'was'} taken away`)
}

/** Quote marks of which only some have a blank behind them. */
function takeMixedMarks(draft: Draft): void {
  if (/^(?!>|\r?$)/m.test(draft.text)) return
  draft.text = draft.text.replace(/^> ?/gm, '')
  draft.isCopied = true
  draft.notes.push('the mark ">" in front of each line was taken away')
}

/** Numbers in front of each line, as editors and pages for snippets show them. */
function takeNumbers(draft: Draft): void {
  const mark = /^[ \t]*1([:.)|]?[ \t]{1,8})(?=[!-9;-~]{1,76}[ \t]*:)/.exec(draft.text)?.[1]
  if (mark === undefined) return
  const lines = draft.text.trimEnd().split('\n')
  const number = new RegExp(
    `^[ \\t]*(\\d{1,6})(?:${mark.replaceAll('|', '\\|').replace(/[.)]/, '\\$&')}|${mark.trim().replace(/[.)|]/, '\\$&')}\\s*$)`,
  )
  if (!lines.every((line, i) => Number(number.exec(line)?.[1]) === i + 1)) return
  draft.text = lines.map((line) => line.replace(number, '')).join('\n')
  draft.notes.push('numbers in front of each line were taken away')
}

/** An empty line behind every line. */
function takeDoubledLines(draft: Draft): void {
  const lines = draft.text.split('\n')
  const isDoubled = (line: string, i: number): boolean => i % 2 === 0 || line.trim() === ''
  if (
    lines.length < 8 ||
    !lines.slice(0, 8).every((line, i) => isDoubled(line, i) && (i % 2 > 0 || line.trim() !== ''))
  )
    return
  if (!lines.every(isDoubled)) return
  draft.text = lines.filter((_, i) => i % 2 === 0).join('\n')
  draft.isCopied = true
  draft.notes.push('the empty line behind every line was taken away')
}

/** Empty lines between the fields of a header. */
function takeGaps(draft: Draft): void {
  const blocks = draft.text.slice(0, WINDOW).split(/\n(?:[ \t]*\r?\n)+/)
  const isOneField = (block: string): boolean => {
    const [first = '', ...rest] = block.split('\n', MAX_HEAD)
    return isField(first) && rest.every((line) => FOLDED.test(line))
  }
  const end = blocks.findIndex((block) => !isOneField(block))
  const fields = blocks.slice(0, end < 0 ? undefined : end)
  if (fields.length < MIN_FIELDS) return
  draft.text = [fields.join('\n'), ...blocks.slice(fields.length)].join('\n\n') + draft.text.slice(WINDOW)
  draft.isCopied = true
  draft.notes.push('empty lines between the fields of the header were taken away')
}
/** So many paragraphs that are one field each are a header. */
const MIN_FIELDS = 5

/** Addresses and names that were made unreadable. */
const REDACTED =
  /^(?:from|to|cc|reply-to|return-path|message-id|delivered-to)[ \t]*:[^\n]{0,998}(?<![\w.-])(?:\[?(?:redacted|removed|hidden|anonymi[sz]ed)\]?|x{3,30}|\*{3,30})(?=[\s>@\])]|$)/im

/** Whether a text has the sign for an octet that was lost (U+FFFD, UTF-8 as latin1) more often than a person writes it. */
const hasLostOctets = (text: string): boolean => text.split('\xef\xbf\xbd', MIN_LOST + 1).length > MIN_LOST
const MIN_LOST = 8

/** A line that begins a field, and not the rest of a folded one such as `h=From:To`. */
const isField = (line: string): boolean => isKnown(line) || /^[A-Za-z][\w-]{0,75}[ \t]*:(?:[ \t]|\r?$)/.test(line)

/** Whether each line that lost its place is what did not fit behind the line above it. */
function isWrapped(head: readonly string[], isLost: (line: string) => boolean): boolean {
  const width = Math.max(...head.map((line) => line.trimEnd().length))
  return (
    width <= MAX_WIDTH &&
    head.every((line, i) => !isLost(line) || head[i - 1]!.trimEnd().length + 1 + line.search(/\s|$/) > width)
  )
}
/** Maximum width to which programs wrap text, characters. */
const MAX_WIDTH = 200

/**
 * Folded lines of a header that lost the blanks in front of them, as when text is copied from a web page, and lines that
 * a program wrapped.
 */
function restoreFolding(draft: Draft): void {
  const text = draft.text.replace(/^(?:\xc2?\xa0){1,200}/gm, ' ')
  const lines = text.split('\n', MAX_SUMMARY + MAX_HEAD)
  const start = lines.slice(0, MAX_SUMMARY).findIndex((line) => TRACE.test(line))
  const head = start < 0 ? [] : headAt(lines, start)
  const isLost = (line: string): boolean => !isField(line) && !FOLDED.test(line)
  const fields = head.filter(isField).length
  const isWhole = head.some((line) => FOLDED.test(line)) && !isWrapped(head, isLost)
  if (fields < 3 || isWhole || !head.some(isLost)) {
    if (text === draft.text || fields < 3 || start < 0) return
    draft.text = text
  } else {
    const behind = lines.slice(0, start + head.length).join('\n').length
    const restored = head.map((line) => (isLost(line) ? ` ${line}` : line))
    draft.text = [...lines.slice(0, start), ...restored].join('\n') + text.slice(behind)
  }
  draft.isCopied = true
  draft.notes.push('folded lines had lost the blanks in front of them')
}

/** Maximum number of lines of a header whose folding is restored. */
const MAX_HEAD = 2_000
/** Maximum number of lines of a page in front of a message. */
const MAX_SUMMARY = 200

/** The lines of a page ("Show original") in front of the header; they may look like fields. */
function takeSummary(draft: Draft): void {
  const lines = draft.text.slice(0, WINDOW).split('\n')
  const first = headAt(lines, 0)
  if (isRun(first) && first.some(isKnown)) return
  const top = lines.slice(0, MAX_SUMMARY)
  const trace = top.findIndex((line, i) => TRACE.test(line) && startsHeader(lines, i))
  const start = trace < 0 ? top.findIndex((line, i) => KNOWN.test(line) && isHeaderFrom(lines, i)) : trace
  if (start <= 0 || !hasAuthor(lines, start)) return
  draft.isCopied = true
  draft.text = withoutButtons(draft.text.slice(lines.slice(0, start).join('\n').length + 1))
  draft.notes.push(
    `${start === 1 ? 'one line' : `${start} lines`} of a page in front of the header ${start === 1 ? 'was' : 'were'} taken away`,
  )
}

/** Maximum number of buttons. */
const MAX_BUTTONS = 4

/** A text without such words as its last lines. */
function withoutButtons(text: string): string {
  let rest = text
  for (let i = 0; i < MAX_BUTTONS; i++) rest = withoutLast(rest, (line) => BUTTON.test(line) || CLOSE.test(line))
  return isHeaderOnly(rest) ? rest : withoutLast(text, (line) => CLOSE.test(line))
}

function withoutLast(text: string, isButton: (line: string) => boolean): string {
  const end = endOf(text, text.length)
  const at = text.lastIndexOf('\n', end - 1)
  if (at < 0 || !isButton(text.slice(at + 1, end).trimStart())) return text
  return `${text.slice(0, endOf(text, at))}\n`
}

/** Where the white space begins that ends a text before `from`; octets of UTF-8 are none. */
function endOf(text: string, from: number): number {
  let end = from
  while (end > 0 && ' \t\r\n'.includes(text[end - 1]!)) end--
  return end
}

/** A message that was forwarded as an attachment, if nothing else is in the outer one. */
/** Maximum length of what somebody writes above a message that he passes on, characters without blanks. */
const MAX_REMARK = 300

function takeAttached(draft: Draft): void {
  const mail = parseMail(Buffer.from(draft.text, 'latin1'))
  const { body } = mail
  const mime = parseMime(mail.fields, body)
  // What came back in a notice is no attachment.
  if (readBounce(mail, mime)) return
  const { parts } = mime
  const isMessage = ({ type, name }: Part): boolean =>
    type === 'message/rfc822' || (type === 'application/octet-stream' && /\.eml$/i.test(name))
  const isPicture = ({ type }: Part): boolean => type.startsWith('image/')
  const attached = parts.filter(isMessage)
  if (attached.length === 0) return
  draft.kind ??= 'message'
  const lengthOf = (part: Part): number =>
    contentOf(body, part, WINDOW)
      .toString('latin1')
      .replace(/<[^<>]{0,1000}>|&nbsp;|\s+/g, '').length
  const isWrapper = (part: Part): boolean =>
    isMessage(part) || isPicture(part) || (part.name === '' && lengthOf(part) <= MAX_REMARK)
  if (attached.length === 1 && parts.every(isWrapper)) {
    draft.text = contentOf(body, attached[0]!).toString('latin1')
    draft.notes.push('it was forwarded as an attachment: the attached message is analysed, not the one around it')
  } else draft.notes.push('it has another message attached, which is not analysed: to do so, give the attached file')
}

/** A date as people read it: `Nov 24, 2026 at 4:40 PM`, `24. November 2026 um 16:40`; not one that a program got wrong. */
const LOCAL_DATE =
  /[\s\d](?:at|um|om|kl\.?|alle|às|[ap]\.?m\.?)(?:[\s\d]|$)|[a-z\x80-\xff]{3,12}\.? \d{1,2},|\d{1,2}\.? (?:de )?[a-z\x80-\xff]{4,}/i

/**
 * Whether lines are what a program writes above a message that it quotes or forwards: `Sent`, or a date in the form of
 * a locale, and nothing of a server or of the program that made the message.
 */
function isQuotation(lines: readonly string[]): boolean {
  if (lines.some((line) => TRACE.test(line) || /^(?:message-id|mime-version|content-type)[ \t]*:/i.test(line)))
    return false
  const date = lines.find((line) => /^date[ \t]*:/i.test(line))
  const isLocal = date !== undefined && LOCAL_DATE.test(date)
  return hasAuthor(lines, 0) && (isLocal || lines.some((line) => /^sent[ \t]*:/i.test(line)))
}

/** Whether lines are fields alone. */
const isRun = (lines: readonly string[]): boolean =>
  lines.every((line, i) => FIELD.test(line) || (i > 0 && FOLDED.test(line)))

/** Whether two fields follow the one in this line. */
function startsHeader(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from, from + 100)
  const end = next.findIndex((line, i) => i > 0 && !FIELD.test(line) && !FOLDED.test(line))
  return next.slice(0, end < 0 ? undefined : end).filter((line) => FIELD.test(line)).length >= 3
}

/** The lines from one on up to the next empty one. */
function headAt(lines: readonly string[], from: number): readonly string[] {
  const rest = lines.slice(from)
  const end = rest.findIndex((line) => line.trim() === '')
  return end < 0 ? rest : rest.slice(0, end)
}

/** Whether the header that begins in this line has From: a damaged message loses no field. */
const hasAuthor = (lines: readonly string[], from: number): boolean =>
  headAt(lines, from).some((line) => /^from[ \t]*:/i.test(line))

/** Whether a header without trace fields begins in this line: fields up to an empty line. */
function isHeaderFrom(lines: readonly string[], from: number): boolean {
  const head = headAt(lines.slice(0, from + MAX_SUMMARY), from)
  return head.length >= 3 && isRun(head)
}

/** Whether any line in front is a field that a message has. */
const hasHeader = (text: string): boolean => text.slice(0, WINDOW).split('\n').some(isKnown)

/** Nothing of the body is behind the header, and no signature is over an empty one. */
function isHeaderOnly(text: string): boolean {
  const end = /\n\r?\n/.exec(text)
  if (end && /\S/.test(text.slice(end.index))) return lacksParts(text, end.index)
  return !signsNoBody(text.slice(0, end?.index))
}

/** Whether a header is followed by a few words alone that are no body of it, such as the foot of a page. */
function lacksParts(text: string, end: number): boolean {
  if (text.length - end > MAX_REMARK) return false
  if (isFoot(text.slice(end))) return true
  if (/^content-transfer-encoding:[ \t]*base64/im.test(text.slice(0, end)) && /[^A-Za-z0-9+/=\s]/.test(text.slice(end)))
    return true
  const type = /^content-type:[ \t]*multipart\/[\s\S]{0,998}?boundary="?([^"\s;]{1,70})/im.exec(text.slice(0, end))
  return type !== null && !text.slice(end).includes(`--${type[1]}`)
}
