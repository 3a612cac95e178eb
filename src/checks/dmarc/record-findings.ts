import { printable } from '../../base/text.ts'
import type { Finding } from '../check.ts'
import type { Applied } from './facts.ts'
import { finding } from './finding.ts'
import { type Basis, changedFix } from './fixes.ts'
import { shareOf } from './policy.ts'

/** Size of a record, octets, above which its answer, with the name and other records, may not fit a UDP answer of 1232 octets. */
export const LONG_RECORD = 1_000
/** Maximum number of faults that are reported individually; the others are counted. */
const MAX_TOLD = 10

/** The findings about the text of the applied record; none of them changes the policy. */
export function recordFindings(applied: Applied, basis: Basis): Finding[] {
  const { text, reading } = applied
  const { record, faults } = reading
  const ignored = faults.filter(({ kind, tag }) => kind === 'item' || (kind === 'value' && !/^[sn]?p$/.test(tag)))
  const out: Finding[] = ignored.slice(0, MAX_TOLD).map((fault) => {
    const args = { tag: fault.tag, value: printable(fault.value, 80), at: fault.at }
    const id = fault.kind === 'item' ? 'dmarc.syntax' : 'dmarc.ignored_value'
    return finding(id, args, { evidence: text, fix: changedFix(basis) })
  })
  const limits = faults.filter((fault) => fault.kind === 'limit').map((fault) => fault.tag || 'tags')
  if (limits.length > 0 || ignored.length > MAX_TOLD)
    out.push(finding('dmarc.limit', { limits, faults: ignored.length }, { evidence: text }))
  if (reading.unknown.length > 0)
    out.push(
      finding('dmarc.unknown_tags', { tags: reading.unknown.slice(0, MAX_TOLD).map((tag) => printable(tag, 40)) }),
    )
  if (reading.capitals.length > 0)
    out.push(finding('dmarc.tag_case', { tags: reading.capitals.slice(0, MAX_TOLD) }, { evidence: text }))
  out.push(...removedFindings(applied, basis))
  if ([...record.rua, ...record.ruf].some((uri) => uri.size !== undefined))
    out.push(finding('dmarc.size_suffix', {}, { evidence: text, fix: changedFix(basis) }))
  if (record.fo.join(':') !== '0' && record.ruf.length === 0) out.push(finding('dmarc.fo_without_ruf', {}))
  if (record.p !== undefined && !reading.policySecond)
    out.push(finding('dmarc.policy_order', {}, { evidence: text, fix: changedFix(basis) }))
  if (Buffer.byteLength(text) > LONG_RECORD)
    out.push(finding('dmarc.long_record', { octets: Buffer.byteLength(text), limit: LONG_RECORD }))
  return out
}

function removedFindings(applied: Applied, basis: Basis): Finding[] {
  const { record } = applied.reading
  const tags = Object.keys(record.removed)
  if (tags.length === 0) return []
  const share = shareOf(applied.reading)
  // Receivers of RFC 7489 apply the policy to a part of the mail, and those of RFC 9989 to all of it; with pct=0 and t=y both apply it one step lower.
  const isAgreed = share === 100 || (share === 0 && record.testing) || applied.policy === 'none'
  if (!isAgreed)
    return [finding('dmarc.pct_partial', { pct: share, policy: applied.policy ?? '' }, { evidence: applied.text })]
  // A pct below 100 stays, so that a policy that is raised later starts with that percentage.
  const others = tags.filter((tag) => tag !== 'pct' || share === 100)
  const fix = others.length > 0 ? changedFix(basis) : undefined
  return [finding('dmarc.removed_tags', { tags: fix ? others : tags }, { evidence: applied.text, fix })]
}
