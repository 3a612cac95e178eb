import { LRUCache } from 'lru-cache'
import { isSuccess, type Reply, type Stage, textOf } from '../../net/smtp/reply.ts'
import type { Provider } from '../provider.ts'
import { isAboutRecipient, type Reason, reasonRow } from '../reasons.ts'
import { retryAfter } from './delay.ts'
import { markReply, type Parties } from './marks.ts'
import type { Detail, ReplyRow } from './row.ts'
import {
  ASKED_UNKNOWN,
  FAILED_RECIPIENTS,
  isConditional,
  isOpening,
  isOurHost,
  isOurName,
  NESTED_TEMPORARY,
  NO_SUCH_USER,
  namesUs,
  RECIPIENT_CALLOUT,
  REFUSED_BECAUSE,
  SENDER_CALLOUT,
  sentencesOf,
  speaksOfConnection,
  speaksOfUs,
  withoutAsides,
  withoutEnd,
} from './sentences.ts'
import { REPLIES } from './table.ts'

/** One reply and its stage. `provider` is the provider of the host, `parties` the names of the question. */
type Answered = {
  readonly stage: Stage
  readonly reply: Reply
  readonly provider?: Provider | undefined
  readonly parties?: Parties
}

export type Verdict = {
  readonly reason: Reason
  /**
   * The basis of the verdict: the text of the reply, its codes, or the stage. Only `text` is explicit: a
   * `mailbox_not_found` by text holds whatever reply a made-up recipient got.
   */
  readonly by: 'text' | 'code' | 'stage'
  /**
   * How long the server asks us to wait, in ms (at most 24 hours); only for temporary reasons, if the text names a
   * delay or there is a default.
   */
  readonly retryAfterMs?: number
  readonly detail?: Detail | undefined
  /** Too many recipients from us failed there: another source address does not help, the mail host is to rest. */
  readonly restsHost?: true
}

/**
 * Stages whose refusals may be about the recipient. Refusals at earlier stages are about us, whatever their text says.
 */
const RECIPIENT_STAGES: readonly Stage[] = ['rcpt', 'data']

/** Codes about a login (RFC 4954 §6), which is ours at any stage. */
const OF_LOGIN: readonly number[] = [534, 535, 538]

/**
 * The reason of one reply: by its text (the reply table), otherwise by its codes, otherwise by its stage
 * (docs/verification.md). Pure, total, linear. A temporary reply (4xx), any reply before RCPT, and a sentence whose
 * subject is one of our own names is never about the mailbox. An accepted recipient (2xx at RCPT) is `mailbox_exists`,
 * or `unverifiable_provider` if the provider accepts anything. A permanent refusal of the recipient that is not
 * explained, or only by words that are temporary, is `unclear_refusal`.
 */
export function classify({ stage, reply, provider, parties = {} }: Answered): Verdict {
  if (reply.code < 400) return { reason: accepted(stage, reply.code, provider), by: 'code' }
  const about = RECIPIENT_STAGES.includes(stage) && !OF_LOGIN.includes(reply.code) ? 'recipient' : 'us'
  const codes = reply.code >= 500 ? '5xx' : '4xx'
  const marked = withoutAsides(markReply(textOf(reply), parties))
  const read = reasonOf(marked, about, codes)
  if (read) {
    // Before a recipient there is no message: words about its content are about its source.
    const isSource = about === 'us' && read.detail === 'message_content'
    const { reason, detail }: Read = isSource ? { reason: 'source_blocked' } : read
    const restsHost = reason === 'rate_limited' && FAILED_RECIPIENTS.test(marked)
    return withRetry({ reason, by: 'text', ...(detail && { detail }), ...(restsHost && { restsHost }) }, reply)
  }
  const reason = reasonByCode({ stage, reply, about })
  const isUs = namesUs(marked) || speaksOfUs(marked) || speaksOfConnection(marked) || isOurName(marked)
  if (reason) return withRetry({ reason: isUs ? ofUs(reason) : reason, by: 'code' }, reply)
  return withRetry({ reason: reasonByStage(stage, reply.code), by: 'stage' }, reply)
}

/** The reason of a reply whose subject is us, for one that its code gives. */
const ofUs = (reason: Reason): Reason => (isOfUs({ reason }) ? reason : 'source_blocked')

function accepted(stage: Stage, code: number, provider: Provider | undefined): Reason {
  if (stage !== 'rcpt' || !isSuccess(stage, { code })) return 'protocol_error'
  // RFC 5321 §3.5.3: 252 is accepted without verification
  const isVerified = code !== 252 && provider?.tells !== 'nothing'
  return isVerified ? 'mailbox_exists' : 'unverifiable_provider'
}

type About = 'recipient' | 'us'
type Codes = '4xx' | '5xx'

