import type { Domain } from '../names/domain.ts'
import { DnsError } from '../net/dns/resolver.ts'
import { FetchError } from '../net/fetch.ts'
import { DialError } from '../net/smtp/dial.ts'
import type { Ctx } from '../world.ts'
import type { Check, CheckInput, Outcome } from './check.ts'

/** Runs one check; the only place where an unanswered question becomes data. Any other error is a bug and goes up. */
export async function runCheck<Facts>(
  check: Check<Facts>,
  ctx: Ctx,
  domain: Domain,
  input: CheckInput = {},
): Promise<Outcome<Facts>> {
  try {
    return await check.run(ctx, domain, input)
  } catch (error) {
    if (error instanceof DnsError || error instanceof DialError || error instanceof FetchError) {
      return { status: 'unknown', reason: error.message, findings: [] }
    }
    throw error
  }
}
