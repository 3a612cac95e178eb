import type { TlsRptFields } from '../../answers/checks.ts'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import type { Domain } from '../../names/domain.ts'
import type { Ctx } from '../../world.ts'
import { type DnsRecord, defineCheck, type Finding, type Outcome, reasonOf } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { MAX_URIS, mendedUris, parseReportUris, type ReportUri, reportUriProblem } from '../dmarc/index.ts'
import { hasVersion, parseFields } from '../mta-sts/index.ts'
import { type OneRecord, oneRecord } from '../one-record.ts'
import { tlsRptProblem } from '../problems.ts'
import { findings } from './findings.ts'

/** TLS-RPT: who gets reports if mail to the domain cannot be encrypted. */
export const tlsRpt = defineCheck<TlsRptFacts, TlsRptFields>({
  table: findings,
  lookup: lookupTlsRpt,
  judge: judgeTlsRpt,
  present: (outcome) => {
    const { facts } = outcome
    const text = facts?.records[0] ?? facts?.lookalike
    const parsed = facts?.parsed
    return {
      valid: parsed?.ok ?? false,
      reason: parsed?.ok ? undefined : reasonOf(findings, outcome),
      record: text === undefined ? undefined : printable(text, 2_048),
      rua: parsed?.ok ? parsed.value.rua.map((uri) => printable(uri.uri, 512)) : [],
    }
  },
})

/**
 * `warn`: no reports are requested; `fail`: they are requested in a form that senders need not support;
 * `not_applicable`: the domain accepts no mail.
 */
function judgeTlsRpt(
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
    const meant = urisMeant(facts.records[0]!)
    const fix = meant.length > 0 ? { fix: record(facts, formatTlsRpt({ rua: meant, extensions: [] })) } : offered
    return done(facts, 'fail', { id: 'tls_rpt.syntax', args, evidence, ...fix })
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

/** The addresses in a record that violates the grammar, at most 10. */
function urisMeant(text: string): readonly ReportUri[] {
  const words = text.slice(0, 2_000).replace(/\bru[af][ \t]*[=:]/gi, ' ')
  const pages = (words.match(/https:\/\/[^\s,;"]{1,512}/g) ?? []).flatMap((one) => parseReportUris(one).uris)
  const mailboxes = mendedUris({ uri: words.replace(/https:\/\/[^\s,;"]{1,512}/g, ' '), scheme: '' })
  return [...mailboxes, ...pages.filter((uri) => uri.problem === undefined)].slice(0, 10)
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

/** The TLSRPT records at `_smtp._tls`. */
type TlsRptFacts = OneRecord<TlsRptRecord> & { readonly domain: Domain }

/** Queries the TLSRPT record of `domain` (RFC 8460 §3). Rejects with DnsError if the record's name gives no answer. */
async function lookupTlsRpt(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<TlsRptFacts> {
  const answer = await ctx.resolve(`_smtp._tls.${domain}`, 'TXT', ctx.signal)
  const found = oneRecord(answer.records, { is: isTlsRpt, resembles: resemblesTlsRpt, parse: parseTlsRpt })
  return { domain, ...found }
}

/** A TLSRPT record (RFC 8460 §3). A destination with a `problem` cannot be used; at least one has none. */
type TlsRptRecord = {
  readonly rua: readonly ReportUri[]
  /** Extensions, as written; none is defined today. At most 20. */
  readonly extensions: readonly string[]
}

const VERSION = 'v=TLSRPTv1'
/** Maximum number of extensions that are kept. */
const MAX_EXTENSIONS = 20

/** Whether a text is a TLSRPT record at all: others are discarded before records are counted (RFC 8460 §3). */
const isTlsRpt = (text: string): boolean => hasVersion(text, VERSION)

/** Whether a text was probably meant to be a TLSRPT record. */
export const resemblesTlsRpt = (text: string): boolean =>
  /^["\s]{0,8}v\s{0,8}=?\s{0,8}tls-?rpt/i.test(text.slice(0, 64))

/**
 * Reads a TLSRPT record by the grammar of RFC 8460 §3, strictly: senders need not use a record that violates it. At
 * most 50 destinations per field.
 */
export function parseTlsRpt(text: string): Parsed<TlsRptRecord> {
  const fields = parseFields(text, VERSION, 'rua')
  if (!fields.ok) return fields
  const rua = fields.value.filter((field) => field.name === 'rua').flatMap((field) => urisOf(field.value))
  const extensions = fields.value.filter((field) => field.name !== 'rua').map((field) => `${field.name}=${field.value}`)
  if (rua.length === 0) return problem(tlsRptProblem('no_rua'))
  const [wrong] = rua
  if (wrong?.problem && rua.every((uri) => uri.problem !== undefined))
    return problem(tlsRptProblem('no_address', { text: wrong.uri, why: wrong.problem }))
  return parsed({ rua, extensions: extensions.slice(0, MAX_EXTENSIONS) })
}

/** Formats a record; `parseTlsRpt` of the result returns the same record. */
export const formatTlsRpt = (record: TlsRptRecord): string =>
  [VERSION, `rua=${record.rua.map((uri) => uri.uri).join(',')}`, ...record.extensions].join('; ')

/** The grammar does not permit a comma beside an empty item. */
function urisOf(value: string): readonly ReportUri[] {
  const { uris, empty } = parseReportUris(value)
  const nothing = empty > 0 ? [{ uri: '', scheme: '', problem: reportUriProblem('empty') }] : []
  return [...uris.map(withoutSize), ...nothing].slice(-MAX_URIS)
}

/** RFC 8460 §3 has no sizes, and only these schemes. */
function withoutSize({ size, ...uri }: ReportUri): ReportUri {
  if (size !== undefined) return { ...uri, problem: reportUriProblem('exclamation') }
  const supported = uri.scheme === 'mailto' || uri.scheme === 'https'
  return uri.problem === undefined && !supported ? { ...uri, problem: tlsRptProblem('scheme') } : uri
}
