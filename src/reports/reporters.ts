import { isFree } from '../mailbox/side-data/free.ts'
import { registrableDomain } from '../names/suffix.ts'
import type { ReportKind } from '../store/postgres/report-rows.ts'

/**
 * A sender from which an organization reports. A report proves who wrote it and not that it is so: verdicts need at
 * least one of these.
 */
export type Reporter = {
  readonly name: string
  /**
   * From of its messages: an address, or `@host` (any address there) or `@.domain` (any address below it) where nobody
   * else has a mailbox. Null: not known; what comes by mail is then no proof of it.
   */
  readonly from: string | null
  /** Organizational domains of `email` or `contact-info` of its reports. */
  readonly writesFor: readonly string[]
  readonly source: string
  /** Month in which it was looked at. */
  readonly seen: string
}

const SIGNED = 'From and DKIM d= of messages in public test data of open report parsers'
const FROM = 'From of messages in public test data of open report parsers'
const EMAIL = 'email of its reports in public test data of open report parsers'
const PAGES = 'its pages for postmasters; From of its messages is not in public test data'
/** What administrators wrote down of the reports that they get. */
const FILTERS = 'From of its messages, and Submitter of their subjects, in public mail filters and their tests'
const SUBMITTER = 'org_name or Submitter of its reports in public notes of administrators; From is not in them'

const MICROSOFT = ['microsoft.com', 'hotmail.com', 'outlook.com']
const YAHOO = ['yahoo.com', 'yahooinc.com', 'yahoo-inc.com', 'aol.com']
const FASTMAIL = ['fastmaildmarc.com', 'fastmail.com', 'fastmailteam.com']
const MIMECAST = ['mimecastreport.com', 'mimecast.com', 'mimecast.org']

const row = (name: string, from: string | null, writesFor: readonly string[], source: string): Reporter => ({
  ...{ name, from, writesFor, source },
  seen: '2026-11',
})

export const REPORTERS: readonly Reporter[] = [
  row('Google', 'noreply-dmarc-support@google.com', ['google.com'], SIGNED),
  row('Google', 'noreply-smtp-tls-reporting@google.com', ['google.com'], SIGNED),
  row('Google', 'smtp-tls-reporting@google.com', ['google.com'], EMAIL),
  row('Microsoft', 'dmarcreport@microsoft.com', MICROSOFT, EMAIL),
  row('Microsoft', 'dmarcrep@microsoft.com', MICROSOFT, FROM),
  row('Microsoft', 'tlsrpt-noreply@microsoft.com', MICROSOFT, SIGNED),
  row('Yahoo', '@dmarc.yahoo.com', YAHOO, SIGNED),
  row('Yahoo', 'dmarchelp@yahooinc.com', YAHOO, EMAIL),
  row('Yahoo', 'dmarc-noreply@yahoo-inc.com', YAHOO, EMAIL),
  row('Mail.ru', 'dmarc_support@corp.mail.ru', ['mail.ru'], SIGNED),
  row('Amazon SES', 'postmaster@amazonses.com', ['amazonses.com', 'amazon.com'], FROM),
  row('Fastmail', 'reports@fastmaildmarc.com', FASTMAIL, EMAIL),
  row('GMX', 'noreply-dmarc@sicher.gmx.net', ['gmx.net', 'gmx.de', 'gmx.com'], FROM),
  row('GMX', 'noreply-dmarc-support@gmx.net', ['gmx.net', 'gmx.de', 'gmx.com'], EMAIL),
  row('WEB.DE', 'noreply-dmarc@sicher.web.de', ['web.de'], FILTERS),
  row('Orange', 'noreply-dmarc-support@orange.com', ['orange.com', 'orange.fr'], EMAIL),
  row('Zoho', 'noreply-dmarc@zoho.com', ['zoho.com', 'zohocorp.com'], FILTERS),
  row('Zoho', 'noreply@dmarc.zoho.com', ['zoho.com', 'zohocorp.com'], FILTERS),
  row('Mimecast', '@.mimecastreport.com', MIMECAST, FILTERS),
  row('Seznam', 'abuse@seznam.cz', ['seznam.cz'], FILTERS),
  row('NetEase', 'abuse@163.com', ['163.com', '126.com', 'yeah.net', 'netease.com'], FROM),
  row('Aruba', 'dmarcreport@aruba.it', ['aruba.it'], FILTERS),
  row('Infomaniak', 'dmarc@infomaniak.com', ['infomaniak.com', 'infomaniak.ch'], FILTERS),
  row('Rackspace', 'dmarc_reports@reports.emailsrvr.com', ['emailsrvr.com', 'rackspace.com'], FILTERS),
  row('NTT docomo', 'reporting@dmarc25.jp', ['dmarc25.jp', 'docomo.ne.jp'], FILTERS),
  row('LinkedIn', 'dmarc-noreply@linkedin.com', ['linkedin.com'], FILTERS),
  row('XS4ALL', '@dmarc-reports.xs4all.net', ['xs4all.net', 'xs4all.nl'], SIGNED),
  row('Comcast', 'dmarc-support@alerts.comcast.net', ['comcast.net', 'comcast.com'], FILTERS),
  row('mail.com', 'noreply-dmarc@corp.mail.com', ['mail.com'], FILTERS),
  row('Proton', null, ['proton.me', 'protonmail.com'], PAGES),
  row('wp.pl', 'dmarc-support@wp.pl', ['wp.pl'], FILTERS),
  row('GoDaddy', null, ['secureserver.net'], SUBMITTER),
  row('Bell Canada', null, ['bell.ca', 'bell.net'], SUBMITTER),
  row('Soverin', null, ['soverin.net'], SUBMITTER),
  // Each customer's appliance in Cisco's cloud reports, in that customer's words: a mail of one is no proof.
  row('Cisco', null, ['iphmx.com'], EMAIL),
]

