import { printable } from '../../base/text.ts'
import type { Finding } from '../check.ts'
import type { Applied } from './facts.ts'
import { finding } from './finding.ts'
import { changedFix } from './fixes.ts'

/** Octets of a record over which its answer, with the name and other records, may not fit a UDP answer of 1232 octets. */
export const LONG_RECORD = 1_000
/** Faults that are told one by one; the rest is counted. */
const MAX_TOLD = 10

/** What is to say of the text of the applied record: none of it changes the policy. */
export function recordFindings(applied: Applied): Finding[] {
  const { text, reading } = applied
  const { record, faults } = reading
  const ignored = faults.filter(({ kind, tag }) => kind === 'item' || (kind === 'value' && !/^[sn]?p$/.test(tag)))
  const out: Finding[] = ignored.slice(0, MAX_TOLD).map((fault) => {
    const args = { tag: fault.tag, value: printable(fault.value, 80), at: fault.at }
    const id = fault.kind === 'item' ? 'dmarc.syntax' : 'dmarc.ignored_value'
    return finding(id, args, { evidence: text, fix: changedFix(applied, {}) })
  })
  const limits = faults.filter((fault) => fault.kind === 'limit').map((fault) => fault.tag || 'tags')
  if (limits.length > 0 || ignored.length > MAX_TOLD)
    out.push(finding('dmarc.limit', { limits, faults: ignored.length }, { evidence: text }))
  if (reading.unknown.length > 0)
    out.push(
      finding('dmarc.unknown_tags', { tags: reading.unknown.slice(0, MAX_TOLD).map((tag) => printable(tag, 40)) }),
    )
  out.push(...removedFindings(applied))
  if ([...record.rua, ...record.ruf].some((uri) => uri.size !== undefined))
    out.push(finding('dmarc.size_suffix', {}, { evidence: text, fix: changedFix(applied, {}) }))
  if (record.fo.join(':') !== '0' && record.ruf.length === 0) out.push(finding('dmarc.fo_without_ruf', {}))
  if (record.p !== undefined && !reading.policySecond)
    out.push(finding('dmarc.policy_order', {}, { evidence: text, fix: changedFix(applied, {}) }))
  if (Buffer.byteLength(text) > LONG_RECORD)
    out.push(finding('dmarc.long_record', { octets: Buffer.byteLength(text), limit: LONG_RECORD }))
  return out
}

function removedFindings(applied: Applied): Finding[] {
  const { removed } = applied.reading.record
  const tags = Object.keys(removed)
  if (tags.length === 0) return []
  const more = { evidence: applied.text, fix: changedFix(applied, {}) }
  const { pct } = removed
  // A share that older receivers apply and newer ones do not: the two treat the same mail differently.
  if (pct !== undefined && !/^0*100$/.test(pct) && applied.policy !== 'none')
    return [finding('dmarc.pct_partial', { pct: printable(pct, 20) }, more)]
  return [finding('dmarc.removed_tags', { tags }, more)]
}
