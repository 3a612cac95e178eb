import { registrableDomain } from '../names/suffix.ts'
import type { ReportKind } from '../store/postgres/reports.ts'
import { organizationalDomainOf, writesFor } from './reporters.ts'

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
