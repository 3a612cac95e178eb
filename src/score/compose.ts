import type { CheckAnswer, ScoreRow } from '../answers/check.ts'
import type { FindingAnswer } from '../answers/finding.ts'
import type { Status } from '../checks/check.ts'
import { presentMx } from '../checks/mx/index.ts'
import { presentOutcome } from '../checks/present.ts'
import { ptrOf } from '../checks/ptr/index.ts'
import * as checks from '../checks/registry.ts'
import type { CheckKey, JudgedChecks } from '../checks/run.ts'
import { type Domain, unicodeOf } from '../names/domain.ts'
import type { Score } from './score.ts'

/** The scored checks; the others are hardening: findings, no points. */
const SCORED = ['spf', 'dkim', 'dmarc', 'mx', 'ptr'] as const satisfies readonly CheckKey[]

/** The answer of `/v1/check`: the original fields in their published order, then later ones. */
export function composeCheck(
  domain: Domain,
  { context, outcomes, score }: JudgedChecks & { readonly score: Graded },
  findings: readonly FindingAnswer[],
): CheckAnswer {
  const { entries, kind } = presentMx(outcomes.mx, (address) => ptrOf(outcomes.ptr.facts, address))
  const unicode = unicodeOf(domain)
  return {
    domain,
    score: score.score,
    spf: presentOutcome(checks.spf, outcomes.spf),
    dkim: presentOutcome(checks.dkim, outcomes.dkim),
    dmarc: presentOutcome(checks.dmarc, outcomes.dmarc),
    mx: entries,
    ptr: presentOutcome(checks.ptr, outcomes.ptr),
    ...(unicode === domain ? {} : { unicode_domain: unicode }),
    domain_role: { name: context.role, because: context.because.text },
    status: overall({ context, outcomes }),
    grade: score.grade,
    grade_because: score.because,
    score_version: score.scoreVersion,
    score_breakdown: [...score.breakdown, ...gradeRow(score)],
    complete: score.complete,
    ...(score.complete ? {} : { score_min: score.scoreMin, score_max: score.scoreMax }),
    mx_status: outcomes.mx.status,
    ...(outcomes.mx.status === 'unknown' ? { mx_reason: outcomes.mx.reason.text } : {}),
    mx_kind: kind,
    bimi: presentOutcome(checks.bimi, outcomes.bimi),
    caa: presentOutcome(checks.caa, outcomes.caa),
    dane: presentOutcome(checks.dane, outcomes.dane),
    dnssec: presentOutcome(checks.dnssec, outcomes.dnssec),
    mta_sts: presentOutcome(checks.mta_sts, outcomes.mta_sts),
    ns: presentOutcome(checks.ns, outcomes.ns),
    soa: presentOutcome(checks.soa, outcomes.soa),
    ...(outcomes.starttls && { starttls: presentOutcome(checks.starttls, outcomes.starttls) }),
    tls_rpt: presentOutcome(checks.tls_rpt, outcomes.tls_rpt),
    findings,
  }
}

type Graded = Score & Pick<CheckAnswer, 'grade'> & { readonly because: CheckAnswer['grade_because'] }

/** What keeps the grade below the points: a row without points. */
function gradeRow({ because }: Graded): ScoreRow[] {
  if (because === null) return []
  const component = SCORED.find((key) => because.finding.startsWith(`${key}.`)) ?? 'total'
  return [{ component, finding: because.finding, kind: 'grade', points: 0 }]
}

/** The overall status: the worst of the scored checks; `fail` if senders refuse to deliver to a mail host. */
const overall = ({ context, outcomes }: JudgedChecks): Status =>
  worst([
    ...SCORED.map((key) => outcomes[key].status),
    ...context.barriers.flatMap(({ kind }): Status[] => (kind === 'ipv6_only' ? [] : ['fail'])),
  ])

/** The first of these statuses that any check has: fail before warn, and both before unknown. */
const ORDER: readonly Status[] = ['fail', 'warn', 'unknown', 'pass', 'not_applicable']

const worst = (statuses: readonly Status[]): Status =>
  ORDER.find((status) => statuses.includes(status)) ?? 'not_applicable'
