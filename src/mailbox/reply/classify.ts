import { LRUCache } from 'lru-cache'
import { isSuccess, type Reply, type Stage, textOf } from '../../net/smtp/reply.ts'
import type { Provider } from '../provider.ts'
import { type Reason, reasonRow } from '../reasons.ts'
import type { ReplyRow } from './row.ts'
import { REPLIES } from './table.ts'

/** One reply and its stage. `provider` is the provider of the host. */
type Answered = { readonly stage: Stage; readonly reply: Reply; readonly provider?: Provider | undefined }

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
}

/**
 * Stages whose refusals may be about the recipient. Refusals at earlier stages are about us, whatever their text says.
 */
const RECIPIENT_STAGES: readonly Stage[] = ['rcpt', 'data']

/**
 * The reason of one reply: by its text (the reply table), otherwise by its codes, otherwise by its stage
 * (docs/verification.md). Pure, total, linear. A temporary reply (4xx), and any reply before RCPT, is never
 * `mailbox_not_found`. An accepted recipient (2xx at RCPT) is `mailbox_exists`, or `unverifiable_provider` if the
 * provider accepts anything. A permanent refusal of the recipient that is not explained is `unclear_refusal`.
 */
export function classify({ stage, reply, provider }: Answered): Verdict {
  if (reply.code < 400) return { reason: accepted(stage, reply.code, provider), by: 'code' }
  const about = RECIPIENT_STAGES.includes(stage) ? 'recipient' : 'us'
  const row = rowOf(normalizeReply(textOf(reply)), about, reply.code >= 500 ? '5xx' : '4xx')
  if (row) return withRetry({ reason: row.reason, by: 'text' }, reply)
  const reason = reasonByCode({ stage, reply, about })
  if (reason) return withRetry({ reason, by: 'code' }, reply)
  return withRetry({ reason: reasonByStage(stage, reply.code), by: 'stage' }, reply)
}

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

/**
 * The rows of recent texts, at most 256 KiB of text: without the addresses, a server refuses most recipients in the
 * same words.
 */
const known = new LRUCache<string, { readonly row: ReplyRow | undefined }>({
  maxSize: 2 ** 18,
  sizeCalculation: (_, key) => key.length,
})

/** The first row that matches a normalized text. */
function rowOf(text: string, about: About, codes: Codes): ReplyRow | undefined {
  const key = `${about} ${codes} ${text}`
  const kept = known.get(key)
  if (kept) return kept.row
  const row = CANDIDATES[about][codes].find(({ pattern }) => pattern.test(text))
  known.set(key, { row })
  return row
}

function withRetry(verdict: Omit<Verdict, 'retryAfterMs'>, reply: Reply): Verdict {
  const { temporary, defaultRetryMs } = reasonRow(verdict.reason)
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
function enhancedOf(reply: Reply): string | undefined {
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

/** Maximum number of characters of a reply that are read. */
const MAX_READ = 4_096

/**
 * The text for the reply table: at most 4 KiB, lower case, white space as one space, no accents on Latin letters, plain
 * apostrophes, and no mail addresses, so that words in an address are not read as the server's words.
 */
export function normalizeReply(text: string): string {
  return withoutAddresses(text.slice(0, MAX_READ))
    .normalize('NFD')
    .replace(/([A-Za-z])[\u0300-\u036f]{1,4}/g, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u00b4`]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
}

/** `<user@host>` becomes `<>`; a bare `user@host` is removed, and text attached to it (`user@host:blocked`) stays. */
const withoutAddresses = (text: string): string =>
  text
    .replace(/<[^<>]*>/g, (path) => (path.includes('@') ? '<>' : path))
    .split(/(?<=\s)/)
    .map((word) => (word.includes('@') ? word.replace(/^(["'([{<]*)[^@]*@[\w.-]*/, '$1') : word))
    .join('')

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Longest requested delay that is used. */
export const LONGEST_RETRY_MS = 24 * HOUR

const WORDS =
  'in|for|after|within|wait|least|retry|again|back|delayed?|dans|in|nach|warten|en|tra|em|apos|через|espere|attendre|ca|approx'
const CLOCK = new RegExp(`(?:^|[\\s(])(?:${WORDS})[\\s:=]{1,3}(\\d{1,2}):(\\d{2}):(\\d{2})(?!\\d)`)
const LONG_UNIT =
  /(?<![\d.,:]|per |last |every |past )\b(\d{1,6})(?:\.\d{1,3})? {0,2}((?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|sekunden?|minuten?|stunden?|secondes?|heures?|segundos?|minutos?|horas?|secondi|minuti|ore|секунд\S{0,2}|минут\S{0,2}|час\S{0,2})(?!\p{L})|秒|分钟?|分鐘|小时|小時|時間)/u
const SHORT_UNIT = new RegExp(`(?:^|[\\s(])(?:${WORDS})[\\s:=]{1,3}(\\d{1,6}) ?(s|m|h)(?![\\p{L}\\d])`, 'u')
const BARE = /\b(?:retry(?:.?(?:after|time|in))?|wait)[=:] ?(\d{1,6})\b/

/**
 * The delay that a temporary reply requests ("5 minutes", "00:05:00", "60 seconds", "try again in 300s"), in ms: more
 * than 0, at most 24 hours. Undefined if the text names none. Reads the first 4 KiB.
 */
export function retryAfter(text: string): number | undefined {
  const said = text.slice(0, 4_096).toLowerCase()
  const clock = CLOCK.exec(said)
  if (clock) return bounded(Number(clock[1]) * HOUR + Number(clock[2]) * MINUTE + Number(clock[3]) * SECOND)
  const counted = LONG_UNIT.exec(said) ?? SHORT_UNIT.exec(said)
  if (counted) return bounded(Number(counted[1]) * unitMs(counted[2]!))
  const bare = BARE.exec(said)
  return bare ? bounded(Number(bare[1]) * SECOND) : undefined
}

function unitMs(unit: string): number {
  if (/^(?:s|сек|秒)/.test(unit)) return unit.startsWith('st') ? HOUR : SECOND
  if (/^(?:m|мин|分)/.test(unit)) return MINUTE
  return /^d/.test(unit) ? 24 * HOUR : HOUR
}

const bounded = (ms: number): number | undefined => (ms > 0 ? Math.min(ms, LONGEST_RETRY_MS) : undefined)
