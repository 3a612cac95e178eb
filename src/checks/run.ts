import type { Domain } from '../names/domain.ts'
import { DnsError } from '../net/dns/resolver.ts'
import { FetchError } from '../net/fetch.ts'
import { DialError } from '../net/smtp/dial.ts'
import type { Ctx } from '../world.ts'
import type { Check, CheckInput, OptionalCheck, Outcome } from './check.ts'
import * as registry from './registry.ts'

type Registry = typeof registry
export type CheckKey = keyof Registry
type FactsOf<C> = C extends Check<infer Facts> ? Facts : never
/** The checks that run only when they are asked for. */
export type OptionalKey = {
  [K in CheckKey]: Registry[K] extends { readonly when: unknown } ? K : never
}[CheckKey]
/** A value for each registered check; an optional one may be left out. */
export type ByCheck<Values extends { readonly [K in CheckKey]: unknown }> = {
  readonly [K in Exclude<CheckKey, OptionalKey>]: Values[K]
} & { readonly [K in OptionalKey]?: Values[K] }
/** What every registered check found. */
export type Outcomes = ByCheck<{ readonly [K in CheckKey]: Outcome<FactsOf<Registry[K]>> }>

/** Runs every check at once, the optional ones where they are asked for. A check whose question stayed unanswered is `unknown` with the reason; the others stand. */
export async function runChecks(ctx: Ctx, domain: Domain, input: CheckInput = {}): Promise<Outcomes> {
  const all = Object.entries(registry) as [CheckKey, Check<unknown> | OptionalCheck<unknown>][]
  const entries = all.filter(([, check]) => !('when' in check) || check.when(input))
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
