import {
  COMPONENTS,
  type Component,
  earnedGrade,
  type Grade,
  SCORE_VERSION,
  type Tier,
  WEIGHTS,
  worstGrade,
} from '../answers/weights.ts'
import type { Severity } from '../checks/check.ts'
import { applies } from '../checks/context.ts'
import { dkimLosses, dmarcLosses, mxLosses, ptrLosses, spfLosses, UNIT } from './losses.ts'
import type { Loss, ScoreInputs, ScoreRow, SpfScoreInput } from './score-types.ts'

const ALL_COMPONENTS = Object.keys(COMPONENTS) as Component[]

export type Score = {
  /** 0 to 100, rounded once, half up. */
  readonly score: number
  readonly scoreVersion: typeof SCORE_VERSION
  /**
   * False if something that counts could not be determined; `scoreMin` and `scoreMax` are then the worst and the best
   * case.
   */
  readonly complete: boolean
  readonly scoreMin?: number
  readonly scoreMax?: number
  /** Rows and score add up to exactly 100. */
  readonly breakdown: readonly ScoreRow[]
}

/** The score of a domain (docs/score.md): every point lost is a row. */
export function score(inputs: ScoreInputs): Score {
  if (inputs.role === 'no_such_domain') return NO_DOMAIN
  if (inputs.reverse) return NOTHING_TO_LOSE
  const parts = partsOf(inputs)
  const scale = scaleOf(inputs)
  const cap = capOf(inputs)
  // Everybody may pass by a part of SPF that has no answer.
  const worstCap = mayBeEverybody(inputs) ? WEIGHTS.spf.cap_of_everybody : cap
  const final = (pick: keyof Reading): number =>
    capped(rounded(lostOf(parts, pick), scale), pick === 'mostUnits' ? worstCap : cap)
  const value = final('units')
  const complete = parts.every(({ losses }) =>
    losses.every((loss) => loss.leastUnits === loss.mostUnits && loss.units === loss.leastUnits),
  )
  return {
    score: value,
    scoreVersion: SCORE_VERSION,
    complete,
    ...(complete ? {} : { scoreMin: final('mostUnits'), scoreMax: final('leastUnits') }),
    breakdown: rowsOf(parts, scale, cap, value, inputs.spf),
  }
}

/** {@link score} of the first of several readings of a domain: the worst and the best case cover all of them. */
export function scoreWithin(readings: readonly ScoreInputs[]): Score {
  const [own, ...others] = readings.map(score)
  if (!own) throw new Error('a domain has at least one reading')
  const least = Math.min(...[own, ...others].map((one) => one.scoreMin ?? one.score))
  const most = Math.max(...[own, ...others].map((one) => one.scoreMax ?? one.score))
  const isSame = least === (own.scoreMin ?? own.score) && most === (own.scoreMax ?? own.score)
  return isSame ? own : { ...own, complete: false, scoreMin: least, scoreMax: most }
}

/**
 * The score of a report: reduced by the listings of the mail hosts' addresses by the tier of the list, by at most 40
 * points, not below 0.
 */
export function reportScore(value: number, listings: readonly Tier[]): number {
  const lost = listings.reduce((sum, tier) => sum + WEIGHTS.listing[tier], 0)
  return Math.max(0, value - Math.min(WEIGHTS.listing.at_most, lost))
}

type Part = { readonly component: Component; readonly losses: readonly Loss[] }
type Reading = Pick<Loss, 'units' | 'leastUnits' | 'mostUnits'>
/** The points of all components that apply. */
type Scale = { readonly of: number }

const scaleOf = (inputs: ScoreInputs): Scale => ({
  of: componentsOf(inputs).reduce((sum, component) => sum + COMPONENTS[component], 0),
})

const capOf = ({ spf }: ScoreInputs): number =>
  spf.state === 'record' && spf.all === '+' ? WEIGHTS.spf.cap_of_everybody : 100

/** The components that the domain's role needs. */
const componentsOf = ({ role }: ScoreInputs): Component[] =>
  ALL_COMPONENTS.filter((component) => applies(component, { role }))

const partsOf = (inputs: ScoreInputs): Part[] =>
  componentsOf(inputs).map((component) => ({
    component,
    losses: notBelowZero(lossesOf(inputs, component), COMPONENTS[component]),
  }))

function lossesOf(inputs: ScoreInputs, component: Component): readonly Loss[] {
  switch (component) {
    case 'spf':
      return spfLosses(inputs.spf, inputs.dmarc, inputs.role)
    case 'dkim':
      return dkimLosses(inputs.dkim)
    case 'dmarc':
      return dmarcLosses(inputs.dmarc)
    case 'mx':
      return mxLosses(inputs.mx)
    case 'ptr':
      return ptrLosses(inputs.ptr)
  }
}