/** The rows that count for a reply, in the order of the table. */
const candidates = (about: About, codes: Codes): readonly ReplyRow[] =>
  REPLIES.filter(
    (row) => (row.stage === 'any' || about === 'recipient') && (row.codes === 'any' || row.codes === codes),
  )
const CANDIDATES = {
  recipient: { '4xx': candidates('recipient', '4xx'), '5xx': candidates('recipient', '5xx') },
  us: { '4xx': candidates('us', '4xx'), '5xx': candidates('us', '5xx') },
}

type Read = Pick<Verdict, 'reason' | 'detail'>

/**
 * The reasons of recent texts, at most 256 KiB of text: without the names, a server refuses most recipients in the same
 * words.
 */
const known = new LRUCache<string, { readonly read: Read | undefined }>({
  maxSize: 2 ** 18,
  sizeCalculation: (_, key) => key.length,
})

function reasonOf(marked: string, about: About, codes: Codes): Read | undefined {
  const key = `${about} ${codes} ${marked}`
  const kept = known.get(key)
  if (kept) return kept.read
  const read = about === 'us' ? rowOf(marked, about, codes) : readSentences(marked, codes)
  known.set(key, { read })
  return read
}

/** The asked mailbox as the subject of what is said, not as the one to whom something is refused. */
const ASKED_IS =
  /(?:^|[\d:;,] ?)<?ASKED>?,? (?!(?:was |is |has been )?(?:reject|refus|block|den|not|from|by)|relay)\p{Ll}/u

/**
 * The row of a text. Where no row has its words without the asked mailbox, or only one of a limit or a policy and the
 * mailbox is the subject, the mailbox is read with them.
 */
function rowOf(marked: string, about: About, codes: Codes): Read | undefined {
  const text = marked
    .replace(/<(?:ASKED|US)>/g, '<>')
    .replaceAll(/ ?ASKED/g, '')
    .trimStart()
  const found = (said: string): ReplyRow | undefined =>
    CANDIDATES[about][codes].find(({ pattern }) => pattern.test(said))
  const read = found(text)
  if (!marked.includes('ASKED')) return read
  const isGeneral = read && ['policy', 'rate_limited'].includes(read.reason)
  if (read && !(isGeneral && about === 'recipient' && ASKED_IS.test(marked))) return read
  const ofMailbox = found(marked.replace(/<?ASKED>?/g, 'mailbox'))
  return isAboutMailbox(ofMailbox) ? ofMailbox : (read ?? ofMailbox)
}

/**
 * The first sentence that states a cause decides; a generic opening and advice only if there is no other. What the
 * server said when it asked another one about the recipient is read as its own words.
 */
function readSentences(marked: string, codes: Codes): Read | undefined {
  if (SENDER_CALLOUT.test(marked)) return { reason: codes === '5xx' ? 'sender_refused' : 'temporary_failure' }
  const said = marked.replace(RECIPIENT_CALLOUT, '')
  if (said.length === marked.length) return readCauses(said, codes)
  if (codes === '5xx' && NESTED_TEMPORARY.test(said)) return { reason: 'unclear_refusal' }
  const read = readCauses(said, codes)
  if (codes === '5xx') return read ?? { reason: 'mailbox_not_found' }
  // The outer code says for now, and the other server was asked by the host, not by us.
  return read && reasonRow(read.reason).about === 'client' ? { reason: 'temporary_failure' } : read
}

function readCauses(said: string, codes: Codes): Read | undefined {
  const sentences = sentencesOf(said)
  const causes = sentences.filter(({ isAdvice }) => !isAdvice).map(({ text }) => text)
  const isOfMailbox = (text: string): boolean => isAboutMailbox(rowOf(text, 'recipient', codes))
  // A sentence that names nobody goes on with the one that says the same of us.
  const isOfOther = (text: string): boolean =>
    codes === '5xx' &&
    !said.includes('ASKED') &&
    isOfMailbox(text) &&
    !namesUs(text) &&
    causes.some((other) => other !== text && namesUs(other) && isOfMailbox(other))
  for (const text of causes) {
    const read = isOpening(text) ? undefined : readSentence(text, codes)
    const isGeneral =
      read?.reason === 'relay_denied' || (read?.reason === 'policy' && codes === '5xx' && REFUSED_BECAUSE.test(text))
    const isAbsent = isGeneral && causes.some((other) => NO_SUCH_USER.test(other) && !namesUs(other))
    // A policy that refuses for now is read with what else the reply says.
    const isWeak = codes === '4xx' && read?.reason === 'policy'
    if (!read || isWeak) continue
    if (isAbsent) return { reason: 'mailbox_not_found' }
    const isRelay =
      read.reason === 'policy' &&
      causes.some((other) => !namesUs(other) && rowOf(other, 'recipient', codes)?.reason === 'relay_denied')
    if (isRelay) return { reason: 'relay_denied' }
    return isOfOther(text) ? { reason: 'sender_refused' } : read
  }
  // Advice on our own authentication or name tells what a generic opening leaves open.
  const advised = sentences
    .map(({ text, isAdvice }) => (isAdvice && namesUs(text) ? readSentence(text, codes)?.reason : undefined))
    .find((reason) => reason !== undefined && OF_ADVICE.includes(reason))
  if (advised && codes === '5xx') return { reason: advised }
  const opening = codes === '5xx' ? readSentence(causes.join(', '), codes) : undefined
  const conditions = sentences.filter(({ text }) => isConditional(text))
  const unconditional = conditions.reduce((rest, { text }) => rest.replace(text, ''), said)
  // A condition is the last that is read, and not against a code that is about the mailbox.
  const last = conditions.length > 0 && !/^5\.[12]\.\d/.test(said) ? said : unconditional
  const read = opening ?? readSentence(unconditional, codes) ?? readSentence(last, codes)
  if (read) return read
  // Our address is refused, in words that no row has.
  return causes.some((text) => /US-IP/.test(text) && namesUs(text)) ? { reason: 'source_blocked' } : undefined
}

