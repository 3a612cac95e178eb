import { type Policy, publishedPolicyOf } from '../checks/dmarc/index.ts'
import type { CheckKey, FactSets } from '../checks/run.ts'
import type { SeenMail, SeenStepUp } from '../checks/seen-mail.ts'
import { spfReach } from '../checks/spf/index.ts'

type Situation = { readonly facts: FactSets }
type Compared = { readonly key: CheckKey; readonly before: Situation; readonly after: Situation }

/** Why a fix is not offered while reports show the mail that it concerns, in words. */
export function seenObjection({ key, before, after }: Compared, seen: SeenMail): string | undefined {
  if (key === 'dmarc') {
    if (asksForReports(before) && !asksForReports(after)) return 'reports come in, and the record would ask for none.'
    const told = seenStepUp({ before, after }, seen)
    return told?.isBlocked ? told.words : undefined
  }
  if (key !== 'spf') return undefined
  const [was, is] = [before.facts.spf, after.facts.spf]
  if (was instanceof Error || is instanceof Error) return undefined
  const lost = seen.lostBySpf(spfReach(was), spfReach(is))
  return lost === undefined ? undefined : `reports show mail from addresses that the record would leave out: ${lost}`
}

const asksForReports = ({ facts: { dmarc } }: Situation): boolean =>
  !(dmarc instanceof Error) && (dmarc.applied?.reading.record.rua.length ?? 0) > 0

/** What reports say about a policy that rises between two situations; undefined: it does not. */
export function seenStepUp(
  { before, after }: Pick<Compared, 'before' | 'after'>,
  seen: SeenMail,
): SeenStepUp | undefined {
  const { dmarc, spf } = after.facts
  if (dmarc instanceof Error || strengthOf(after) <= strengthOf(before)) return undefined
  const published = publishedPolicyOf(dmarc)
  if (published.kind !== 'policy' || published.effective === 'none' || !dmarc.applied) return undefined
  const { adkim, aspf } = dmarc.applied.reading.record
  const spfOf = spf instanceof Error ? undefined : spfReach(spf).passes
  return seen.stepUp({ policy: published.effective, adkim, aspf, ...(spfOf && { passes: spfOf }) })
}

const STRENGTH: Readonly<Record<Policy, number>> = { none: 0, quarantine: 1, reject: 2 }

function strengthOf({ facts: { dmarc } }: Situation): number {
  if (dmarc instanceof Error) return 0
  const published = publishedPolicyOf(dmarc)
  return published.kind === 'policy' ? (STRENGTH[published.effective] * published.share) / 100 : 0
}
