import { isAscii } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Problem } from '../base/problem.ts'
import { type Canonicalization, hashBody } from './canonical.ts'
import { boundaryOf, contentOf, type Part, parseMime, parseParameters } from './mime.ts'
import { fieldBody, type Mail, parseFields } from './parse.ts'
import { causeProblem } from './problems.ts'
import { withoutRewriting } from './rewriters.ts'
import type { Signature } from './signature.ts'
import { decoded } from './words.ts'

/** Maximum size of a body of which changed forms are tried, octets: each of them is hashed. */
const MAX_BODY = 1_048_576
/** Maximum number of lines at the end, or at the begin, that may have been added. */
const MAX_ADDED_LINES = 60

/**
 * The effort that is left to find out what changed in a message, so that no message costs more than a part of a second.
 */
export type Effort = {
  octets: number
  forms: number
  /** The hashes of the changed bodies in the order in which they are tried: each is made once for all signatures. */
  readonly bodies: Map<string, string[]>
}

/** The change of a body that undone gives the hash that was signed. */
export function bodyCause(mail: Mail, signature: Signature, effort: Effort): Problem | undefined {
  const { body } = mail
  if (body.length > MAX_BODY) return undefined
  const { bodyHash, limit, body: how } = signature
  const hashes = effort.bodies.get(`${how} ${limit ?? ''}`) ?? []
  effort.bodies.set(`${how} ${limit ?? ''}`, hashes)
  let tried = 0
  const isHash = (candidate: Buffer, hash: (candidate: Buffer) => string): boolean => {
    const at = tried++
    if (hashes[at] === undefined) {
      effort.octets -= candidate.length
      if (effort.octets <= 0) return false
      hashes[at] = hash(candidate)
    }
    return hashes[at] === bodyHash
  }
  const isIt = (candidate: Buffer): boolean => isHash(candidate, (one) => hashBody(one, how, limit).hash)
  const changes = [
    () => lineEnds(body, how, (text) => isHash(Buffer.from(text, 'latin1').subarray(0, limit), sha256)),
    () => brokenLines(body, isIt),
    () => addedAtEnd(body, isIt),
    () => addedAtBegin(body, isIt),
    () => addedPart(mail, isIt),
    () => spaceAdded(body, isIt),
    () => reencoded(mail, isIt),
    () => escaped(body, isIt),
    () => recoded(mail, isIt),
    () => rewritten(mail, isIt),
    () => addedText(mail, (candidate) => effort.octets > 0 && isIt(candidate())),
    () => encrypted(mail),
  ]
  for (const change of changes) {
    const found = change()
    if (found || effort.octets <= 0) return found
  }
  return undefined
}

type IsIt = (candidate: Buffer) => boolean

export const mediaType = ({ fields }: Mail): string => {
  const field = fields.find(({ name }) => name === 'content-type')
  return field ? parseParameters(fieldBody(field)).value.toLowerCase() : ''
}

/** The places of the outermost parts of a multipart message, with their header sections. */
export function wrappedParts(mail: Mail): readonly { readonly start: number; readonly end: number }[] {
  const boundary = boundaryOf(mail.fields)
  if (boundary === undefined) return []
  const places: { start: number; end: number }[] = []
  const line = Buffer.from(`--${boundary}`, 'latin1')
  let start = -1
  for (let at = mail.body.indexOf(line); at >= 0 && places.length < 20; at = mail.body.indexOf(line, at + 1)) {
    if (start >= 0) places.push({ start, end: Math.max(start, at - 2) })
    const newline = mail.body.indexOf(0x0a, at)
    if (newline < 0) break
    start = newline + 1
  }
  return places
}

function addedAtEnd(body: Buffer, isIt: IsIt): Problem | undefined {
  let end = body.length
  for (let lines = 1; lines <= MAX_ADDED_LINES && end > 0; lines++) {
    const newline = body.lastIndexOf(0x0a, end - 2)
    const at = newline < 0 ? 0 : newline + 1
    if (isIt(body.subarray(0, at))) return causeProblem('footer', { lines, text: excerpt(body.subarray(at)) })
    end = at
  }
  return undefined
}

