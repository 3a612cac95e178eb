import type { PlanStep } from '../answers/plan.ts'
import type { OverlayChange } from '../net/dns/overlay.ts'
import type { Done } from './draft.ts'
import { layOver, recordsOf } from './records.ts'
import { publishedAt, type Snapshot, type Subject } from './snapshot.ts'
import { beforeRecords } from './words.ts'

/**
 * Steps with their records, each against what stands before it, and what must be known first; `takesMail`: whether an MX
 * host of today can take mail.
 */
export async function presentSteps(
  { subject, start }: { readonly subject: Subject; readonly start: Snapshot },
  steps: readonly Done[],
  takesMail: (host: string) => boolean,
): Promise<PlanStep[]> {
  const shown: PlanStep[] = []
  let before: readonly OverlayChange[] = []
  for (const step of steps) {
    const { after, changes, facts: _facts, findings, before: asked = [], why = '', ...rest } = step
    const records = await recordsOf((name, type) => publishedAt(subject, start, name, type), before, changes)
    before = layOver(before, changes)
    shown.push({
      ...rest,
      findings: [...findings],
      records,
      why,
      before: [...new Set([...asked, ...beforeRecords(subject.domain, records, takesMail, findings)])],
      ...gradeIn(after),
    })
  }
  return shown
}

/** Score and grade of a domain, and what keeps the grade below its points. */
export const gradeIn = ({ score: { score, grade, because } }: Snapshot) => ({ score, grade, grade_because: because })
