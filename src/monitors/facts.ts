import type { CheckAnswer } from '../answers/check.ts'
import type { Severity } from '../answers/finding.ts'
import type { DmarcPhase, MonitorFacts } from '../answers/monitors.ts'
import { type OwnProfiles, profileVerdicts } from '../profiles/domain.ts'
import { providerOfHost } from '../providers/index.ts'

/** Maximum number of finding ids that are kept of a domain. */
const MAX_FINDINGS = 100
const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low']

type Facts = Omit<MonitorFacts, 'score' | 'grade'>

/** What the answer of a check or report says of a domain beside its score; pure. What is not known is `unknown`. */
export function factsOf(answer: CheckAnswer, own?: OwnProfiles): Facts {
  const told = answer.findings.filter(({ severity }) => severity !== 'info')
  const worst = told.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))[0]
  return {
    role: answer.domain_role.name,
    provider: providerOf(answer),
    policy: policyOf(answer),
    ...phaseOf(answer),
    mta_sts: mtaStsOf(answer),
    dnssec: dnssecOf(answer),
    worst: worst ? { finding: worst.id, severity: worst.severity, title: worst.title } : null,
    findings: [...new Set(told.map(({ id }) => id))].slice(0, MAX_FINDINGS),
    profiles: profileVerdicts(answer, own),
  }
}

function providerOf({ mx, mx_status, mx_kind }: CheckAnswer): string {
  if (mx_status === 'unknown') return 'unknown'
  if (mx.length === 0 || mx_kind === 'null') return 'none'
  return mx.map(({ host }) => providerOfHost(host)?.name).find((name) => name !== undefined) ?? 'other'
}

type Answered = Pick<CheckAnswer, 'dmarc' | 'domain_role'> & Partial<Pick<CheckAnswer, 'findings'>>

const policyOf = ({ dmarc }: Answered): Facts['policy'] => {
  if (dmarc.status === 'unknown') return 'unknown'
  return dmarc.valid && dmarc.policy !== '' ? dmarc.policy : 'absent'
}

/** The phase of DMARC of a domain; of one without a record of its own also that of what is in force. */
export function phaseOf({
  dmarc,
  domain_role: role,
  findings = [],
}: Answered): Pick<Facts, 'phase' | 'inherited_phase' | 'inherited_because'> {
  if (role.name === 'parked' || role.name === 'no_mail') return { phase: 'parked' }
  if (dmarc.status === 'unknown') return { phase: 'unknown' }
  const phase = phaseInForce(dmarc)
  if (!dmarc.inherited) return { phase }
  const because = findings.find(({ id }) => id === 'dmarc.inherited')?.detail
  return { phase: 'inherited', inherited_phase: phase, ...(because !== undefined && { inherited_because: because }) }
}

const LEVEL = { none: 0, quarantine: 1, reject: 2 } as const

/**
 * By what receivers of both standards apply: those of RFC 9989 read `t` and no `pct`; those of RFC 7489 apply the next
 * lower policy to the mail beyond `pct` (§6.6.4) and read no `t`.
 */
function phaseInForce({ valid, policy, effective_policy, pct = 100 }: CheckAnswer['dmarc']): DmarcPhase {
  if (!valid || policy === '') return 'none'
  const now = LEVEL[effective_policy as keyof typeof LEVEL] ?? 0
  const lower = Math.max(0, LEVEL[policy] - 1)
  const older = lower + ((LEVEL[policy] - lower) * pct) / 100
  if (now === 0 && older === 0) return 'monitoring'
  return now >= 1 && older >= 1 ? 'enforced' : 'partial'
}

function mtaStsOf({ mta_sts }: CheckAnswer): Facts['mta_sts'] {
  if (mta_sts.status === 'unknown') return 'unknown'
  const mode = mta_sts.policy?.mode
  if (mode === 'testing' || mode === 'enforce') return mode
  return mode === 'none' || mta_sts.record === undefined ? 'none' : 'broken'
}

function dnssecOf({ dnssec }: CheckAnswer): Facts['dnssec'] {
  if (dnssec.bogus) return 'broken'
  if (dnssec.signed === null) return 'unknown'
  return dnssec.signed ? 'signed' : 'unsigned'
}