function addedAtBegin(body: Buffer, isIt: IsIt): Problem | undefined {
  let at = 0
  for (let lines = 1; lines <= MAX_ADDED_LINES; lines++) {
    const newline = body.indexOf(0x0a, at)
    if (newline < 0) return undefined
    at = newline + 1
    if (isIt(body.subarray(at))) return causeProblem('banner', { lines, text: excerpt(body.subarray(0, at)) })
  }
  return undefined
}

/** The first line with letters, for people to recognise what was added. */
const excerpt = (added: Buffer): string =>
  added
    .toString('utf8', 0, 2_000)
    .split('\r\n')
    .map((line) => line.trim())
    .find((line) => /[\p{L}\p{N}]/u.test(line.replace(/=[0-9A-F]{2}/g, '')))
    ?.slice(0, 80) ?? ''

/** A list that wrapped the message in a multipart and added a part, or added a part to one: without it. */
function addedPart(mail: Mail, isIt: IsIt): Problem | undefined {
  const places = wrappedParts(mail)
  for (const { start, end } of places.slice(0, 3)) {
    const head = parseFields(mail.body.subarray(start, end))
    const content = mail.body.subarray(start + head.end, end)
    const candidates = [content, Buffer.concat([content, Buffer.from('\r\n')])]
    if (candidates.some(isIt)) return causeProblem('wrapped', { type: mediaType(mail) })
  }
  for (const { start, end } of places.slice(1)) {
    // the part with the boundary line before it
    const lineAt = mail.body.lastIndexOf(0x0a, start - 2) + 1
    const without = Buffer.concat([mail.body.subarray(0, lineAt), mail.body.subarray(end + 2)])
    const head = parseFields(mail.body.subarray(start, end))
    if (isIt(without)) return causeProblem('part_added', { text: excerpt(mail.body.subarray(start + head.end, end)) })
  }
  return undefined
}

/**
 * A relay that had to send 7-bit text converted the body to quoted-printable or base64 (RFC 6152 §3), or a gateway
 * decoded it or encoded it anew.
 */