/** What advice may tell us to mend. */
const OF_ADVICE: readonly Reason[] = ['sender_refused', 'reverse_dns_required', 'helo_refused', 'tls_required']
const isAboutMailbox = (read: Read | undefined): boolean => read !== undefined && isAboutRecipient(read.reason)

const isOfUs = ({ reason }: Read): boolean => !['recipient', 'domain'].includes(reasonRow(reason).about)
/** What a recipient does with some senders: a sentence says it of the sender, and names the recipient or its group. */
const OF_BOTH: readonly Reason[] = ['recipient_restricted', 'recipient_throttled']
const NAMES_RECIPIENT =
  /^(?!.{0,4096}(?:\bUS\b|\byour?\b|\b(?:sender|author|client)'s\b)).{0,4096}\b(?:lists?|groups?|recipients?(?! address rejected)|(?:this|the) mail ?box|members?|subscribers?|allowed|permitted|authori[sz]ed|5\.7\.1\d{1,2}|5\.2\.12[12])\b/

/** What a word about a mailbox means where our address is its subject; otherwise the address is refused. */
const OF_OUR_ADDRESS: Partial<Record<Reason, Reason>> = {
  mailbox_not_found: 'reverse_dns_required',
  domain_not_found: 'reverse_dns_required',
  recipient_throttled: 'rate_limited',
  mailbox_full: 'rate_limited',
}

/** What a word about a mailbox means where our sender is its subject. */
const ofSender = (read: Read | undefined): Reason =>
  read?.reason === 'recipient_throttled' ? 'rate_limited' : 'sender_refused'

/** Our address is what is blocked, whatever for. */
const IS_BLOCKED = /US-IP\W{1,4}(?:\p{L}{1,12} ){0,2}(?:bloqu|block|reject|refus|denied|bann|gesperr|zablok|geblok)/u
/** A sentence about us never speaks of the mailbox: its reason is one about us, whatever its words. */
function readSentence(text: string, codes: Codes): Read | undefined {
  if (codes === '5xx' && ASKED_UNKNOWN.test(text) && !namesUs(text)) return { reason: 'mailbox_not_found' }
  if (!namesUs(text)) {
    const read = rowOf(withoutEnd(text), 'recipient', codes)
    // A host that does not exist, with our address behind it.
    if (read?.reason === 'domain_not_found' && /US-IP/.test(text) && !/DOMAIN/.test(text))
      return { reason: 'reverse_dns_required' }
    const isKept = !isOurHost(text) || (read ? isOfUs(read) : codes === '4xx')
    return isKept ? read : { reason: 'source_blocked' }
  }
  const read = rowOf(text, 'recipient', codes)
  if (read && OF_BOTH.includes(read.reason) && NAMES_RECIPIENT.test(text)) return read
  if (read && isOfUs(read) && (read.reason !== 'policy' || !IS_BLOCKED.test(text))) return read
  if (!/US-IP/.test(text) || /US(?!-IP)/.test(text))
    return read || text.includes('US') ? { reason: ofSender(read) } : undefined
  if (read) return { reason: OF_OUR_ADDRESS[read.reason] ?? 'source_blocked' }
  return /\b(?:to|for) US-IP/.test(text) && !/\b(?:talk|speak|listen)/.test(text)
    ? { reason: 'reverse_dns_required' }
    : undefined
}

function withRetry(verdict: Omit<Verdict, 'retryAfterMs'>, reply: Reply): Verdict {
  const { about, temporary, defaultRetryMs } = reasonRow(verdict.reason)
  // The code says for good, the text or the enhanced code not now.
  if (reply.code >= 500 && about === 'server' && temporary) return { ...verdict, reason: 'unclear_refusal' }
  if (!temporary || (verdict.reason === 'mailbox_full' && reply.code >= 500)) return verdict
  const retryAfterMs = retryAfter(textOf(reply)) ?? defaultRetryMs
  return retryAfterMs === undefined ? verdict : { ...verdict, retryAfterMs }
}

/** An enhanced status code in text, not part of an IP address or a version (RFC 3463 §2). */
const ENHANCED = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d]|\.\d)/

