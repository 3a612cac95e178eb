import type { FindingTable, Outcome } from './check.ts'

/** Why the `valid` of a check is false: why it is unknown or does not apply, otherwise the title of its first finding, which is the decisive one. */
export function reasonOf<Facts>(table: FindingTable, outcome: Outcome<Facts>): string | undefined {
  if (outcome.reason !== undefined) return outcome.reason.text
  const [first] = outcome.findings
  return first && table[first.id]?.title
}
