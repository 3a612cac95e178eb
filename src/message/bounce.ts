import { isUtf8 } from 'node:buffer'
import type { HeavyKind } from '../lane/heavy.ts'
import { type Explanation, explainReply } from '../mailbox/reply/explain.ts'
import { bouncesInJson, valueIn } from './json-mail.ts'
import { contentOf, type Mime, type Part, parseMime } from './mime.ts'
import { decodedField, type Field, type Mail, mailboxesOf, parseFields, parseMail } from './parse.ts'
import { decoded } from './words.ts'

/** What became of one recipient (RFC 3464 §2.3.3). */
type Action = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

type BounceRecipient = {
  /** Absent for a reply alone. */
  readonly address?: string
  readonly action: Action
  readonly status?: string
  readonly code?: number
  readonly remoteMta?: string
  /** What the server said, at most 1,000 characters; empty if nothing is told. */
  readonly text: string
  readonly about: Explanation['about']
  readonly permanent: boolean
  readonly meaning: string
  readonly toDo?: string
}

/** The part of the message that came back. */
export type Returned = {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly date: string
  /** Only its header section came back. */
  readonly headerOnly: boolean
  readonly octets: Uint8Array
}

/** A notice about the delivery of a message. */
export type Bounce = {
  /** At most {@link MAX_RECIPIENTS}, at least one. */
  readonly recipients: readonly BounceRecipient[]
  readonly returned?: Returned
}

const MAX_RECIPIENTS = 100
/** Maximum size of a report, and of a notice in words, that is read, octets. */
const MAX_NOTICE = 256 * 1024
const MAX_TEXT = 1_000

/**
 * Reads a notice about the delivery of a message: by its delivery-status fields (RFC 3464, RFC 6533), otherwise by the
 * words of Postfix, Exim, Exchange, Gmail, qmail, Sendmail and Courier. Undefined for any other message, also for
 * complaints, receipts and automatic replies. What it says is its sender's word. Pure, linear.
 */
export function readBounce(mail: Mail, mime: Mime = parseMime(mail.fields, mail.body)): Bounce | undefined {
  const part = (type: RegExp): Part | undefined => mime.parts.find((one) => type.test(one.type))
  if (part(/^message\/(?:feedback-report|disposition-notification)$/)) return undefined
  const declared = part(/^message\/(?:global-)?delivery-status$/)
  if (!declared && !isFromDaemon(mail)) return undefined
  const report = declared ?? reportIn(mail, mime)
  const words = part(/^text\/plain$/) ?? part(/^text\/html$/)
  const [notice, behind] = noticeOf(mail, words ?? (mime.parts.length === 0 ? wholeOf(mail) : undefined))
  if (!report && !tellsFailure(mail, notice)) return undefined
  const copy = part(/^message\/(?:rfc822|global|rfc822-headers|global-headers)$|^text\/rfc822-headers$/)
  const returned = copy ? returnedOf(contentOf(mail.body, copy), copy.type.endsWith('headers')) : returnedOf(behind)
  const sender = returned && senderOf(returned.octets)
  const reported = report ? fromReport(contentOf(mail.body, report, MAX_NOTICE), notice, sender) : []
  const to = returned && soleRecipientOf(returned.octets)
  return bounceOf(reported.length > 0 ? reported : fromNotice(mail.fields, notice, sender, to), returned)
}

/** The body of a notice whose parts cannot be told apart: its boundary was changed or cut off. */
const wholeOf = ({ body }: Mail): Words => ({
  type: 'text/plain',
  charset: 'us-ascii',
  encoding: '',
  start: 0,
  end: body.length,
})
type Words = Pick<Part, 'type' | 'charset' | 'encoding' | 'start' | 'end'>

/** A report that is attached as a text. */
const reportIn = (mail: Mail, mime: Mime): Part | undefined =>
  mime.parts
    .filter(({ type }) => type === 'text/plain')
    .slice(1, 4)
    .find((one) => REPORT_FIELD.test(contentOf(mail.body, one, MAX_NOTICE).toString('latin1')))

const bounceOf = (recipients: readonly BounceRecipient[], returned: Returned | undefined): Bounce | undefined =>
  recipients.length === 0
    ? undefined
    : { recipients: recipients.slice(0, MAX_RECIPIENTS), ...(returned && { returned }) }

