import type { CheckAnswer } from '../answers/check.ts'
import type { Severity, Status } from '../answers/finding.ts'
import type { Tier } from '../answers/weights.ts'
import {
  type Block,
  blocksOf,
  type Document,
  heading,
  type Line,
  type Mark,
  type Parts,
  type Verdict,
} from './block.ts'

/** The checks of an answer: those whose object has a status, and the mail servers, whose status is beside the list. */
export type CheckName =
  | 'mx'
  | {
      [K in keyof CheckAnswer]-?: NonNullable<CheckAnswer[K]> extends { readonly status: Status } ? K : never
    }[keyof CheckAnswer]

/** The words for a key of an answer: only the table's own keys. */
export const wordsFor = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  pass: 'Good',
  warn: 'Could be better',
  fail: 'Broken',
  unknown: 'Not known',
  not_applicable: 'Does not apply',
}

export const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  critical: 'Broken',
  high: 'Broken',
  medium: 'Weak',
  low: 'Could be better',
  info: 'For information',
}

/** The word for a status; where something could be better, that of its gravest finding. */
export const statusWord = (status: Status, findings: readonly { readonly severity: Severity }[]): string =>
  status === 'warn' && findings.some(({ severity }) => severity === 'medium')
    ? SEVERITY_WORDS.medium
    : STATUS_WORDS[status]

export const GRADE_WORDS: Readonly<Record<string, string>> = {
  'A+': 'Nothing that the score counts can be improved.',
  A: 'Good, with little left to do.',
  B: 'Sound, but with gaps worth closing.',
  C: 'Works, but with gaps in protection or delivery.',
  D: 'Weak: large gaps in protection or delivery.',
  F: 'Needs repair: most of what protects and delivers mail is missing or broken.',
}

/**
 * The words for a good grade although something needs repair: mail that does not arrive, a name that somebody else can
 * register.
 */
export const BUT_BROKEN = 'Mostly good, but something below needs repair.'

/** The words for a domain to which no mail can arrive, whatever its grade. */
export const UNDELIVERABLE = 'Mail to this domain cannot be delivered.'

/** A check's name, and its purpose in one sentence. */
type About = { readonly name: string; readonly purpose: string }

/** The sections of a document in their order: scored checks first. */
export const CHECK_NAMES = [
  'spf',
  'dkim',
  'dmarc',
  'mx',
  'ptr',
  'starttls',
  'mta_sts',
  'tls_rpt',
  'dane',
  'dnssec',
  'ns',
  'soa',
  'caa',
  'bimi',
] as const satisfies readonly CheckName[]

export const CHECKS: Readonly<Record<CheckName, About>> = {
  spf: { name: 'SPF', purpose: 'Says which servers may send mail for the domain.' },
  dkim: { name: 'DKIM', purpose: 'Lets receivers verify that a message is signed by the domain.' },
  dmarc: { name: 'DMARC', purpose: 'Tells receivers what to do with forged mail in the name of the domain.' },
  mx: { name: 'MX', purpose: 'Names the mail servers of the domain.' },
  ptr: {
    name: 'PTR',
    purpose:
      'Reverse DNS: gives the addresses of the mail servers their names; receivers distrust addresses without one.',
  },
  starttls: { name: 'STARTTLS', purpose: 'Encrypts mail on its way to the mail servers.' },
  mta_sts: { name: 'MTA-STS', purpose: 'Makes senders require encryption.' },
  tls_rpt: { name: 'TLS reports', purpose: 'Tells the owner when mail could not be encrypted.' },
  dane: { name: 'DANE', purpose: 'Publishes the certificates of the mail servers in signed DNS.' },
  dnssec: { name: 'DNSSEC', purpose: 'Signs the DNS, so that its answers cannot be forged.' },
  ns: { name: 'Name servers (NS)', purpose: 'Serve the zone of the domain; all must give the same answers.' },
  soa: { name: 'Zone (SOA)', purpose: 'Controls how long name servers and caches keep the zone.' },
  caa: { name: 'CAA', purpose: 'Says which authorities may issue certificates for the domain.' },
  bimi: { name: 'BIMI', purpose: 'Shows a logo next to mail of the domain.' },
}

/** The name of a breakdown row without a finding. */
export const ROW_WORDS: Readonly<Record<string, string>> = {
  deduction: 'Deductions',
  unknown: 'Could not be determined: half of the points',
  cap: 'Limited to 50: everyone may send',
  rescale: 'Scaled to 100, without what does not apply',
  rounding: 'Rounding to a whole number',
}

/** The name of a deduction without a finding. */
export const LOSS_WORDS: Readonly<Record<string, string>> = { dmarc: 'No aggregate reports (rua)' }

