import type { Ip } from '../names/ip.ts'
import { registrableDomain } from '../names/suffix.ts'
import type { ReportRow } from '../store/postgres/report-rows.ts'

/**
 * One `record` of a DMARC aggregate report (RFC 7489 appendix C, RFC 9990 §3.1). Texts are trimmed; names and results
 * are in lower case.
 */
export type DmarcRow = {
  readonly address: Ip
  /** Number of messages; 1 or more. */
  readonly count: number
  /** What the receiver did: `none`, `quarantine`, `reject`, `pass` (RFC 9990), or what it wrote. */
  readonly disposition: string
  /** The receiver's result with alignment; null if the report has none. */
  readonly dkimAligned: boolean | null
  readonly spfAligned: boolean | null
  /** Types of the policy overrides: `forwarded`, `mailing_list`, `local_policy` … */
  readonly reasons: readonly string[]
  readonly headerFrom: string
  readonly envelopeFrom: string
  readonly dkim: readonly DkimResult[]
  readonly spf: readonly SpfResult[]
}
export type DkimResult = { readonly domain: string; readonly selector: string; readonly result: string }
export type SpfResult = { readonly domain: string; readonly scope: string; readonly result: string }

/** A DMARC aggregate report without its records. */
export type DmarcHead = {
  /** Null: the element is missing; a missing one is never guessed. */
  readonly organization: string | null
  readonly email: string | null
  readonly reportId: string | null
  readonly domain: string | null
  /** Unix seconds. */
  readonly begin: number
  readonly end: number
  /** The elements of `policy_published` but its domain, as written. */
  readonly policy: Readonly<Record<string, string>>
  /** Records of any content. */
  readonly records: number
  readonly messages: number
}

/** A TLS report (RFC 8460 §4). */
export type TlsReport = {
  readonly organization: string | null
  readonly contact: string | null
  readonly reportId: string | null
  readonly begin: number
  readonly end: number
  readonly policies: readonly TlsPolicy[]
}
export type TlsPolicy = {
  /** In lower case; null if the report does not name it. */
  readonly domain: string | null
  readonly type: string
  /** Sessions; null if the report has no number. */
  readonly successful: number | null
  readonly failed: number | null
  readonly failures: readonly TlsFailure[]
}
export type TlsFailure = {
  readonly type: string
  readonly host: string | null
  readonly sessions: number | null
}

/** The largest count of a record or session total that is believed. */
export const MAX_COUNT = 1_000_000_000_000

/** Verified signatures that a row names. */
const MAX_SIGNERS = 4
/** Reasons of a policy override that say that the mail was passed on (RFC 7489 appendix C). */
export const PASSED_ON: readonly string[] = ['forwarded', 'mailing_list', 'trusted_forwarder']

/**
 * A record as it is summed: of several signatures the first aligned one, else the first; of several SPF results that of
 * MAIL FROM, else the first.
 */
export function summedRow(row: DmarcRow): ReportRow {
  const dkim = shownSignature(row)
  const spf = row.spf.find(({ scope }) => scope === 'mfrom') ?? row.spf[0]
  const verified = row.dkim.filter(({ result, domain }) => result === 'pass' && domain !== '')
  const reason = row.reasons.find((one) => PASSED_ON.includes(one)) ?? row.reasons[0] ?? ''
  return {
    name: row.headerFrom,
    address: row.address,
    envelope_from: row.envelopeFrom,
    spf_domain: spf?.domain ?? '',
    spf_result: (spf?.result ?? '').slice(0, 40),
    spf_aligned: row.spfAligned,
    dkim_domain: dkim?.domain ?? '',
    dkim_selector: dkim?.selector ?? '',
    dkim_result: (dkim?.result ?? '').slice(0, 40),
    dkim_aligned: row.dkimAligned,
    signers: [...new Set(verified.map(({ domain, selector }) => `${domain}:${selector}`))]
      .slice(0, MAX_SIGNERS)
      .join(' '),
    disposition: row.disposition.slice(0, 40),
    reason: reason.slice(0, 40),
    messages: row.count,
  }
}

function shownSignature({ dkim, headerFrom }: DmarcRow): DkimResult | undefined {
  if (dkim.length < 2) return dkim[0]
  const organization = organizationOf(headerFrom)
  const aligned = dkim.filter(({ domain }) => organizationOf(domain) === organization)
  return aligned.find(({ result }) => result === 'pass') ?? aligned[0] ?? dkim[0]
}

/** The suffix list is slow for a million rows that have three names. */
const known = new Map<string, string>()
export function organizationOf(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= 10_000) known.clear()
  const organization = registrableDomain(name) ?? name
  known.set(name, organization)
  return organization
}
