import type { Finding, FindingTable, Outcome } from './check.ts'
import type { DomainContext } from './context.ts'
import { roleProblem } from './problems.ts'

/** The outcome of a check that the domain does not need, by its role or by a null MX (RFC 7505 §3). */
export const notApplicable = <Facts>(
  facts: Facts,
  { role, because }: Pick<DomainContext, 'role' | 'because'>,
  findings: readonly Finding[] = [],
): Outcome<Facts> => ({
  status: 'not_applicable',
  facts,
  findings,
  reason: role === 'sends_and_accepts_mail' ? NULL_MX : roleProblem('role', { role, why: because }),
})

const NULL_MX = roleProblem('null_mx')

/**
 * Why the `valid` of a check is false: why it is unknown or does not apply, otherwise the title of its first finding,
 * which is the decisive one.
 */
export function reasonOf<Facts>(table: FindingTable, outcome: Outcome<Facts>): string | undefined {
  if (outcome.reason !== undefined) return outcome.reason.text
  const [first] = outcome.findings
  return first && table[first.id]?.title
}
