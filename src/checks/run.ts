import type { Domain } from '../names/domain.ts'
import { DnsError } from '../net/dns/resolver.ts'
import { FetchError } from '../net/fetch.ts'
import { DialError } from '../net/smtp/dial.ts'
import type { Ctx } from '../world.ts'
import type { Check, CheckInput, Outcome } from './check.ts'
import * as registry from './registry.ts'

type Registry = typeof registry
export type CheckKey = keyof Registry
type FactsOf<C> = C extends Check<infer Facts> ? Facts : never
/** What every registered check found. */
export type Outcomes = { readonly [K in CheckKey]: Outcome<FactsOf<Registry[K]>> }

/** Runs every check at once. A check whose question stayed unanswered is `unknown` with the reason; the others stand. */
export async function runChecks(ctx: Ctx, domain: Domain, input: CheckInput = {}): Promise<Outcomes> {
  const entries = Object.entries(registry) as [CheckKey, Check<unknown>][]
  const outcomes = await Promise.all(
    entries.map(async ([key, check]) => [key, await runCheck(check, ctx, domain, input)] as const),
  )
  return Object.fromEntries(outcomes) as Outcomes
}

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
