import type { CheckInput } from '../checks/check.ts'
import {
  type CheckPart,
  type FactSets,
  type JudgedChecks,
  judgeFacts,
  lookupFacts,
  rememberedJudgements,
} from '../checks/run.ts'
import { lookupMailHosts } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import { settled } from '../net/dns/resolver.ts'
import { scoreOf } from '../report/inputs.ts'
import type { Score } from '../report/score.ts'
import type { Ctx } from '../world.ts'
import type { Repeatable } from './context.ts'
import { withTriedFixes } from './tried-fixes.ts'

/** The judgement of all checks about a domain. */
export type Judged = JudgedChecks & { readonly facts: FactSets; readonly score: Score }

/**
 * Looks up the facts of all checks (`onPart` is called as each ends), judges them once with the context of all, tries every fix before it is offered, and
 * computes the score. Never rejects because of a remote server.
 */
export async function judgeDomain(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  input: CheckInput,
  onPart?: (part: CheckPart) => void,
): Promise<Judged> {
  const facts = await firstFacts(ctx, domain, input, onPart)
  const judgements = rememberedJudgements()
  const judged = judgeFacts(facts, judgements)
  const score = scoreOf(judged)
  const outcomes = await withTriedFixes(ctx, { domain, input, facts, judged, score, judgements })
  return { ...judged, facts, outcomes, score }
}

/** The facts of all checks; their queries, and those of whatever follows in this context, are limited by the number of mail hosts. */
export function firstFacts(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  input: CheckInput,
  onPart?: (part: CheckPart) => void,
): Promise<FactSets> {
  ctx.permit(mailAddresses(ctx, domain))
  return lookupFacts(ctx.anew(), domain, input, onPart)
}

/** The number of addresses of the mail hosts, by queries that the MX check shares; none if they have no answer. */
async function mailAddresses(ctx: Ctx, domain: Domain): Promise<number> {
  const mail = await settled(lookupMailHosts(ctx, domain))
  return mail instanceof Error ? 0 : new Set(mail.hosts.flatMap(({ addresses }) => addresses)).size
}
