import type { FindingAnswer } from '../answers/finding.ts'
import type { PlanRecord, PlanStep } from '../answers/plan.ts'
import type { Finding } from '../checks/check.ts'
import { presentFinding, severityOrder } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import { CHECK_KEYS } from '../checks/run.ts'
import { textKind } from '../net/dns/text-kind.ts'
import type { Snapshot } from './snapshot.ts'
import type { Plan } from './steps.ts'
import { onlyWithoutMail } from './words.ts'

/**
 * The findings of a domain, the most severe first, each with what its plan does about it: the steps that resolve it, the
 * record of the first of them that mends it, the record that a later one puts in its place, and the score that the first
 * one gains. This is the only place that gives a finding its record. Without a plan no finding has one.
 */
export function presentWithPlan(
  { outcomes, score, context }: Snapshot,
  plan?: Pick<Plan, 'steps' | 'left'>,
): FindingAnswer[] {
  const told = new Map(plan?.left.map(({ finding, why }) => [finding, why]))
  const steps = plan?.steps ?? []
  return CHECK_KEYS.flatMap((key) =>
    (outcomes[key]?.findings ?? []).map((finding): FindingAnswer => {
      const { fix: _proposed, ...bare } = finding
      const advice = adviceFor(finding, key, steps, { start: score.score, isSilent: context.silent })
      const { fix, steps: [first] = [] } = advice
      const why = first === undefined ? told.get(finding.id) : undefined
      const words = { ...bare, ...(fix && { fix }), ...(why !== undefined && { repair: why }) }
      const shown = presentFinding(registry[key].table, words)
      const isSettled =
        first !== undefined && !fix && (finding.id === 'dmarc.no_record' || steps[first - 1]!.records.some(silences))
      return { ...shown, ...(isSettled && { repair: onlyWithoutMail(first, shown.repair) }), ...advice }
    }),
  ).sort(severityOrder)
}

/** Whether a record declares that nothing is sent, or nothing accepted. */
const silences = ({ type, value }: Pick<PlanRecord, 'type' | 'value'>): boolean =>
  type === 'TXT' ? value === 'v=spf1 -all' : type === 'MX' && /^0 \.?$/.test(value)

type Advice = Pick<FindingAnswer, 'steps' | 'fix' | 'next' | 'gain'>

function adviceFor(
  { id, fix: proposed }: Finding,
  key: string,
  steps: readonly PlanStep[],
  { start, isSilent }: { readonly start: number; readonly isSilent: boolean },
): Advice {
  const numbers = steps.flatMap(({ findings }, i) => (findings.includes(id) ? [i + 1] : []))
  const [first] = numbers
  if (first === undefined) return {}
  const step = steps[first - 1]!
  const mends = mending(step.records, key, proposed)
  // Alone, before the other records say that the domain has no mail, it would cost mail that is sent.
  const isTooSoon = id === 'dmarc.no_record' && !isSilent && mends?.value.startsWith('v=DMARC1; p=reject')
  const record = isTooSoon ? undefined : mends
  const gain = step.score - (steps[first - 2]?.score ?? start)
  const later =
    record &&
    steps
      .slice(first)
      .flatMap(({ records }) => records)
      .find((one) => isOfSet(one, record))
  return { steps: numbers, ...(record && { fix: shown(record) }), ...(later && { next: shown(later) }), gain }
}

/** The record of a step that mends a finding: at the name that its check proposes, or the first of its check's kind. */
function mending(records: readonly PlanRecord[], key: string, proposed: Finding['fix']): PlanRecord | undefined {
  const isOfCheck = ({ name, type, value }: PlanRecord): boolean =>
    type === 'TXT' ? textKind(name, value) === key.replaceAll('_', '-') : type.toLowerCase() === key
  const candidates = [
    records.filter(({ name, type }) => name === proposed?.name && type === proposed.rtype),
    records.filter(isOfCheck),
    records.length === 1 && !records.some(silences) ? records : [],
  ].find((some) => some.length > 0)
  // Of one set the record that stands there afterwards, a new one first.
  const rank = ({ action }: PlanRecord): number => (action === 'remove' ? 2 : action === 'keep' ? 1 : 0)
  return candidates?.toSorted((a, b) => rank(a) - rank(b))[0]
}

const isOfSet = (one: PlanRecord, other: PlanRecord): boolean =>
  one.name === other.name &&
  one.type === other.type &&
  one.value !== other.value &&
  (one.type !== 'TXT' || textKind(one.name, one.value) === textKind(other.name, other.value))

const shown = ({ action, name, type, value, was }: PlanRecord): NonNullable<FindingAnswer['fix']> => ({
  ...{ type: 'dns' as const, action, name, rtype: type, value },
  ...(was[0] !== undefined && was[0] !== value && { was: was[0] }),
})
