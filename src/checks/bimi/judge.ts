import type { Problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import type { DnsRecord, Finding, Outcome } from '../check.ts'
import { type MakeFinding, makeFinding } from '../finding.ts'
import type { findings } from './findings.ts'
import type { BimiFacts } from './lookup.ts'
import { type BimiRecord, formatBimi, locationProblem, otherImage, parseBimi } from './parse.ts'

type Judged =
  | { readonly status: 'pass' | 'warn' | 'fail' | 'not_applicable'; readonly findings: readonly Finding[] }
  | { readonly status: 'unknown'; readonly reason: Problem; readonly findings: readonly Finding[] }

/**
 * `not_applicable`: no record, which no standard requires; `fail`: a record that receivers cannot use; `warn`: a record
 * for which receivers will not show a logo; `pass`: a record with usable URLs, or one that declines; `unknown`: the
 * logo or DMARC could not be looked up.
 */
export function judgeBimi(facts: BimiFacts): Outcome<BimiFacts> {
  return { ...judgeRecords(facts), facts }
}

function judgeRecords(facts: BimiFacts): Judged {
  const { at, count, parsed, lookalike } = facts
  const evidence = lookalike ?? facts.records.join(' | ')
  if (count > 1) return fail(finding('bimi.several_records', { at, count }, { evidence, fix: firstGood(facts) }))
  if (lookalike !== undefined) return fail(finding('bimi.version', { at }, { evidence, fix: repaired(facts) }))
  if (!parsed) return { status: 'not_applicable', findings: [finding('bimi.no_record', { domain: facts.domain })] }
  if (!parsed.ok) return fail(finding('bimi.syntax', { problem: parsed.problem, at: parsed.at ?? -1 }, { evidence }))
  return judgeRecord(facts, parsed.value, evidence)
}

function judgeRecord(facts: BimiFacts, record: BimiRecord, evidence: string): Judged {
  const inherited =
    facts.at === facts.domain ? [] : [finding('bimi.inherited', { domain: facts.domain, from: facts.at })]
  if (record.logo === '' && record.authority === '')
    return { status: 'pass', findings: [finding('bimi.declined', {}, { evidence }), ...inherited] }
  const wrong = (['logo', 'authority'] as const).flatMap((part) => {
    const problem = record[part] === '' ? undefined : locationProblem(record[part])
    if (problem === undefined) return []
    const tag = part === 'logo' ? 'l' : 'a'
    return [finding('bimi.location', { tag, uri: printable(record[part], 120), problem }, { evidence })]
  })
  if (wrong.length === 0 && record.logo !== '' && otherImage(record.logo))
    wrong.push(finding('bimi.not_svg', { uri: printable(record.logo, 120) }, { evidence }))
  if (wrong.length > 0) return { status: 'fail', findings: [...wrong, ...unenforced(facts), ...inherited] }
  const unusable = logoFault(facts, evidence)
  if (unusable) return { status: 'fail', findings: [unusable, ...unenforced(facts), ...inherited] }
  const found: Finding[] = shapeOf(facts, evidence)
  if (record.logo === '') found.push(finding('bimi.no_logo', {}, { evidence }))
  found.push(...unenforced(facts))
  const weak = found.length > 0
  if (facts.dmarc.kind === 'unknown') found.push(finding('bimi.dmarc_unknown', { reason: facts.dmarc.reason }))
  if (facts.logo?.kind === 'unknown')
    found.push(finding('bimi.logo_unknown', { reason: facts.logo.reason }, { evidence }))
  if (record.authority === '') found.push(finding('bimi.no_certificate'))
  const findings = [...found, ...inherited]
  if (!weak && facts.dmarc.kind === 'unknown') return { status: 'unknown', reason: facts.dmarc.reason, findings }
  if (!weak && facts.logo?.kind === 'unknown') return { status: 'unknown', reason: facts.logo.reason, findings }
  return { status: weak ? 'warn' : 'pass', findings }
}

/** A policy that is not enforced prevents the logo, whether or not it can be fetched. */
const unenforced = ({ domain, dmarc }: BimiFacts): Finding[] =>
  dmarc.kind === 'not_enforced' ? [finding('bimi.dmarc_not_enforced', { domain, reason: dmarc.reason })] : []

/** Recommended maximum size of a logo, bytes (draft-svg-tiny-ps-abrotman §3). */
const ADVISED_BYTES = 32 * 1024

function logoFault({ logo }: BimiFacts, evidence: string): Finding | undefined {
  if (logo?.kind === 'unusable') return finding('bimi.logo_unavailable', { reason: logo.reason }, { evidence })
  if (logo?.kind !== 'read' || logo.svg.faults.length === 0) return undefined
  return finding('bimi.logo_profile', { faults: logo.svg.faults }, { evidence })
}

function shapeOf({ logo }: BimiFacts, evidence: string): Finding[] {
  if (logo?.kind !== 'read') return []
  const large = logo.bytes > ADVISED_BYTES ? [finding('bimi.logo_large', { bytes: logo.bytes }, { evidence })] : []
  return logo.svg.square === false ? [...large, finding('bimi.logo_not_square', {}, { evidence })] : large
}

const fail = (found: Finding): Judged => ({ status: 'fail', findings: [found] })

function firstGood(facts: BimiFacts): DnsRecord | undefined {
  const good = facts.records.find((text) => parseBimi(text).ok)
  return good === undefined ? undefined : record(facts, good)
}

function repaired(facts: BimiFacts): DnsRecord | undefined {
  const rest = facts.lookalike!.slice(0, 2_000).replace(/^["\s]{0,8}v\s{0,8}=?\s{0,8}bimi[-v]{0,2}1?\s{0,8};?/i, '')
  const parsed = parseBimi(`v=BIMI1;${rest}`)
  return parsed.ok ? record(facts, formatBimi(parsed.value)) : undefined
}

const record = (facts: BimiFacts, value: string): DnsRecord => ({
  name: `default._bimi.${facts.at}`,
  rtype: 'TXT',
  value,
})

const finding: MakeFinding<typeof findings> = makeFinding
