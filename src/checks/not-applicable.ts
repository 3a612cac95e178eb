import type { Finding, Outcome } from './check.ts'
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