function reencoded(mail: Mail, isIt: IsIt): Problem | undefined {
  const { parts } = parseMime(mail.fields, mail.body)
  if (parts.length === 1 && parts[0]!.depth === 0) {
    const [{ encoding: to }] = parts as [Part]
    for (const encoding of ['quoted-printable', 'base64']) {
      const octets = contentOf(mail.body, { start: 0, end: mail.body.length, encoding })
      if (isIt(octets)) return causeProblem('reencoded_body', { from: '8bit', to: encoding })
      if (isIt(Buffer.from(octets.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')))
        return causeProblem('reencoded_body', { from: '8bit', to: encoding })
    }
    const octets = contentOf(mail.body, parts[0]!)
    if (to === 'quoted-printable' || to === 'base64') {
      const second = addedAtEnd(octets, isIt) ?? addedAtBegin(octets, isIt)
      const first = causeProblem('reencoded_body', { from: '8bit', to })
      if (second) return causeProblem('two', { first, second })
    }
    if ([76, 72, 64, 60].some((width) => isIt(base64Of(octets, width))))
      return causeProblem('reencoded_body', { from: 'base64', to })
    return isIt(quotedPrintableOf(octets))
      ? causeProblem('reencoded_body', { from: 'quoted-printable', to })
      : undefined
  }
  for (const from of ['8bit', 'quoted-printable', 'base64']) {
    const original = withTextsIn(mail, from)
    if (original && isIt(original.body)) return causeProblem('reencoded_body', { from, to: original.to })
  }
  return undefined
}

const base64Of = (octets: Buffer, width: number): Buffer =>
  Buffer.from(`${octets.toString('base64').replace(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\r\n')}\r\n`, 'latin1')

/** A text in quoted-printable as most programs write it: lines of at most 76 characters (RFC 2045 §6.7). */
function quotedPrintableOf(octets: Buffer): Buffer {
  const lines = octets
    .toString('latin1')
    .replace(/[^\t\r\n -<>-~]/g, hexOctet)
    .replace(/[ \t](?=\r\n|$)/g, hexOctet)
    .split('\r\n')
    .map((line) => {
      const pieces: string[] = []
      let at = 0
      while (line.length - at > MAX_QUOTED_LINE) {
        // an octet is never cut
        let end = at + MAX_QUOTED_LINE - 1
        if (line[end - 1] === '=') end -= 1
        else if (line[end - 2] === '=') end -= 2
        pieces.push(line.slice(at, end))
        at = end
      }
      return [...pieces, line.slice(at)].join('=\r\n')
    })
  return Buffer.from(lines.join('\r\n'), 'latin1')
}
const MAX_QUOTED_LINE = 76
const hexOctet = (char: string): string => `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

/** A text in a character set of 8 bits that was UTF-8, or the other way round. */
function recoded({ fields, body }: Mail, isIt: IsIt): Problem | undefined {
  const [part, ...others] = parseMime(fields, body).parts
  if (others.length > 0 || !part?.type.startsWith('text/') || isAscii(body)) return undefined
  const { charset } = part
  if (charset === 'utf-8') {
    const octets = Buffer.from(body.toString('utf8'), 'latin1')
    return isIt(octets) ? causeProblem('recoded', { from: 'iso-8859-1', to: charset }) : undefined
  }
  return isIt(Buffer.from(decoded(body, charset))) ? causeProblem('recoded', { from: 'utf-8', to: charset }) : undefined
}

/** A body that nobody can read says nothing of what it was. */
function encrypted(mail: Mail): Problem | undefined {
  const type = mediaType(mail)
  return /^(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime)$/.test(type)
    ? causeProblem('encrypted', { type })
    : undefined
}

/**
 * A multipart body with every text that names its encoding in another one, its field Content-Transfer-Encoding
 * included; `to` is the encoding that the first of them has.
 */
function withTextsIn(mail: Mail, wanted: string): { readonly body: Buffer; readonly to: string } | undefined {
  const { parts } = parseMime(mail.fields, mail.body)
  const pieces: Buffer[] = []
  let from = 0
  let to = ''
  for (const part of parts) {
    const { start, end, encoding, type } = part
    if (!type.startsWith('text/') || encoding === wanted || (wanted === '8bit' && encoding === '7bit')) continue
    const before = mail.body.toString('latin1', from, start)
    const headAt = before.toLowerCase().lastIndexOf('content-transfer-encoding:')
    if (headAt < 0 || before.indexOf('\r\n\r\n', headAt) !== before.length - 4) continue
    const head = before.slice(headAt).replace(/(:[ \t]*)[\w-]{1,40}/, `$1${wanted}`)
    const octets = contentOf(mail.body, part)
    pieces.push(Buffer.from(before.slice(0, headAt) + head, 'latin1'))
    if (wanted === 'base64') pieces.push(base64Of(octets, 76).subarray(0, -2))
    else pieces.push(wanted === '8bit' ? octets : quotedPrintableOf(octets))
    from = end
    to ||= encoding
  }
  return pieces.length === 0 ? undefined : { body: Buffer.concat([...pieces, mail.body.subarray(from)]), to }
}

/**
 * Lines that a mailbox in mbox form escaped (`>From `), a byte order mark or empty lines that a program added, first
 * empty lines that it removed, and dots that a broken client doubled or lost (RFC 5321 §4.5.2).
 */
function escaped(body: Buffer, isIt: IsIt): Problem | undefined {
  const text = body.toString('latin1')
  const forms = [
    [/^>From /gm, 'From ', 'from_escaped'],
    [/^\xef\xbb\xbf/, '', 'bom'],
    [/^(?!\xef\xbb\xbf)/, '\xef\xbb\xbf', 'bom_lost'],
    [/\r\n\r\n/g, '\r\n', 'lines_doubled'],
    [/^/, '\r\n', 'first_line_lost'],
    [/^/, '\r\n\r\n', 'first_line_lost'],
    [/^\.\./gm, '.', 'dots_doubled'],
    [/^\./gm, '..', 'dots_lost'],
  ] as const
  const found = forms.find(([pattern, form]) => {
    const original = text.replace(pattern, form)
    return original !== text && isIt(Buffer.from(original, 'latin1'))
  })
  return found && causeProblem(found[2])
}

/** Blanks at the ends of lines, which c=simple counts. */
function spaceAdded(body: Buffer, isIt: IsIt): Problem | undefined {
  const text = body.toString('latin1')
  const bare = text.replace(/(?<![ \t])[ \t]+(?=\r\n)/g, '')
  return bare !== text && isIt(Buffer.from(bare, 'latin1')) ? causeProblem('space_added') : undefined
}

const sha256 = (octets: Buffer): string => createHash('sha256').update(octets).digest('base64')

/**
 * The signer hashed lines that end with LF alone: either they end so in its canonical form, or it takes CRLF alone for
 * the end of a line, so that the whole body is one line.
 */
function lineEnds(body: Buffer, how: Canonicalization, isHashed: (text: string) => boolean): Problem | undefined {
  const lf = body.toString('latin1').replaceAll('\r\n', '\n')
  const text = how === 'simple' ? lf : lf.replace(/[ \t]+/g, ' ')
  const stripped = how === 'simple' ? text : text.replaceAll(' \n', '\n')
  let end = stripped.length
  while (stripped[end - 1] === '\n') end--
  const forms = [`${stripped.slice(0, end)}\n`, `${text}\r\n`, stripped]
  return forms.some(isHashed) ? causeProblem('line_ends') : undefined
}

/** Minimum length of lines that a server broke, octets; of ones without a mark at the break. */
const MIN_BROKEN = 900
const MIN_UNMARKED = 980
/** How servers break long lines (Sendmail writes `!` in front of the new line), and what was there before. */
const BREAKS = [
  { end: '!', begin: ' ', was: '' },
  { end: '', begin: ' ', was: '' },
  { end: '', begin: '\t', was: '' },
  { end: '!', begin: '', was: '' },
  { end: '', begin: '', was: '' },
  { end: '', begin: '', was: ' ' },
] as const

/** Long lines that a server broke (RFC 5321 §4.5.3.1.6). */
function brokenLines(body: Buffer, isIt: IsIt): Problem | undefined {
  const lines = body.toString('latin1').split('\r\n')
  if (!lines.some(({ length }) => length >= MIN_BROKEN)) return undefined
  const found = BREAKS.some(({ end, begin, was }) => {
    const least = end === '' && begin === '' ? MIN_UNMARKED : MIN_BROKEN
    const isBroken = lines.map(
      (line, i) => line.length >= least && line.endsWith(end) && (lines[i + 1]?.startsWith(begin) ?? false),
    )
    if (!isBroken.includes(true)) return false
    const pieces = lines.map((line, i) => {
      const from = isBroken[i - 1] ? begin.length : 0
      if (isBroken[i]) return `${line.slice(from, line.length - end.length)}${was}`
      return `${line.slice(from)}${i < lines.length - 1 ? '\r\n' : ''}`
    })
    return isIt(Buffer.from(pieces.join(''), 'latin1'))
  })
  return found ? causeProblem('lines_broken') : undefined
}

/** Links that a filter of the receiver rewrote; those of an encoded part are read and not undone. */
function rewritten({ fields, body }: Mail, isIt: IsIt): Problem | undefined {
  const found = withoutRewriting(body.toString('latin1'))
  if (found)
    return causeProblem('links_rewritten', {
      service: found.service,
      isProven: isIt(Buffer.from(found.text, 'latin1')),
    })
  const encoded = parseMime(fields, body).parts.filter(
    ({ type, encoding }) => type.startsWith('text/') && (encoding === 'quoted-printable' || encoding === 'base64'),
  )
  for (const part of encoded) {
    const service = withoutRewriting(contentOf(body, part).toString('latin1'))?.service
    if (service !== undefined) return causeProblem('links_rewritten', { service, isProven: false })
  }
  return undefined
}

/** Maximum number of places in HTML at which an addition may begin or end. */
const MAX_PLACES = 60
/** The same where the plain text got an addition, too, and its maximum number of lines. */
const MAX_PLACES_OF_TWO = 40
const MAX_LINES_OF_TWO = 16
/** Maximum length of an addition to HTML. */
const MAX_MARKUP = 8_192

/** A text of the body. `written`: how it is written there. */
type Leaf = {
  readonly start: number
  readonly end: number
  readonly isHtml: boolean
  readonly text: string
  readonly written: (text: string) => string
}
/** A part of a text, by its place there. */
type Addition = { readonly leaf: Leaf; readonly start: number; readonly end: number }
/** The same as {@link IsIt} for a body that is only made while there is effort left. */
type IsMade = (candidate: () => Buffer) => boolean

/** What gateways write at the begin or the end of the HTML, of the plain text, or of both. */
function addedText(mail: Mail, isMade: IsMade): Problem | undefined {
  const found = addedTextIn(mail, isMade)
  if (found) return found
  // The last tags were written in the other case, too.
  const closing = /<\/(?:body|html)>/gi
  const text = mail.body.toString('latin1')
  for (const written of [
    text.replace(closing, (tag) => tag.toLowerCase()),
    text.replace(closing, (tag) => tag.toUpperCase()),
  ]) {
    const other = written === text ? undefined : addedTextIn({ ...mail, body: Buffer.from(written, 'latin1') }, isMade)
    if (other) return other
  }
  return undefined
}

function addedTextIn(mail: Mail, isMade: IsMade): Problem | undefined {
  const leaves = leavesOf(mail)
  const html = leaves.find(({ isHtml }) => isHtml)
  const plain = leaves.find(({ isHtml, end }) => !isHtml && (!html || end < html.start))
  const holds = (...additions: readonly Addition[]): boolean => isMade(() => without(mail.body, additions))
  for (const place of ['end', 'beginning'] as const) {
    const ofHtml = html ? additionsTo(html, place) : []
    const ofPlain = plain ? linesAt(plain, place, MAX_ADDED_LINES) : []
    const alone = [...ofHtml.slice(0, MAX_PLACES), ...ofPlain].find((one) => holds(one))
    if (alone) return addition(alone, place)
    for (const other of ofPlain.slice(0, MAX_LINES_OF_TWO))
      for (const one of ofHtml.slice(0, MAX_PLACES_OF_TWO)) if (holds(other, one)) return addition(one, place)
  }
  return undefined
}

function leavesOf({ fields, body }: Mail): readonly Leaf[] {
  return parseMime(fields, body).parts.flatMap((part): Leaf[] => {
    const { start, end, type, encoding } = part
    if (type !== 'text/html' && type !== 'text/plain') return []
    // Its lines are those of the body.
    if (type === 'text/plain' && part.depth === 0 && encoding !== 'base64') return []
    const raw = body.toString('latin1', start, end)
    const leaf = { start, end, isHtml: type === 'text/html' }
    if (encoding !== 'base64') return [{ ...leaf, text: raw, written: (text) => text }]
    const behind = raw.slice(raw.trimEnd().length)
    const written = (text: string): string =>
      `${Buffer.from(text, 'latin1')
        .toString('base64')
        .replace(/.{76}(?=.)/g, '$&\r\n')}${behind}`
    return [{ ...leaf, text: contentOf(body, part).toString('latin1'), written }]
  })
}

/** The body without additions, in the order of their texts. */
function without(body: Buffer, additions: readonly Addition[]): Buffer {
  const pieces: Buffer[] = []
  let from = 0
  for (const { leaf, start, end } of additions) {
    const text = leaf.written(leaf.text.slice(0, start) + leaf.text.slice(end))
    pieces.push(body.subarray(from, leaf.start), Buffer.from(text, 'latin1'))
    from = leaf.end
  }
  return Buffer.concat([...pieces, body.subarray(from)])
}

const MARKUP = /<style\b[^<]{0,8000}<\/style>|<[^<>]{0,1000}>/gi

function addition({ leaf, start, end }: Addition, place: 'beginning' | 'end'): Problem {
  const added = leaf.text.slice(start, end)
  const text = excerpt(Buffer.from(leaf.isHtml ? added.replace(MARKUP, '\r\n') : added, 'latin1'))
  if (leaf.isHtml) return causeProblem('markup_added', { place, text })
  const lines = added.split('\r\n').filter((line) => line !== '').length
  return place === 'end' ? causeProblem('footer', { lines, text }) : causeProblem('banner', { lines, text })
}

/** Ranges of HTML, nearest to its end or begin first; each also with the line break beside it. */
function additionsTo(leaf: Leaf, place: 'beginning' | 'end'): readonly Addition[] {
  const html = leaf.text
  if (place === 'end') return [...linesAt(leaf, place, MAX_LINES_OF_TWO), ...beforeTags(leaf)]
  const open = /<body\b[^<>]{0,2000}>/i.exec(html)
  const from = open ? open.index + open[0].length : 0
  const closes = [
    ...html.slice(from, from + MAX_MARKUP).matchAll(/<\/(?:table|div|p|span|center)>|<(?:br|hr)\b[^<>]{0,200}>/gi),
  ]
  return closes.flatMap(({ index, 0: tag }) => {
    const at = from + index + tag.length
    const range = { leaf, start: from, end: at }
    return html.slice(at, at + 2) === '\r\n' ? [{ ...range, end: at + 2 }, range] : [range]
  })
}

/** Ranges before `</body>`, between it and `</html>`, and behind that, the last ones first. */
function beforeTags(leaf: Leaf): readonly Addition[] {
  const html = leaf.text
  const lower = html.toLowerCase()
  const ranges: Addition[][] = []
  let from = 0
  for (const tag of ['</body>', '</html>', '']) {
    const close = tag === '' ? html.length : lower.lastIndexOf(tag)
    if (close < from) continue
    const start = Math.max(from, close - MAX_MARKUP)
    const between = html.slice(start, close)
    const opens = [...between.matchAll(/<(?:hr|div|table|p|br|img|span|style|font|center|a)\b/gi)]
    const places = opens.reverse().flatMap(({ index }) => {
      const at = start + index
      return html.slice(Math.max(from, at - 2), at) === '\r\n' ? [at - 2, at] : [at]
    })
    // Behind a closing tag everything is an addition.
    if (from > 0 && start === from && between.trim() !== '')
      places.push(from, ...(between.startsWith('\r\n') ? [from + 2] : []))
    ranges.unshift(places.map((at) => ({ leaf, start: at, end: close })))
    from = close + tag.length
  }
  return ranges.flat()
}

/** The last or the first lines of a text, each range one line longer; the last ones also with the break before them. */
function linesAt(leaf: Leaf, place: 'beginning' | 'end', max: number): readonly Addition[] {
  const { text } = leaf
  const ranges: Addition[] = []
  let at = place === 'end' ? text.length : 0
  for (let lines = 0; lines < max; lines++) {
    at = place === 'end' ? text.lastIndexOf('\r\n', at - 1) : text.indexOf('\r\n', at) + 2
    if (place === 'beginning' ? at < 2 : at <= 0) break
    if (place === 'beginning') ranges.push({ leaf, start: 0, end: at })
    else ranges.push({ leaf, start: at, end: text.length }, { leaf, start: at + 2, end: text.length })
  }
  return ranges
}
