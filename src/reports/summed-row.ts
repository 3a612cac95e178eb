import { registrableDomain } from '../names/suffix.ts'
import type { ReportRow } from '../store/postgres/reports.ts'
import type { DkimResult, DmarcRow } from './report.ts'

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
