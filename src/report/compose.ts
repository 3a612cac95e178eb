import type { JsonObject } from '../base/json.ts'
import type { Status } from '../checks/check.ts'
import { presentMx } from '../checks/mx/index.ts'
import { presentFindings, presentOutcomes } from '../checks/present.ts'
import { ptrOf } from '../checks/ptr/index.ts'
import type { CheckKey, Outcomes } from '../checks/run.ts'
import { type Domain, unicodeOf } from '../names/domain.ts'
import type { Score } from './score.ts'

/** The checks that the score is made of; the others are hardening: findings, no points. */
const SCORED = ['spf', 'dkim', 'dmarc', 'mx', 'ptr'] as const satisfies readonly CheckKey[]

/** The answer of `/v1/check`: the fields of spec.md in its order, then the additions. */
export function composeCheck(domain: Domain, outcomes: Outcomes, score: Score): JsonObject {
  const { entries, kind } = presentMx(outcomes.mx, (address) => ptrOf(outcomes.ptr.facts, address))
  const { spf, dkim, dmarc, mx: _mx, ptr, ...hardening } = presentOutcomes(outcomes)
  const unicode = unicodeOf(domain)
  return {
    domain,
    score: score.score,
    spf,
    dkim,
    dmarc,
    mx: entries,
    ptr,
    ...(unicode === domain ? {} : { unicode_domain: unicode }),
    status: worst(SCORED.map((key) => outcomes[key].status)),
    grade: score.grade,
    score_version: score.scoreVersion,
    score_breakdown: score.breakdown,
    complete: score.complete,
    ...(score.complete ? {} : { score_min: score.scoreMin, score_max: score.scoreMax }),
    mx_status: outcomes.mx.status,
    ...(outcomes.mx.status === 'unknown' ? { mx_reason: outcomes.mx.reason } : {}),
    mx_kind: kind,
    ...hardening,
    findings: presentFindings(outcomes),
  }
}

/** The first of these that any check has: what is broken comes before what is weak, and both before what is open. */
const ORDER: readonly Status[] = ['fail', 'warn', 'unknown', 'pass', 'not_applicable']

const worst = (statuses: readonly Status[]): Status =>
  ORDER.find((status) => statuses.includes(status)) ?? 'not_applicable'
