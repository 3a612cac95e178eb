import type { CheckInput } from '../checks/check.ts'
import { type Outcomes, runChecks } from '../checks/run.ts'
import type { Domain } from '../names/domain.ts'
import { scoreInputs } from '../report/inputs.ts'
import { judgedWithSpf } from '../report/non-mail.ts'
import { type Score, score } from '../report/score.ts'
import { judgedWithCertificates } from '../report/with-tls.ts'
import type { Ctx } from '../world.ts'
import type { Repeatable } from './context.ts'
import { withTriedFixes } from './tried-fixes.ts'

/** A domain as all checks together judge it. */
export type Judged = { readonly outcomes: Outcomes; readonly score: Score }

/** Runs all checks, judges them together, tries every fix before it is offered, and scores. Never rejects for what a remote server does. */
export async function judgeDomain(ctx: Repeatable<Ctx>, domain: Domain, input: CheckInput): Promise<Judged> {
  const outcomes = together(await runChecks(ctx.anew(), domain, input))
  const offered = await withTriedFixes(ctx, { domain, input, outcomes, together })
  return { outcomes: offered, score: score(scoreInputs(offered)) }
}

/** What one check says may depend on what another saw. */
const together = (outcomes: Outcomes): Outcomes => judgedWithCertificates(judgedWithSpf(outcomes))
