import type { Check, CheckInput, Outcome } from '../../src/checks/check.ts'
import { type DomainContext, UNKNOWN_CONTEXT } from '../../src/checks/context.ts'
import { judgeFacts, lookupFacts, type Outcomes } from '../../src/checks/run.ts'
import type { Domain } from '../../src/names/domain.ts'
import { DnsError } from '../../src/net/dns/resolver.ts'
import type { Ctx } from '../../src/world.ts'

/** Looks up and judges with every check. */
export const runChecks = async (ctx: Ctx, domain: Domain, input: CheckInput = {}): Promise<Outcomes> =>
  judgeFacts(await lookupFacts(ctx, domain, input)).outcomes

/** Runs one check alone, without knowledge of the others. */
export async function runCheck<Facts>(
  check: Check<Facts>,
  ctx: Ctx,
  domain: Domain,
  input: CheckInput = {},
  context: DomainContext = UNKNOWN_CONTEXT,
): Promise<Outcome<Facts>> {
  try {
    return check.judge(await check.lookup(ctx, domain, input), context)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return { status: 'unknown', reason: error.problem, findings: [] }
  }
}
