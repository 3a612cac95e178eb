import { printable } from '../../base/text.ts'
import type { DnsRecord, Finding, Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import type { TlsRptFacts } from './lookup.ts'
import { formatTlsRpt, parseTlsRpt } from './parse.ts'

/**
 * `warn`: no reports are requested; `fail`: they are requested in a form that senders need not support;
 * `not_applicable`: the domain accepts no mail.
 */
export function judgeTlsRpt(
  facts: TlsRptFacts,
  { noMail, takes }: Pick<DomainContext, 'noMail' | 'takes'>,
): Outcome<TlsRptFacts> {
  const { domain, parsed, count } = facts
  const start = record(facts, `v=TLSRPTv1; rua=mailto:tls-reports@${domain}`)
  if (count > 1) {
    const evidence = printable(facts.records.join(' | '))
    return done(facts, 'fail', { id: 'tls_rpt.several_records', args: { count, domain }, evidence, ...merged(facts) })
  }
  if (facts.lookalike !== undefined) {
    const evidence = printable(facts.lookalike)
    return done(facts, 'fail', { id: 'tls_rpt.version', args: { domain }, evidence, ...repaired(facts) })
  }
  if (!parsed && noMail !== undefined)
    return done(facts, 'not_applicable', { id: 'tls_rpt.no_mail', args: { domain, reason: noMail } })
  // No report could arrive where no mail does.
  const offered = takes === false ? {} : { fix: start }
  if (!parsed) return done(facts, 'warn', { id: 'tls_rpt.no_record', args: { domain }, ...offered })
  const evidence = printable(facts.records[0]!)
  if (!parsed.ok) {
    const args = { problem: parsed.problem, at: parsed.at ?? -1 }
    return done(facts, 'fail', { id: 'tls_rpt.syntax', args, evidence, ...offered })
  }
  const bad = parsed.value.rua.filter((uri) => uri.problem !== undefined).slice(0, 10)
  const usable = parsed.value.rua.filter((uri) => uri.problem === undefined)
  const fix = record(facts, formatTlsRpt({ ...parsed.value, rua: usable }))
  const findings = bad.map((uri): Finding => {
    const args = { uri: printable(uri.uri, 120), problem: uri.problem ?? '' }
    return { id: 'tls_rpt.report_uri', args, evidence, fix }
  })
  return done(facts, findings.length > 0 ? 'warn' : 'pass', ...findings)
}

const record = (facts: TlsRptFacts, value: string): DnsRecord => ({
  name: `_smtp._tls.${facts.domain}`,
  rtype: 'TXT',
  value,
})

/** One record with all readable addresses. */
function merged(facts: TlsRptFacts): { fix?: DnsRecord } {
  const rua = facts.records.flatMap((text) => {
    const parsed = parseTlsRpt(text)
    return parsed.ok ? parsed.value.rua.filter((uri) => uri.problem === undefined) : []
  })
  const unique = [...new Map(rua.map((uri) => [uri.uri, uri])).values()].slice(0, 10)
  return unique.length > 0 ? { fix: record(facts, formatTlsRpt({ rua: unique, extensions: [] })) } : {}
}

function repaired(facts: TlsRptFacts): { fix?: DnsRecord } {
  const rest = facts.lookalike!.slice(0, 2_000).replace(/^["\s]{0,8}v\s{0,8}=?\s{0,8}tls-?rpt[-v]{0,2}1?\s{0,8};?/i, '')
  const parsed = parseTlsRpt(`v=TLSRPTv1;${rest}`)
  return parsed.ok ? { fix: record(facts, formatTlsRpt(parsed.value)) } : {}
}

const done = (
  facts: TlsRptFacts,
  status: 'pass' | 'warn' | 'fail' | 'not_applicable',
  ...findings: Finding[]
): Outcome<TlsRptFacts> => ({ status, facts, findings })
