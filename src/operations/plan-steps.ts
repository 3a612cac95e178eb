import type { CheckInput } from '../checks/check.ts'
import type { FactSets } from '../checks/run.ts'
import type { Domain } from '../names/domain.ts'
import { type Draft, makePlan, type Plan } from '../plan/plan.ts'
import type { Ctx } from '../world.ts'
import type { Repeatable } from './context.ts'
import { firstLook, looksOf } from './plan-looks.ts'

/**
 * The plan of a domain: `known` are the facts of a check in the same context, `seeds` steps that come first. Never rejects because of a remote server.
 */
export async function planSteps(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  input: CheckInput,
  known?: FactSets,
  seeds: readonly Draft[] = [],
): Promise<Plan> {
  const start = await firstLook(ctx, domain, input, known)
  const seen = await input.seen?.()
  return makePlan(start, { domain, nowMs: ctx.now(), ...(seen && { seen }) }, looksOf(ctx, domain, input, start), seeds)
}
