import type { Expect } from './cases.ts'
import { broken, type ShownAnswer } from './rules.ts'

/** A finding that is right beside what a case of domains.json expects, and why. */
export type Deviation = { readonly finding: string; readonly why: string }

const UNREGISTERED = {
  finding: 'spf.include_takeover',
  why: 'an include whose organizational domain does not exist can be registered by anybody (docs/checks/spf.md)',
}

/** By the id of the case. A row that its case does not need fails that case. */
export const DEVIATIONS: Readonly<Record<string, Deviation>> = {
  'spf-include-none': UNREGISTERED,
  'spf-redirect-none': UNREGISTERED,
  'spf-include-nxdomain': UNREGISTERED,
}

/**
 * {@link broken}, with the finding of the case's deviation allowed beside its `alarms`; a deviation that changes
 * nothing is a fault.
 */
export function brokenBut(deviation: Deviation | undefined, expect: Expect, answer: ShownAnswer): readonly string[] {
  const faults = broken(expect, answer)
  if (deviation === undefined) return faults
  const allowed = broken({ ...expect, alarms: [...(expect.alarms ?? []), deviation.finding] }, answer)
  return allowed.length < faults.length ? allowed : [...faults, `the deviation ${deviation.finding} is not needed`]
}
