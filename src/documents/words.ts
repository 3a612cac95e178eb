import type { Severity, Status } from '../answers/finding.ts'
import type { Tier } from '../answers/weights.ts'
import type { CheckName } from './check/answer.ts'

/** The words for a key that came with an answer: of the table's own keys only. */
export const wordsFor = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  pass: 'Good',
  warn: 'Could be better',
  fail: 'Needs repair',
  unknown: 'Could not be determined',
  not_applicable: 'Does not apply',
}

export const SEVERITY_WORDS: Readonly<Record<Severity, string>> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  info: 'For information',
}

export const GRADE_WORDS: Readonly<Record<string, string>> = {
  'A+': 'Nothing to improve in what the score counts.',
  A: 'In good order, with little left to do.',
  B: 'Sound, with gaps worth closing.',
  C: 'Works, but with gaps that cost delivery or let others send in its name.',
  D: 'Weak: mail is lost, or others can send in its name.',
  F: 'Needs repair before its mail can be relied on.',
}

/** The words for a good grade where something needs repair all the same: mail that does not arrive, a name that somebody else can take. */
export const BUT_BROKEN = 'Much is in order, but the first finding below needs repair.'

/** A check's name, and what it is for in one sentence. */
type About = { readonly name: string; readonly purpose: string }

/** The sections of a document in their order: those that the score counts come first. */
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
  dkim: { name: 'DKIM', purpose: 'Lets receivers verify that a mail is signed by the domain.' },
  dmarc: { name: 'DMARC', purpose: 'Tells receivers what to do with mail that is forged in the name of the domain.' },
  mx: { name: 'MX', purpose: 'The mail servers: says where mail for the domain goes.' },
  ptr: {
    name: 'PTR',
    purpose: 'Reverse DNS: names the addresses of the mail servers; receivers distrust those without.',
  },
  starttls: { name: 'STARTTLS', purpose: 'Encrypts mail on its way to the mail servers.' },
  mta_sts: { name: 'MTA-STS', purpose: 'Makes senders insist on encryption.' },
  tls_rpt: { name: 'TLS reports', purpose: 'Tells the owner when mail could not be encrypted.' },
  dane: { name: 'DANE', purpose: 'Publishes the certificates of the mail servers in the signed DNS.' },
  dnssec: { name: 'DNSSEC', purpose: 'Signs the DNS, so that its answers cannot be forged.' },
  ns: { name: 'Name servers (NS)', purpose: 'Answer for the domain; all must give the same answers.' },
  soa: { name: 'Zone (SOA)', purpose: 'The times by which name servers and caches keep the zone.' },
  caa: { name: 'CAA', purpose: 'Says which authorities may issue certificates for the domain.' },
  bimi: { name: 'BIMI', purpose: 'Shows a logo beside mail of the domain.' },
}

/** What a row of the breakdown is, where no finding says it. */
export const ROW_WORDS: Readonly<Record<string, string>> = {
  deduction: 'Taken off',
  unknown: 'Could not be determined: half of the points',
  cap: 'At most 50 where everybody may send',
  rescale: 'What does not apply is left out: scaled to 100',
  rounding: 'Rounding to a whole number',
}

/** What was taken off where no finding says it. */
export const LOSS_WORDS: Readonly<Record<string, string>> = { dmarc: 'No aggregate reports (rua)' }

/** Why a list gave no answer that counts. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  no_answer: 'no answer in time',
  not_answering: 'has not been answering for a while',
  aborted: 'the time for this report ran out',
  refused: 'refuses our queries',
  servfail: 'its servers report a fault',
  formerr: 'did not understand the query',
  notimp: 'does not support the query',
  network: 'could not be reached',
  malformed: 'its answer is not a valid DNS message',
  cname_loop: 'its name is in a CNAME loop',
  public_resolver: 'refuses queries from a public resolver',
  too_many_queries: 'says that it got too many queries',
  typing_error: 'says that its name was misspelled',
  rewritten_or_parked: "the answer is not the list's own: rewritten on the way, or the list is gone",
  unknown_code: 'answered with a code that it does not document',
  own_limit: 'our own limit toward this list is used up',
  no_ipv6: 'does not list IPv6 addresses',
  ipv6_not_proven: 'has not proven that it lists IPv6 addresses',
  not_public: 'not queried: the address is not public, so no list contains it',
  test_point_missing: 'its test entry is missing, so "not listed" means nothing (RFC 5782 §5)',
  test_unanswered: 'its test entry could not be looked up, so "not listed" means nothing',
  implausible: 'more than 20 records in one answer',
  resolver_denies_everything: 'the resolver says that nothing exists, not even top-level domains',
  too_many_questions: 'not queried: the request needs too many DNS queries',
  dead: 'is dead: its test entries are gone',
  quarantined_answers_everything: 'lists every address, so its answers are not counted',
  quarantined_rewritten_or_parked: 'its answers are rewritten or its name is parked',
}

export const TIER_WORDS: Readonly<Record<Tier, string>> = {
  A: 'many receivers act on it',
  B: 'some receivers act on it',
  C: 'few receivers act on it',
  D: 'policy or information, no evidence of spam',
}

export const LIST_STATUS: Readonly<Record<string, string>> = {
  blocked: 'refused',
  timeout: 'no answer',
  error: 'faulty',
  unsupported: 'not for IPv6',
}