/** The recipients of a notice in words, which may have the fields of a report in them. */
function fromNotice(
  fields: readonly Field[],
  notice: string,
  sender: string | undefined,
  to?: string | undefined,
): BounceRecipient[] {
  const fieldsAt = notice.search(REPORT_FIELD)
  if (fieldsAt < 0) return fromWords(fields, notice, sender, to)
  return fromReport(fieldsIn(notice.slice(fieldsAt)), notice.slice(0, fieldsAt), sender)
}
const REPORT_FIELD = /^[ \t]*final-recipient[ \t]*:/im

/** Reads a notice; null for any other message. */
export const notice: HeavyKind<null, Bounce | null> = {
  name: 'notice',
  work: (octets) => readBounce(parseMail(octets)) ?? null,
}

/** Maximum size of a header section that is looked at, octets. */
const MAX_HEAD = 64 * 1024
/** Whether the header of a message has a sign of a notice: most messages are not read for one. */
export function mayBeNotice(octets: Uint8Array): boolean {
  const head = Buffer.from(octets.subarray(0, MAX_HEAD)).toString('latin1')
  const end = /\r?\n\r?\n/.exec(head)?.index ?? head.length
  return SIGNS.test(head.slice(0, end))
}
const SIGNS =
  /multipart\/report|message\/(?:global-)?delivery-status|^x-failed-recipients:|^(?:return-path|from):[ \t]*<>|^from:.{0,300}(?:mailer-?daemon|mdaemon|post_?master|mail deliver|delivery (?:sub)?system|(?:mail|system) administrator|microsoft ?(?:exchange|outlook))/im

/**
 * The reply of a server in a pasted text: the text begins with a code, or it has one as a program, a log or a person
 * passes it on. Undefined where there is none, and for a text with a field of a message.
 */
