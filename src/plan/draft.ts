import type { PlanStep } from '../answers/plan.ts'
import type { OverlayChange } from '../net/dns/overlay.ts'
import { layOver } from './records.ts'
import type { Change, Snapshot } from './snapshot.ts'

/** A step before its records are presented. */
export type Draft = Pick<PlanStep, 'title' | 'by' | 'instructions' | 'file' | 'wait' | 'optional' | 'assumed'> & {
  readonly findings: readonly string[]
  /** Records of this domain, or to be published by others. */
  readonly changes: readonly OverlayChange[]
  /** What is laid over in addition: facts that no record of the domain makes true. */
  readonly facts?: Change
  readonly why?: string
  readonly before?: readonly string[]
}
/** A step with the domain after it. */
export type Done = Draft & { readonly after: Snapshot }
export const mergedStep = (step: Draft | undefined, other: Draft): Draft =>
  step
    ? {
        ...step,
        findings: [...new Set([...step.findings, ...other.findings])],
        changes: layOver(step.changes, other.changes),
        before: [...new Set([...(step.before ?? []), ...(other.before ?? [])])],
      }
    : other

export const withChanges = (laid: Change, changes: readonly OverlayChange[]): Change => ({
  ...laid,
  records: layOver(laid.records, changes),
})
export const withDraft = (laid: Change, { changes, facts }: Pick<Draft, 'changes' | 'facts'>): Change => ({
  ...withChanges(laid, [...changes, ...(facts?.records ?? [])]),
  ...(facts?.policy && { policy: facts.policy }),
})
export const changesOf = ({ changes, facts }: Pick<Draft, 'changes' | 'facts'>): readonly OverlayChange[] => [
  ...changes,
  ...(facts?.records ?? []),
]
