import { registrableDomain } from '../names/suffix.ts'
import type { ReportKind } from '../store/postgres/reports.ts'

/**
 * A receiver that is known to send reports. A report proves who wrote it and not that it is so: verdicts need at least
 * one of these. `domains` are organizational domains that write for each other: From of the message, and `email` or
 * `contact-info` of the report.
 */
export type Reporter = { readonly name: string; readonly domains: readonly string[]; readonly seen: string }

const CORPUS = 'From, DKIM d= and email of reports in public test data of open report parsers, 2026-11'
const OWN = 'email of its reports in public test data of open report parsers, 2026-11'

export const REPORTERS: readonly Reporter[] = [
  { name: 'Google', domains: ['google.com'], seen: CORPUS },
  { name: 'Microsoft', domains: ['microsoft.com', 'hotmail.com', 'outlook.com'], seen: CORPUS },
  { name: 'Yahoo', domains: ['yahoo.com', 'yahooinc.com', 'yahoo-inc.com', 'aol.com'], seen: CORPUS },
  { name: 'Mail.ru', domains: ['mail.ru'], seen: CORPUS },
  { name: 'Amazon SES', domains: ['amazonses.com', 'amazon.com'], seen: CORPUS },
  { name: 'Fastmail', domains: ['fastmaildmarc.com', 'fastmail.com', 'fastmailteam.com'], seen: OWN },
  { name: 'GMX', domains: ['gmx.net', 'gmx.de', 'gmx.com'], seen: OWN },
  { name: 'WEB.DE', domains: ['web.de'], seen: OWN },
  { name: 'Orange', domains: ['orange.com', 'orange.fr'], seen: OWN },
  { name: 'Zoho', domains: ['zoho.com', 'zohocorp.com'], seen: OWN },
  { name: 'Mimecast', domains: ['mimecastreport.com', 'mimecast.com', 'mimecast.org'], seen: OWN },
  { name: 'Cisco', domains: ['iphmx.com', 'cisco.com'], seen: OWN },
  { name: 'XS4ALL', domains: ['xs4all.net', 'xs4all.nl'], seen: CORPUS },
  {
    name: 'Comcast',
    domains: ['comcast.net'],
    seen: 'the operator signs and sends its reports with this domain; its postmaster pages, 2026-11',
  },
  {
    name: 'Proton',
    domains: ['proton.me', 'protonmail.com'],
    seen: "the provider's support page about DMARC, 2026-11",
  },
  { name: 'Seznam', domains: ['seznam.cz'], seen: "the provider's help page about DMARC, 2026-11" },
]

const BY_DOMAIN: ReadonlyMap<string, Reporter> = new Map(
  REPORTERS.flatMap((reporter) => reporter.domains.map((domain) => [domain, reporter] as const)),
)

/**
 * The organization behind a report: the organizational domain of `email` or `contact-info`, else the organization as
 * written, in lower case.
 */
export function reporterOf(
  contact: string | null,
  organization: string | null,
): { readonly name: string; readonly isKnown: boolean } {
  const name = organizationalDomainOf(contact) ?? (organization ?? '').toLowerCase().slice(0, 253)
  return { name, isKnown: BY_DOMAIN.has(name) }
}

/**
 * The organizational domain of a mail address as people write it: `<a@b>`, `mailto:a@b`, with words around it.
 * Undefined without an address.
 */
function organizationalDomainOf(address: string | null): string | undefined {
  const host = /@([a-z0-9][a-z0-9.-]{0,252})/i
    .exec(address ?? '')?.[1]
    ?.toLowerCase()
    .replace(/\.+$/, '')
  return host === undefined ? undefined : (registrableDomain(host) ?? host)
}

/** Whether mail from `from` may bring reports of `author`: both are organizational domains of one organization. */
const writesFor = (from: string, author: string): boolean =>
  from === author || (BY_DOMAIN.get(from)?.domains.includes(author) ?? false)

/** A DKIM signature of the message that brought a report. */
export type ReportSignature = {
  readonly domain: string
  /** `unknown`: the key is gone, or the signature has expired; `unanswered`: the DNS did not answer. */
  readonly result: 'pass' | 'fail' | 'unknown' | 'unanswered'
  readonly signsFrom: boolean
  /** It has `l=`: something may have been added to the message. */
  readonly isPartial: boolean
  /** Its key is for TLS reports alone (`s=tlsrpt`, RFC 8460 §3). */
  readonly isOfTlsReports?: boolean
}

/** What is known of the message that brought a report. */
export type Envelope = {
  /** Domains of the addresses in From. */
  readonly from: readonly string[]
  readonly signatures: readonly ReportSignature[]
  /** The topmost Authentication-Results, of a host that is trusted (`--reports-trust`), says `dmarc=pass`. */
  readonly isTrusted: boolean
}

/** Who sent a report: `true` is proven, `false` refuted, `null` not known; `unanswered` may be proven later. */
export type Authenticity = boolean | null | 'unanswered'

/**
 * Judges who sent a report that came as a message. `author` is its `email` (`contact-info` of a TLS report): the
 * signature has to be aligned with From, and From has to be the author's, or to report for it.
 */
export function authenticityOf(kind: ReportKind, author: string | null, envelope: Envelope): Authenticity {
  const { from, signatures, isTrusted } = envelope
  const sender = from.length === 1 ? organizationalOf(from[0]!) : undefined
  const organization = organizationalDomainOf(author)
  if (sender === undefined || organization === undefined || !writesFor(sender, organization)) return false
  const aligned = signatures.filter(
    ({ domain, signsFrom, isPartial, isOfTlsReports }) =>
      signsFrom && !isPartial && organizationalOf(domain) === sender && (kind === 'tls' || !isOfTlsReports),
  )
  if (aligned.some(({ result }) => result === 'pass')) return true
  if (kind === 'dmarc' && isTrusted) return true
  if (aligned.some(({ result }) => result === 'unanswered')) return 'unanswered'
  if (aligned.some(({ result }) => result === 'unknown')) return null
  return false // also a TLS report without a signature (RFC 8460 §3)
}

const organizationalOf = (domain: string): string => registrableDomain(domain) ?? domain