export function replyIn(pasted: string): string | undefined {
  if (MESSAGE_FIELD.test(pasted)) return undefined // a message: nothing more of it is read
  const text = pasted
    .replace(/\((\d{3}), b?['"]/, '$1 ')
    .replace(/^(?:[ \t]*(?:>|<{3}|S:|#(?=\d{3}\b)))+/gm, '')
    .replace(CODE_LINE, '$1 ')
    .replace(CODE_BEHIND, ': $2 $3 $1')
  if (MESSAGE_FIELD.test(text)) return undefined
  const refusal = REFUSAL.exec(text)
  if (refusal) return withoutTail(text.slice(refusal.index + refusal[1]!.length))
  return REPLY.test(text) ? text : undefined
}
const MESSAGE_FIELD =
  /^[ \t]*(?:return-path|received|authentication-results|dkim-signature|from|to|subject|date|message-id|mime-version|content-type):[ \t]/im
/** A field that no notice in words repeats. */
const HEADER_FIELD =
  /^[ \t]*(?:return-path|received|authentication-results|dkim-signature|mime-version|content-type):[ \t]/im
/** A code at the end of a line, by itself or behind a label, whose words are on the next one. */
const CODE_LINE =
  /^(?:[^\n]{0,80}\b(?:\p{L}{0,12}-?code|c[oó]digo|codice|kod|error|erreur|errore|\p{L}{0,12}fehler|fout|status)\b[^\n\d]{0,20}|[ \t]*)([45]\d\d)[ \t.:]*\r?\n\s*(?:(?:error )?(?:message|text|description|reason|details?|response|meldung|explanation)[ \t]*[:=][ \t]*)?(?=\S)/imu
/** PHPMailer tells the code behind the words. */
const CODE_BEHIND =
  /\bdetail: ([^\n]{1,500}?) smtp code: ([45]\d\d)(?: additional smtp info: ([45]\.\d{1,3}\.\d{1,3}))?/i
const REPLY = /^\s*(?:[245]\d\d(?:[ -]|\s*$)|#?[245]\.\d{1,3}\.\d{1,3}(?:\s|$))/
/** A refusal at the begin of a line, behind the words of who passes it on, or with an enhanced code. */
const REFUSAL = new RegExp(
  [
    '(',
    '(?:^|\\n)[ \\t"\'(]{0,8}(?=[45]\\d\\d[ -]\\S)',
    '|\\b(?:said|says|replied|responded|returned|response|reply|answer|error|server|status|smtp|rcpt|rejected|diagnostic|sagte|meldet|repondu|répondu|respondió|ответил|返信|応答)\\b[^\\n]{0,120}?[\\s:;\'"(](?=[45]\\d\\d[ -]\\S)',
    '|[\\s:;\'"(=](?=[45]\\d\\d[ -]#?[45]\\.\\d{1,3}\\.\\d{1,3}\\b)',
    '|:[ \\t]*\\n[ \\t]*(?=[45]\\.[0-7]\\.\\d{1,3} \\S)',
    '|\\b(?:error|failed|responded|replied|said)\\b[^\\n]{0,200}?: (?=[45]\\.[0-7]\\.\\d{1,3} \\S)',
    '|\\bdsn=(?=[45]\\.\\d{1,3}\\.\\d{1,3}, stat=)',
    ')',
  ].join(''),
  'i',
)
const TAIL =
  /[ \t]{0,4}\(in reply to [^()]{1,80}\)\)?[\s\S]*$|\n[ \t]{0,8}(?:QUIT|RSET|DATA|221 )[\s\S]*$|['"][)}\]]*\s*$/i
const withoutTail = (text: string): string => text.replace(TAIL, '').trimEnd()

/**
 * A bounce in a pasted text without the header of a message: the words of a notice, otherwise one reply of a server, as
 * the bounce of a recipient whom nobody names. Undefined for any other text. Pure, linear.
 */
export function readPasted(given: string): Bounce | undefined {
  // A form of a page has CRLF.
  const pasted = withoutForward(given.replaceAll('\r\n', '\n'))
  const fieldAt = MESSAGE_FIELD.exec(pasted)?.index
  const copy = COPY.exec(pasted.slice(0, fieldAt))
  const isAbout =
    fieldAt !== undefined &&
    !HEADER_FIELD.test(pasted) &&
    saysFailed(/^\s*[\w-]{1,76}:/.test(pasted) ? pasted.slice(0, fieldAt) : pasted)
  if (fieldAt !== undefined && !copy && !isAbout) return undefined // a message
  const words = pasted.slice(0, copy?.index)
  const isNotice = saysFailed(words) || REPORT_FIELD.test(words) || (PASSED_ON.test(words) && blocksOf(words).size > 0)
  if (!REPLY.test(words) && isNotice) {
    const returned = copy ? returnedOf(Buffer.from(copyBehind(pasted, copy))) : undefined
    const bounce = bounceOf(fromNotice([], words, returned && senderOf(returned.octets)), returned)
    if (bounce) return bounce
  }
  const told = bouncesInJson(valueIn(pasted))
  if (told.length > 0)
    return bounceOf(
      told.map(({ text, ...one }) => recipientOf(saidIn(text), { ...one, action: 'failed' }, {})),
      undefined,
    )
  const reply = replyIn(pasted)
  if (reply === undefined) return undefined
  const logged = LOGGED.exec(pasted)
  const address = logged?.[1] ?? logged?.[2]
  const action = /^\s*#?4/.test(reply) ? 'delayed' : 'failed'
  return { recipients: [recipientOf(reply, { action, ...(address !== undefined && { address }) }, {})] }
}
/** How a mail server begins what another one said. */
const PASSED_ON =
  /\b(?:said:|refused to talk to me:|smtp error from remote (?:mail )?server|remote server returned)|^\s*<[^\s<>]{1,64}@[^\s<>]{1,255}>: \S/i
/** The recipient in the log of Postfix, Sendmail and Exim, and in a dialogue. */
const LOGGED =
  /\b(?:to=|rcpt to:[ \t]{0,4})<([^\s<>]{1,64}@[^\s<>]{1,255})>|[ \t](?:\*\*|==)[ \t]([^\s<>]{1,64}@[^\s<>:]{1,255})/i

/** A notice that a person quotes or forwards, without the marks and the lines that the mail program put in front. */
function withoutForward(pasted: string): string {
  const isQuoted = /^>[^\n]*(?:\n>[^\n]*){2}/m.test(pasted) && !/^>{2,3} (?:rcpt|mail|data|ehlo)\b/im.test(pasted)
  const bare = isQuoted ? pasted.replace(/^>[> ]{0,8}/gm, '') : pasted
  if (HEADER_FIELD.test(bare)) return bare
  return bare.replace(
    FORWARDED,
    (head) => `${head.replace(/\S{1,64}@\S{1,255}/g, '').replace(/^[^\n:]{1,30}:/gm, '')}\n`,
  )
}
/** The fields that a mail program shows of a notice that it forwards, in any language; their words are kept. */
const FORWARDED =
  /^(?:[^\n]{0,200}\n){0,6}?[ \t*]{0,4}[^\s:@][^\n:@]{0,20}:[^\n]{0,200}(?:mailer-?daemon|postmaster|mail delivery|microsoft ?(?:exchange|outlook)|mdaemon)[^\n]{0,200}\n(?:[ \t*]{0,4}[^\s:@<][^\n:@]{0,20}:[^\n]{0,998}\n){1,6}/i

/** The names of the returned message. */
type Sent = {
  readonly sender?: string | undefined
  readonly host?: string | undefined
  /** What is said of the address: whether the server refused the connection itself. */
  readonly block?: string | undefined
}
type Told = Pick<BounceRecipient, 'address' | 'action' | 'status' | 'remoteMta'>

function recipientOf(text: string, told: Told, { sender, host, block = '' }: Sent): BounceRecipient {
  const { address: asked, action, status } = told
  const said = text.trim().slice(0, MAX_TEXT)
  if (action !== 'failed' && action !== 'delayed')
    return { ...told, text: said, about: 'unknown', permanent: false, meaning: ARRIVED[action] }
  const hasStatus = /(?:^|[^\w.])[45]\.\d{1,3}\.\d{1,3}/.test(said)
  const code = /^[45]\d\d[ -]/.exec(said)?.[0] ?? ''
  const full = hasStatus || status === undefined ? said : `${code}${status} ${said.slice(code.length)}`
  const refused = {
    asked,
    // To oneself: what is said of the address is said of the recipient.
    sender: sender?.toLowerCase() === asked?.toLowerCase() ? undefined : sender,
    host,
    temporary: action === 'delayed',
    ...(AT_CONNECTION.test(block) && { stage: 'banner' as const }),
  }
  const first = explainReply(full, refused)
  // Whoever gave up has told why in words of its own, with the code of its last attempt.
  const isOwn = action === 'failed' && first.about === 'unknown' && code === '' && status?.startsWith('4') === true
  const final = isOwn ? explainReply(said, { ...refused, temporary: false }) : first
  const explained = final.about === 'unknown' ? first : { ...final, permanent: first.permanent }
  const { about, meaning, toDo, permanent } = explained
  const shown = status ?? explained.status
  return {
    ...told,
    ...(shown !== undefined && { status: shown }),
    ...(explained.code !== undefined && { code: explained.code }),
    text: said,
    about,
    permanent: action === 'failed' && (permanent || (status?.startsWith('5') === true && status !== '5.0.0')),
    meaning,
    ...(toDo !== undefined && { toDo }),
  }
}

const AT_CONNECTION = /\brefused to talk to me\b|\bafter initial connection\b|\bgreeting failed\b/i

const ARRIVED: Record<'delivered' | 'relayed' | 'expanded', string> = {
  delivered: 'The message was delivered.',
  relayed: 'The message was passed on to a host that sends no notices of delivery.',
  expanded: 'The message was delivered to a list, which sends it on to its members.',
}

// Delivery-status fields

/** The fields of a report that stand in the words of a notice (Kerio). */
const fieldsIn = (words: string): Buffer => Buffer.from(words.replace(/^[ \t]+(?=[\w-]{1,76}[ \t]*:)/gm, ''))

function fromReport(report: Buffer, notice: string, sender: string | undefined): BounceRecipient[] {
  const [message = [], ...groups] = groupsOf(report)
  const host = withoutType(written(message, 'reporting-mta'))
  const blocks = blocksOf(notice)
  // Some servers leave out the fields about the message.
  const isAlone = ['final-recipient', 'original-recipient'].some((name) => written(message, name) !== '')
  const recipients = isAlone ? [message, ...groups] : groups
  return recipients.flatMap((fields) => {
    const value = (name: string): string => written(fields, name)
    const address = addressIn(value('final-recipient')) ?? addressIn(value('original-recipient'))
    if (address === undefined) return []
    const status = /[245]\.\d{1,3}\.\d{1,3}/.exec(value('status'))?.[0]
    const remoteMta = withoutType(value('remote-mta'))
    const words = blocks.get(address) || (recipients.length === 1 ? saidIn(notice) : '')
    const said = value('diagnostic-code').replace(DIAGNOSTIC_TYPE, '') || words
    const told = {
      address,
      action: actionOf(value('action'), status),
      ...(status !== undefined && { status }),
      ...(remoteMta !== '' && { remoteMta }),
    }
    return [
      recipientOf(said, told, {
        sender,
        host: isOf(host, address) ? undefined : host,
        block: words,
      }),
    ]
  })
}

/**
 * The groups of fields between empty lines (RFC 3464 §2.1): the message, then each recipient. Octets as characters, as
 * in the header of a message.
 */
const groupsOf = (content: Buffer): (readonly Field[])[] =>
  content
    .toString('latin1')
    .replace(/\r?\n/g, '\r\n')
    .split(/\r\n[ \t\r\n]*\r\n/, MAX_RECIPIENTS + 2)
    .map((group) => parseFields(Buffer.from(`${group.trimStart()}\r\n`, 'latin1')).fields)
    .filter((fields) => fields.length > 0)

const written = (fields: readonly Field[], name: string): string => {
  const field = fields.find((one) => one.name === name)
  return field ? decodedField(field) : ''
}

const DIAGNOSTIC_TYPE = /^(?:smtp|lmtp|unix|mts|unknown|x-[\w-]{1,40})\s*;\s*/i
/** `dns; mx.example.org. (192.0.2.1)` without its type and comment (RFC 3464 §2.1.2). */
const withoutType = (value: string): string =>
  value
    .replace(/^[\w.-]{1,40}\s*;\s*/, '')
    .replace(/\s*\(.*$/s, '')
    .replace(/\.?\s*$/, '')
const addressIn = (value: string): string | undefined => /[^\s<>;]{1,128}@[^\s<>;()]{1,253}/.exec(value)?.[0]
/** Whether a host is one of the recipient's domain: it did not send the returned part. */
const isOf = (host: string, address: string): boolean =>
  `.${host.toLowerCase()}`.endsWith(`.${address.slice(address.lastIndexOf('@') + 1).toLowerCase()}`)

function actionOf(name: string, status: string | undefined): Action {
  const word = /^[a-z]+/.exec(name.toLowerCase())?.[0]
  if (word === 'failed' || word === 'delayed' || word === 'delivered' || word === 'relayed' || word === 'expanded')
    return word
  if (status?.startsWith('2')) return 'delivered'
  return status?.startsWith('4') ? 'delayed' : 'failed'
}

// Words

/** What stands in front of the copy of the message, and the copy. */
function noticeOf({ body }: Mail, part: Words | undefined): readonly [notice: string, copy: Buffer] {
  if (!part) return ['', NOTHING]
  const content = contentOf(body, part, MAX_NOTICE)
  const octets = content.toString('latin1')
  const line = COPY.exec(octets)
  const announced = line ? content.subarray(0, line.index) : content
  // Many programs leave out the character set of their words.
  const charset = part.charset === 'us-ascii' && isUtf8(announced) ? 'utf-8' : part.charset
  const words = decoded(announced, charset).replaceAll('\r\n', '\n')
  const notice = part.type === 'text/html' ? textOfHtml(words) : words
  if (!line) return [notice, NOTHING]
  return [notice, Buffer.from(copyBehind(octets, line), 'latin1')]
}

/** The copy of a message behind the line that announces it. */
const copyBehind = (text: string, line: RegExpExecArray): string =>
  text.slice(line.index + line[0].length).replace(/^[^\n]*\n\s*/, '')

/** The text of a notice that is only there as HTML, for its words. */
const textOfHtml = (html: string): string =>
  html
    .replace(/<(?:br|\/?(?:p|div|tr|li|h\d|table))\b[^<>]{0,1000}>/gi, '\n')
    .replace(/<[^<>]{0,1000}>/g, '')
    .replace(/&(?:lt|gt|amp|quot|nbsp|#39);/g, (entity) => ENTITIES[entity]!)
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&lt;': '<', '&gt;': '>', '&amp;': '&' },
  ...{ '&quot;': '"', '&nbsp;': ' ', '&#39;': "'" },
}

const NOTHING = Buffer.alloc(0)
const COPY =
  /^[ \t]*(?:-{2,} ?(?:this is a copy of|below this line|the (?:header|body) of|original message|unsent message|message header|returned message|non-delivered message)|\|-{3,} ?message (?:text|header) follows|(?:possibly truncated )?original message follows|original message headers:|message (?:contents|headers) follow|the header of the original message|below is a copy of the original message|urspr.{1,2}ngliche (?:nachrichtenk.{1,2}pf|kopfzeilen)|en-t.{1,2}tes (?:de message|des messages?) d['’]origine|encabezados (?:del|de los) mensajes? original|intestazioni (?:del )?messaggio originale?|cabe.{1,2}alhos? (?:da|de) mensage[mn]s? origina)/im
const DAEMON =
  /mailer-?daemon|mdaemon|post_?master|mail deliver|delivery (?:sub)?system|microsoft ?(?:exchange|outlook)|(?:mail|system) administrator/i
const FAILED =
  /\b(?:could ?n[o']t be delivered|undeliver|delivery (?:to .{0,200}|has )?fail|delivery status notification \((?:fail|delay)|failed permanently|permanent (?:fatal )?(?:delivery )?error|not (?:yet )?been delivered|(?:was ?n[o']t able|unable) to deliver|(?:attempting|trying) to deliver|was ?n[o']t delivered|message is delayed|did not reach (?:some|all|any|the following)|had delivery problems|following address(?:es|\(es\))? failed|deliver\w{1,4} (?:was )?aborted|(?:can|could) not (?:send|be delivered)|cannot send|mail fail(?:ed|ure)|invalid user address|delivery incomplete|returned mail|returned to sender|failure notice|delivery failure|has been delayed|transient|still being retried)|unzustellbar|nicht zugestellt|fehler bei der (?:nachrichten)?zustellung|recapito non riuscito|error de entrega|bezorging is mislukt|leveransen misslyckades|levering(?:en)? mislykke|dostarczanie nie powiod|配信に失敗|\b(?:non (?:remis|recapitato|distribu[ée])|n['’]a pas pu [eê]tre (?:remis|distribu|d[ée]livr)|[ée]chec de (?:la )?(?:remise|distribution)|non [eè] stato (?:consegnato|recapitato)|mancat[ao] (?:consegna|recapito)|no se (?:pudo|ha podido|puede) entregar|no (?:ha sido|fue) entregad|n[aã]o (?:p[oô]de ser|foi|pode ser) entregue|falha na entrega|kon niet worden (?:be|af)geleverd|onbestelbaar|kunde inte levereras|nelze doru[cč]it|nebylo mo[zž]n[eé] doru[cč]it)|teslim edilemedi|iletilemedi|nie (?:zostala|mogla) .{0,40}dostarczon|退信|退回|返送|配信(?:不能|できません)|送信できません|반송|전송.{0,6}실패|не (?:удалось|может быть|было) доставлен/i

const isFromDaemon = ({ fields }: Mail): boolean =>
  DAEMON.test(written(fields, 'from')) ||
  written(fields, 'return-path') === '<>' ||
  written(fields, 'x-failed-recipients') !== ''
function tellsFailure({ fields }: Mail, notice: string): boolean {
  if (written(fields, 'x-failed-recipients') !== '') return true
  const isDaemon = DAEMON.test(written(fields, 'from'))
  if (isDaemon && STATUS.test(notice)) return true
  // A person's automatic reply may say that nobody reads the message.
  const isReply = !isDaemon && /^auto-replied\b/i.test(written(fields, 'auto-submitted').trim())
  return !isReply && saysFailed(`${written(fields, 'subject')} ${notice}`)
}
const saysFailed = (words: string): boolean => FAILED.test(words.replace(/\s+/g, ' '))
/** A status code in a notice of a server, whatever its language. */
const STATUS = /(?:(?:^|[:(#'"])[ \t]*#?|\b[45]\d\d[ -]#?)[45]\.[1-7]\.\d{1,3}(?=[\s:;,)]|$)/m

const DELAYED =
  /\b(?:delayed|delay reason|warning|status notification \(delay|not yet been delivered|still being retried|will (?:be retried|retry|keep trying)|delivery incomplete|transient|queue id)\b|noch nicht zugestellt|weitere zustellversuche|pas encore [eé]t[eé] (?:remis|distribu|d[eé]livr)|todav[ií]a no se ha|non [eè] ancora stat|ещ[её] не (?:был[аои]? )?доставлен|まだ配信|尚未/i

function fromWords(
  fields: readonly Field[],
  notice: string,
  sender: string | undefined,
  to: string | undefined,
): BounceRecipient[] {
  const blocks = blocksOf(notice)
  for (const address of written(fields, 'x-failed-recipients').split(/[\s,]+/))
    if (address.includes('@') && !blocks.has(address)) blocks.set(address, notice)
  if (blocks.size === 0) {
    const own = new Set([addressIn(written(fields, 'to')), addressIn(written(fields, 'from')), sender])
    const named = [...notice.replace(/^[ \t]*message-?id:.*$/gim, '').matchAll(new RegExp(ADDRESS, 'g'))].find(
      ([, address]) => !own.has(address),
    )
    // GroupWise names the recipient by his local part alone.
    const address = named?.[1] ?? to
    if (address !== undefined) blocks.set(address, notice)
  }
  const isDelayed = DELAYED.test(written(fields, 'subject')) || DELAYED.test(notice.slice(0, 2_000))
  return [...blocks].flatMap(([address, block]) => {
    // The words may stand in front of the address alone.
    const own = saidIn(block || (blocks.size === 1 ? notice : ''))
    const text = blocks.size === 1 && !/^[45]\d\d/.test(own) ? (lastRefusal(notice) ?? own) : own
    // An address of a contact, not of a recipient
    if (!block && blocks.size > 1) return []
    const remoteMta = REMOTE.exec(block)
    const told = {
      address,
      action: isDelayed && !/^5\d\d/.test(text) ? ('delayed' as const) : ('failed' as const),
      ...(remoteMta && { remoteMta: remoteMta[1] ?? remoteMta[2]! }),
    }
    return [recipientOf(text, told, { sender, block })]
  })
}

/** The last refusal of a dialogue that a notice shows. */
const lastRefusal = (notice: string): string | undefined =>
  [...notice.matchAll(/^[ \t]*(?:<-{1,2}|<{2,3}|received >>>|S:)[ \t]{0,4}([45]\d\d[ -]\S[^\n]*)/gim)].at(-1)?.[1]

const REMOTE =
  /\b(?:host|while talking to|domain \S{1,200} by|server) ([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})|^[ \t]*([\w-]{1,63}(?:\.[\w-]{1,63}){1,8}) \[/m
const ADDRESS = '<?([^\\s<>()"\',;:@：，。；（）「」【】、]{1,64}@[A-Za-z0-9][\\w.-]{0,250}[A-Za-z0-9])>?'
/** A line that begins with an address, which the next lines are about. */
const ADDRESS_LINE = new RegExp(
  `^[ \\t]*(?:\\d{3} )?"?${ADDRESS}"?[ \\t]*(?::|\\.\\.\\.|\\(|$|(?=,?[ \\t](?:[\\w ]{0,30},)? ?error[_ ]code|on [a-z]{3},? ))(.*)$`,
  'i',
)
/** MDaemon: `Failed address: joe@example.org`; iCloud: `Recipient address: joe@example.org`; DragonFly: a sentence. */
const LABELLED_LINE = new RegExp(
  `^[ \\t]*(?:(?:failed |rejected |undeliverable |original |recipient )?(?:e-?mail )?(?:address|recipient)(?:es|s)?:|there was an error delivering your mail to)[ \\t]*${ADDRESS}\\.?[ \\t]*$`,
  'i',
)
/** IMail: `Unknown user: joe@example.org`. */
const CAUSE_LINE = new RegExp(
  `^[ \\t]*((?:unknown|invalid|no such) (?:user|recipient|address|mailbox)|user unknown):[ \\t]*${ADDRESS}[ \\t]*$`,
  'i',
)
/** Exchange: `Joe Doe (joe@example.org)`. */
const NAMED_LINE = new RegExp(`^[^@()]{1,100}\\(${ADDRESS}\\)[ \\t]*$`)
/** Gmail, Microsoft 365: "Your message to joe@example.org couldn't be delivered." */
const IN_SENTENCE = new RegExp(
  `\\b(?:message|mail|delivered|delivery) to ${ADDRESS}\\.? (?:could|was|has|had|because|failed|couldn)`,
  'i',
)

/** Such a sentence says what happened, too. */
function inSentence(line: string): readonly [line: string, address: string, words: string] | null {
  const found = IN_SENTENCE.exec(line)
  return found && [line, found[1]!, line]
}

/** The words about each address of a notice. */
function blocksOf(notice: string): Map<string, string> {
  const blocks = new Map<string, string[]>()
  let current: string[] | undefined
  /** The indentation of the words that go on from the line of an address. */
  let saidAt = 0
  /** What stands in brackets in front of an address, as the queue of Postfix shows it. */
  let before = ''
  for (const line of notice.split('\n')) {
    // Zoho puts the header of the message behind its words without a line between.
    if (/^(?:return-path|received|dkim-signature):/i.test(line)) break
    const cause = CAUSE_LINE.exec(line)
    const indent = line.search(/\S/)
    // What a server says of an address may begin a line of its words.
    const isSaid = current !== undefined && indent > saidAt && current[0] !== ''
    const told = /^[ \t]*\((.{1,1000})\)[ \t]*$/.exec(line)?.[1]
    if (told !== undefined) before = told
    const at = cause
      ? [line, cause[2]!, cause[1]!]
      : isSaid
        ? null
        : (ADDRESS_LINE.exec(line) ?? LABELLED_LINE.exec(line) ?? NAMED_LINE.exec(line) ?? inSentence(line))
    if (at && (blocks.size < MAX_RECIPIENTS || blocks.has(at[1]!))) {
      current = blocks.get(at[1]!) ?? []
      saidAt = indent
      blocks.set(at[1]!, current)
    }
    if (at || line.trim() !== '') current?.push(at ? at[2] || before : line)
    if (told === undefined) before = ''
  }
  return new Map([...blocks].map(([address, lines]) => [address, lines.join('\n').trim()]))
}

/** The reply of a server among the words about an address, otherwise the words. */
function saidIn(block: string): string {
  const text = block
    .replace(/\s+/g, ' ')
    .replace(/\berror[_ ]code ?: ?/gi, '')
    .replace(/(^|\s)([45]\d\d)(?::|,(?= [45]\.)) (?=\S)/, '$1$2 ')
  const code =
    /\[([45]\d\d[ -](?=\S)[^\]]*)\]/.exec(text)?.[1] ?? /(?:^|[\s:;'"(#<])([45]\d\d[ -](?=\S).*)$/s.exec(text)?.[1]
  const said = (code ?? text).replace(
    / ?(?:\(in reply to|giving up on|-{3,} transcript|-{3,}smtp command|>>> |##|message details: |no action is required).*$/is,
    '',
  )
  // Exchange quotes what the server said; the mark in front stands before the code.
  return code !== undefined && /^[^']*'$/.test(said) ? said.slice(0, -1) : said
}

// The returned part

function returnedOf(octets: Buffer, headerOnly = false): Returned | undefined {
  if (octets.length === 0) return undefined
  const { fields, body } = parseMail(octets)
  const first = (name: string): string => {
    const field = fields.find((one) => one.name === name)
    return field ? decodedField(field).slice(0, MAX_TEXT) : ''
  }
  const [from, to, subject, date] = ['from', 'to', 'subject', 'date'].map(first) as [string, string, string, string]
  if (from === '' && subject === '') return undefined
  return { from, to, subject, date, headerOnly: headerOnly || body.length === 0, octets }
}

/** The address in To of the returned message, if it has one alone. */
function soleRecipientOf(octets: Uint8Array): string | undefined {
  const to = parseMail(octets).fields.find(({ name }) => name === 'to')
  const [first, second] = to ? mailboxesOf(to) : []
  return second === undefined ? first?.address : undefined
}

/** Who sent the returned message: its Return-Path, otherwise its From. */
function senderOf(octets: Uint8Array): string | undefined {
  const { fields } = parseMail(octets)
  const field = ['return-path', 'from'].flatMap((name) => fields.filter((one) => one.name === name))[0]
  return field && mailboxesOf(field)[0]?.address
}