const KNOWN_AUTHORS: ReadonlySet<string> = new Set(REPORTERS.flatMap(({ writesFor }) => writesFor))

/**
 * The organizational domain of a mail address as people write it: `<a@b>`, `mailto:a@b`, with words around it.
 * Undefined without an address.
 */
function organizationalDomainOf(address: string | null): string | undefined {
  const host = /@([a-z0-9][a-z0-9.-]{0,252})/i
    .exec(address ?? '')?.[1]
    ?.toLowerCase()
    .replace(/\.+$/, '')
  return host === undefined ? undefined : organizationalOf(host)
}

/** A DKIM signature of the message that brought a report. */
export type ReportSignature = {
  readonly domain: string
  /** `unknown`: the key is gone, or the signature has expired; `unanswered`: the DNS did not answer. */
  readonly result: 'pass' | 'fail' | 'unknown' | 'unanswered'
  readonly signsFrom: boolean
  /** The fields of {@link Envelope.domains} that it signs. */
  readonly signs?: readonly string[]
  /** It has `l=`: something may have been added to the message. */
  readonly isPartial: boolean
  /** Its key is for TLS reports alone (`s=tlsrpt`, RFC 8460 §3). */
  readonly isOfTlsReports?: boolean
}

/** What is known of the message that brought a report. */
export type Envelope = {
  /** The addresses in From, in lower case. */
  readonly from: readonly string[]
  readonly signatures: readonly ReportSignature[]
  /** The topmost Authentication-Results, of a host that is trusted (`--reports-trust`), says `dmarc=pass`. */
  readonly isTrusted: boolean
  /** The domain of a TLS report, by the fields that name it: `tls-report-domain`, `subject` (RFC 8460 §5.3). */
  readonly domains?: Readonly<Record<string, string>>
}

/** Who sent a report: `true` is proven, `false` refuted, `null` not known; `unanswered` may be proven later. */
type Authenticity = boolean | null | 'unanswered'

export type Author = {
  readonly kind: ReportKind
  readonly organization: string | null
  /** `email`, or `contact-info` of a TLS report. */
  readonly contact: string | null
}

export type Reported = {
  /**
   * The organization behind it: the organizational domain of `email` or `contact-info`, else the organization as
   * written, in lower case.
   */
  readonly name: string
  /** It comes from a sender of {@link REPORTERS}; without a message, it says so. */
  readonly isKnown: boolean
  readonly authenticated: Authenticity
}

/**
 * Judges who sent a report; `envelope` is that of the message that it came as. Two senders are proof: one of
 * {@link REPORTERS} for the organizations that it writes for, and any address of an organization for itself, unless
 * anybody can have a mailbox at its domain.
 */
export function reporterOf({ kind, organization, contact }: Author, envelope?: Envelope): Reported {
  const author = organizationalDomainOf(contact)
  const name = author ?? (organization ?? '').toLowerCase().slice(0, 253)
  if (envelope === undefined) return { name, isKnown: KNOWN_AUTHORS.has(name), authenticated: null }
  const sender = envelope.from.length === 1 ? envelope.from[0]! : ''
  const host = sender.slice(sender.lastIndexOf('@') + 1)
  const isKnown = REPORTERS.some(
    ({ from, writesFor }) => from !== null && isFrom(from, sender, host) && writesFor.includes(author ?? ''),
  )
  if (host === '' || author === undefined || !(isKnown || isOfItself(host, author)))
    return { name, isKnown: false, authenticated: false }
  // A domain below that of the sender, or beside it, may be in other hands.
  const isAligned = isKnown
    ? (domain: string) => host === domain || host.endsWith(`.${domain}`)
    : (domain: string) => organizationalOf(domain) === author
  const authenticated = authenticityOf(kind, envelope, isAligned)
  return { name, isKnown: isKnown && authenticated !== false, authenticated }
}

/** Whether a message may be one of {@link REPORTERS}: what else comes by mail does not count, whatever is in it. */
export function mayBeKnown({ from, signatures, isTrusted }: Envelope): boolean {
  const sender = from.length === 1 ? from[0]! : ''
  const host = sender.slice(sender.lastIndexOf('@') + 1)
  if (!isTrusted && !signatures.some(({ result }) => result === 'pass' || result === 'unanswered')) return false
  return REPORTERS.some((one) => one.from !== null && isFrom(one.from, sender, host))
}

const isFrom = (from: string, sender: string, host: string): boolean =>
  from.startsWith('@.') ? host.endsWith(from.slice(1)) : from.startsWith('@') ? host === from.slice(1) : sender === from

const isOfItself = (host: string, author: string): boolean =>
  organizationalOf(host) === author && isFree(author) === false && isFree(host) === false

function authenticityOf(
  kind: ReportKind,
  { signatures, isTrusted }: Envelope,
  isAligned: (domain: string) => boolean,
): Authenticity {
  const aligned = signatures.filter(
    ({ domain, signsFrom, isPartial, isOfTlsReports }) =>
      signsFrom && !isPartial && isAligned(domain) && (kind === 'tls' || !isOfTlsReports),
  )
  if (aligned.some(({ result }) => result === 'pass')) return true
  if (kind === 'dmarc' && isTrusted) return true
  if (aligned.some(({ result }) => result === 'unanswered')) return 'unanswered'
  if (aligned.some(({ result }) => result === 'unknown')) return null
  return false // also a TLS report without a signature (RFC 8460 §3)
}

const organizationalOf = (domain: string): string => registrableDomain(domain) ?? domain
