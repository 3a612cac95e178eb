import { z } from 'zod'
import { type CheckAnswer, checkAnswer } from '../answers/check.ts'
import type { JsonObject } from '../base/json.ts'
import type { CheckInput } from '../checks/check.ts'
import type { Domain } from '../names/domain.ts'
import { composeCheck } from '../report/compose.ts'
import type { Ctx } from '../world.ts'
import { repeatable } from './context.ts'
import type { Deps } from './deps.ts'
import { formatParam, reportDocuments } from './documents.ts'
import { checkExample } from './examples.ts'
import { judgeDomain } from './judge-domain.ts'
import { defineOperation } from './operation.ts'
import { domainParam, durationParam, flagParam, TIMEOUT, textParam } from './params.ts'
import { parseSelectors } from './selector.ts'
import { fromVantages, vantageParam } from './vantage.ts'

export const selectorParam = textParam<readonly string[]>('invalid_parameter', parseSelectors, {
  description: 'DKIM selectors to try first, by comma (at most 10)',
  example: 'google,s1',
})

const DEADLINE_MS = 20_000

export const check = defineOperation({
  name: 'check',
  method: 'GET',
  path: '/v1/check',
  summary: 'How the mail of a domain stands in the DNS, with a score whose every point is explained',
  scope: 'read',
  positional: ['domain'],
  input: z.object({
    domain: domainParam('domain to check'),
    selector: selectorParam.optional(),
    starttls: flagParam('connect to the mail hosts and look at their TLS'),
    timeout: durationParam('time for the whole check; default 20s', TIMEOUT).optional(),
    format: formatParam,
    vantage: vantageParam.optional(),
  }),
  output: checkAnswer,
  example: checkExample,
  deadlineMs: DEADLINE_MS,
  documents: reportDocuments,
  run: (ctx, deps, { domain, selector, starttls, timeout, vantage }) => {
    const question = {
      path: '/v1/check',
      query: {
        domain,
        selector: selector?.join(),
        starttls: starttls ? 'true' : undefined,
        timeout: timeout === undefined ? undefined : `${timeout}ms`,
      },
      output: checkAnswer,
      subject: 'domain',
      needs: ['check'],
      verdict: (answer: JsonObject) => String(answer.status),
      timeoutMs: timeout ?? DEADLINE_MS,
    } as const
    return fromVantages(ctx, deps, vantage, question, () =>
      checkDomain(ctx, deps, domain, { selectors: selector ?? [], starttls }),
    )
  },
})

/** Runs all checks on a domain, scores and presents them. Never rejects for what a remote server does. */
export async function checkDomain(
  ctx: Ctx,
  deps: Pick<Deps, 'heloName' | 'smtpPort'>,
  domain: Domain,
  wanted: Pick<CheckInput, 'selectors' | 'starttls'>,
): Promise<CheckAnswer> {
  const helo: CheckInput['helo'] = (source) => deps.heloName(source, ctx)
  const judged = await judgeDomain(repeatable(ctx), domain, { ...wanted, helo, smtpPort: deps.smtpPort })
  const answer = composeCheck(domain, judged, judged.score)
  return { ...answer, observed_at: new Date(ctx.now()).toISOString() }
}
