import { publicSuffix, registrableDomain } from '../../names/suffix.ts'
import type { Finding } from '../check.ts'
import type { Applied, DmarcFacts } from './facts.ts'
import { finding } from './finding.ts'
import { type Basis, changedFix } from './fixes.ts'

/** The findings about the walk and about other readings of the same records. */
export function readingFindings(facts: DmarcFacts, applied: Applied, basis: Basis): Finding[] {
  const out: Finding[] = []
  const psd = applied.reading.record.psd
  if (psd === 'y' && publicSuffix(applied.domain) !== applied.domain) {
    const fix = changedFix(basis, { psd: registrableDomain(applied.domain) === applied.domain ? 'n' : 'u' })
    out.push(finding('dmarc.psd_misused', { domain: applied.domain }, { evidence: applied.text, fix }))
  }
  const gap = facts.walk.steps.find((step) => step.decision === 'unanswered')
  if (gap) out.push(finding('dmarc.walk_gap', { name: gap.name, reason: gap.reason ?? '' }))
  if (facts.legacy) {
    const { foundAt = '', policy = '', pct = 100, organizationalDomain } = facts.legacy
    const now = facts.walk.organizationalDomain ?? ''
    const effective = applied.effective ?? ''
    const isOneOrganization = now === '' || organizationalDomain === now
    // `dmarc.pct_partial` says what a share alone changes.
    const isShareOnly = foundAt === applied.domain && policy === effective && isOneOrganization
    const args = { foundAt, policy, pct, organizationalDomain, now, effective }
    if (!isShareOnly) out.push(finding('dmarc.legacy_differs', args))
  }
  return out
}