/**
 * The enhanced status code of a reply: as read by the session, otherwise the first in its text (`(#5.1.1)`); undefined
 * if there is none.
 */
export function enhancedOf(reply: Reply): string | undefined {
  return reply.enhanced ?? ENHANCED.exec(reply.lines.join(' ').slice(0, 4_096))?.[0]
}

type Coded = { readonly stage: Stage; readonly reply: Reply; readonly about: 'recipient' | 'us' }

/**
 * Subject and detail codes that have the same meaning at any stage (RFC 3463 §3, RFC 7372 §3, RFC 7505 §4.2, IANA
 * registry).
 */
const ABOUT_US: Readonly<Record<string, Reason>> = {
  '1.7': 'sender_refused',
  '1.8': 'sender_refused',
  '5.3': 'too_many_recipients',
  '7.10': 'tls_required',
  '7.11': 'tls_required',
  '7.20': 'sender_refused',
  '7.21': 'sender_refused',
  '7.22': 'sender_refused',
  '7.23': 'sender_refused',
  '7.24': 'sender_refused',
  '7.25': 'reverse_dns_required',
  '7.26': 'sender_refused',
  '7.27': 'sender_refused',
  '7.28': 'rate_limited',
  '7.30': 'tls_required',
}

/**
 * Codes about the recipient, in a permanent reply. 5.1.0, 5.1.4, 5.1.5 and 5.1.9 do not specify whose address is meant.
 */
const OF_RECIPIENT: Readonly<Record<string, Reason>> = {
  '1.1': 'mailbox_not_found',
  '1.2': 'domain_not_found',
  '1.3': 'mailbox_not_found',
  '1.6': 'mailbox_not_found',
  '1.10': 'mailbox_not_found',
  '2.1': 'mailbox_disabled',
  '4.4': 'domain_not_found',
  '6.7': 'smtputf8_required',
  '6.10': 'smtputf8_required',
  '7.13': 'mailbox_disabled', // IANA: user account disabled
  '7.17': 'mailbox_not_found', // RFC 7293 §7.1: mailbox owner has changed
  '7.18': 'domain_not_found', // RFC 7293 §7.2: domain owner has changed
}

/** Steps 8 and 9: what follows from the codes alone, or undefined. */
function reasonByCode({ reply, about }: Coded): Reason | undefined {
  const [kind, ...rest] = (enhancedOf(reply) ?? '').split('.')
  const detail = rest.join('.')
  const ours = ABOUT_US[detail]
  if (ours) return ours
  if (about === 'recipient' && detail === '2.2') return 'mailbox_full'
  if (reply.code < 500) return reply.code === 421 || about === 'recipient' ? 'temporary_failure' : undefined
  if (kind === '4') return 'temporary_failure' // the codes contradict each other: not final
  if (about === 'recipient') {
    if (reply.code === 556) return 'null_mx' // RFC 7504 §4
    const theirs = OF_RECIPIENT[detail]
    if (theirs) return theirs
    if (reply.code === 552 && detail === '') return 'mailbox_full' // RFC 5321 §4.2.3
  }
  // RFC 3463 §3.4, §3.5: the system, the network
  if (/^3\.[0-35-9]/.test(detail) || /^4\./.test(detail)) return 'temporary_failure'
  if ([500, 502, 503].includes(reply.code)) return 'protocol_error'
  // A server that refuses the recipient talks to us, whatever its codes say about the syntax.
  if (about === 'us' && (/^5\.[124]$/.test(detail) || [501, 504].includes(reply.code))) return 'protocol_error'
  if (/^7\./.test(detail) || [530, 534, 535, 538].includes(reply.code)) return 'policy' // RFC 3463 §3.8
  return undefined
}

/** The most likely reason of a refusal that neither its text nor its codes explain, by stage. */
function reasonByStage(stage: Stage, code: number): Reason {
  if (code < 500) return 'temporary_failure'
  if (stage === 'connect' || stage === 'banner') return 'source_blocked' // RFC 5321 §3.1: 554 at the opening
  if (stage === 'ehlo') return 'helo_refused'
  if (stage === 'starttls') return 'tls_failure'
  if (stage === 'mail') return 'sender_refused'
  return 'unclear_refusal'
}