/** Why the answer of a list does not count. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  no_answer: 'no answer in time',
  not_answering: 'has not answered for a while',
  aborted: 'the time for this report ran out',
  refused: 'refuses our queries',
  servfail: 'its servers report an error',
  formerr: 'did not understand the query',
  notimp: 'does not support the query',
  network: 'could not be reached',
  malformed: 'its answer is not a valid DNS message',
  cname_loop: 'its name is in a CNAME loop',
  public_resolver: 'refuses queries from a public resolver',
  too_many_queries: 'reports too many queries',
  typing_error: 'reports that its name is misspelled',
  rewritten_or_parked: 'the answer is not from the list: it was rewritten on the way, or the list no longer exists',
  unknown_code: 'returned an undocumented code',
  own_limit: 'our own query limit for this list is used up',
  no_ipv6: 'does not list IPv6 addresses',
  ipv6_not_proven: 'is not known to list IPv6 addresses',
  not_public: 'not queried: the address is not public, so no list contains it',
  not_a_name: 'not queried: it lists names, and this is an address',
  not_an_address: 'not queried: it lists addresses, and this is a name',
  test_point_missing: 'the test entry is missing, so "not listed" means nothing (RFC 5782 §5)',
  test_unanswered: 'the test entry could not be looked up, so "not listed" means nothing',
  implausible: 'more than 20 records in one answer',
  resolver_denies_everything: 'the resolver denies every name, even top-level domains',
  too_many_questions: 'not queried: the request needs too many DNS queries',
  address_asked: 'was asked about an address instead of a name',
  dead: 'is dead: its test entries are gone',
  quarantined_answers_everything: 'lists every address, so its answers are not counted',
  quarantined_rewritten_or_parked: 'its answers are rewritten or its name is parked',
}

export const TIER_WORDS: Readonly<Record<Tier, string>> = {
  A: 'many receivers act on it',
  B: 'some receivers act on it',
  C: 'few receivers act on it',
  D: 'policy or information, not evidence of spam',
}

export const LIST_STATUS: Readonly<Record<string, string>> = {
  blocked: 'refused',
  timeout: 'no answer',
  error: 'faulty',
  unsupported: 'not for IPv6',
}

/** A document of an answer that names no time of observation. */
export const documentOf = (title: string, version: string, ...parts: readonly Parts[]): Document => ({
  title,
  blocks: blocksOf(parts),
  footer: footerOf(version),
})

/** The end of a document: the time of the observation, and the versions that produced it. */
export const footerOf = (version: string, observedAt?: string, ...more: readonly string[]): Line[] => [
  ...(observedAt === undefined ? [] : [['Observed ', { time: observedAt }, '.']]),
  [[`mailsonde ${version}`, ...more].join(' · ')],
]

/** The score with its range; without a grade the range alone, since the score says nothing. */
export const ofHundred = ({ score, grade, range }: Pick<Verdict, 'score' | 'grade' | 'range'>): string =>
  grade === undefined && range ? `${range.join('–')} of 100` : `${score} of 100${range ? ` (${range.join('–')})` : ''}`

/** How a score adds up, as the last part of a document that does not fold it. */
export const sumOf = ({ sum }: Verdict): readonly Block[] =>
  sum.length === 0 ? [] : [heading(2, 'How the score adds up', 'score'), ...sum]

/** `2026-01-02T03:04:05.000Z` as `2026-01-02 03:04 UTC`; anything else unchanged. */
export const inWords = (time: string): string =>
  time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d{1,9})?Z$/, '$1 $2 UTC')

/** Milliseconds in the largest relevant units: `850 ms`, `4 s`, `5 min`, `2 h 10 min`, `3 days`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 90_000) return `${Number((ms / 1_000).toFixed(ms < 10_000 ? 1 : 0))} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.round(hours / 24)} days`
}

/**
 * The URL of a link that may be followed: http or https without a user name, at most 2,048 characters; otherwise
 * undefined.
 */
export function safeLink(href: string): string | undefined {
  const url = href.length > 2_048 ? null : URL.parse(href)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '')
    return undefined
  return url.href
}

/** A part of the same document: `#` and a name that is safe in an attribute. */
export const isPart = (href: string): boolean => /^#[a-z][a-z0-9_-]{0,60}$/.test(href)

/** A word of an answer as people read it: `not_applicable` without its underscore. */
export const wordsOf = (word: string): string => word.replaceAll('_', ' ')

/** The sign of a mark, shown with its words. */
export const SIGNS: Readonly<Record<Mark, string>> = { good: '✓', warn: '!', bad: '✕', open: '?', busy: '…', none: '–' }

export const STATUS_MARKS: Readonly<Record<Status, Mark>> = {
  pass: 'good',
  warn: 'warn',
  fail: 'bad',
  unknown: 'open',
  not_applicable: 'none',
}

export const SEVERITY_MARKS: Readonly<Record<Severity, Mark>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'none',
  info: 'none',
}

/** The look of a score: the words beside it say the same. */
export const markOfScore = (score: number, isBroken = false): Mark =>
  score >= 80 && !isBroken ? 'good' : score >= 65 ? 'warn' : 'bad'

/** The share of the limit as a mark: over it is bad, from four fifths on a warning. */
export const markOfCost = (cost: number, limit: number): Mark =>
  cost > limit ? 'bad' : cost * 5 >= limit * 4 ? 'warn' : 'good'