/** A domain that does not exist has nothing, whatever its parent publishes for it. */
const NO_DOMAIN: Score = {
  score: 0,
  scoreVersion: SCORE_VERSION,
  complete: true,
  breakdown: [{ component: 'total', finding: 'mx.no_domain', kind: 'deduction', points: 100 }],
}

/** None of the components applies to a reverse zone. */
const NOTHING_TO_LOSE: Score = { score: 100, scoreVersion: SCORE_VERSION, complete: true, breakdown: [] }

/** Limits the losses, each case separately, so that no component goes below 0. */
function notBelowZero(losses: readonly Loss[], worth: number): Loss[] {
  const left = { units: worth * UNIT, leastUnits: worth * UNIT, mostUnits: worth * UNIT }
  return losses.map((loss) => {
    const cut = { ...loss }
    for (const reading of ['units', 'leastUnits', 'mostUnits'] as const) {
      cut[reading] = Math.min(loss[reading], left[reading])
      left[reading] -= cut[reading]
    }
    return cut
  })
}

const mayBeEverybody = ({ spf }: ScoreInputs): boolean =>
  spf.state === 'unknown' || (spf.state === 'permerror' && spf.isOpen === true)

const lostOf = (parts: readonly Part[], pick: keyof Reading): number =>
  parts.reduce((sum, { losses }) => sum + losses.reduce((part, loss) => part + loss[pick], 0), 0)

/** Half up, in whole numbers: (of − lost) / of × 100. */
function rounded(lostUnits: number, scale: Scale): number {
  const numerator = (scale.of * UNIT - lostUnits) * 100
  const denominator = scale.of * UNIT
  return Math.floor((2 * numerator + denominator) / (2 * denominator))
}

const capped = (value: number, cap: number): number => Math.min(value, cap)

/**
 * The rows in halves of a point, cut so that the sum up to any row is the nearest half of the loss up to there; the
 * rounding row has the rest.
 */
function rowsOf(parts: readonly Part[], scale: Scale, cap: number, value: number, spf: SpfScoreInput): ScoreRow[] {
  const rows: ScoreRow[] = []
  let lostUnits = 0
  let told = 0
  const tell = (row: Omit<ScoreRow, 'points'>, upTo: number): void => {
    if (upTo !== told) rows.push({ ...row, points: (upTo - told) / 2 })
    told = upTo
  }
  for (const { component, losses } of parts) {
    for (const { finding, kind, units } of losses) tell({ component, finding, kind }, halves((lostUnits += units)))
  }
  const scaledUnits = (lostUnits * 100) / scale.of
  tell({ component: 'total', finding: null, kind: 'rescale' }, halves(scaledUnits))
  const capUnits = Math.max(scaledUnits, (100 - cap) * UNIT)
  const capFinding = spf.state === 'record' ? (spf.allFinding ?? null) : null
  tell({ component: 'total', finding: capFinding, kind: 'cap' }, halves(capUnits))
  tell({ component: 'total', finding: null, kind: 'rounding' }, (100 - value) * 2)
  return rows
}

const halves = (units: number): number => Math.round((units * 2) / UNIT)

/** A score, and the scores of the worst and the best case; absent if it is complete. */
type GradedScore = {
  readonly score: number
  readonly least?: number | undefined
  readonly most?: number | undefined
}

/**
 * The grade of a score: what its points earn ({@link earnedGrade}). With an open finding of high or critical severity
 * at most B, with one of medium severity at most A, whether or not the finding costs points. Null, "not known": the
 * worst and the best case are more than 50 points apart.
 */
export function gradeOf(
  { score, least = score, most = score }: GradedScore,
  findings: readonly { readonly severity: Severity }[],
): Grade | null {
  if (most - least > WEIGHTS.graded_within_points) return null
  const best: Readonly<Partial<Record<Severity, Grade>>> = WEIGHTS.best_grade
  return worstGrade(earnedGrade(score), ...findings.flatMap(({ severity }) => best[severity] ?? []))
}

/**
 * The finding that keeps a grade below what its points earn: the most severe, of equal ones the one that costs most;
 * null where the points decide.
 */
export function gradeBecause<F extends { readonly id: string; readonly severity: Severity }>(
  { score, grade }: { readonly score: number; readonly grade: Grade | null },
  findings: readonly F[],
  breakdown: readonly ScoreRow[],
): { readonly finding: string; readonly severity: Severity } | null {
  if (grade === null || grade === earnedGrade(score)) return null
  const costOf = (id: string): number =>
    breakdown.reduce((sum, { finding, points: lost }) => sum + (finding === id ? lost : 0), 0)
  const order: readonly Severity[] = ['critical', 'high', 'medium']
  const [worst] = findings
    .filter(({ severity }) => order.includes(severity))
    .toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity) || costOf(b.id) - costOf(a.id))
  return worst ? { finding: worst.id, severity: worst.severity } : null
}
