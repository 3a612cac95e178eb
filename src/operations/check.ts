import { type CheckAnswer, checkAnswer } from '../answers/check.ts'
import type { CheckInput } from '../checks/check.ts'
import type { Domain } from '../names/domain.ts'
import { composeCheck } from '../report/compose.ts'
import type { Ctx } from '../world.ts'
import { repeatable } from './context.ts'
import type { Deps } from './deps.ts'
import { formatParam } from './documents.ts'
import { checkExample } from './examples.ts'
import { judgeDomain } from './judge-domain.ts'
import { type Call, defineOperation, ok } from './operation.ts'
import { domainParam, flagParam, optional, positional, textParam, timeoutParam } from './params.ts'
import { saveParams } from './saving.ts'
import { checkScore, checkVerdict } from './score-range.ts'
import { MAX_SELECTORS, parseSelectors } from './selector.ts'
import { vantageParam } from './vantage-param.ts'

export const selectorParam = optional(
  textParam<readonly string[]>('invalid_parameter', parseSelectors, {
    description: 'DKIM selectors to query first: a,b',
    bounds: { max: String(MAX_SELECTORS) },
    unit: 'items',
    example: 'google,s1',
  }),
)

const DEADLINE_MS = 20_000

/** The check of a domain, with a score. */
export const check = defineOperation({
  name: 'check',
  method: 'GET',
  path: '/v1/check',
  summary: 'Check the mail setup of a domain and score it',
  scope: 'read',
  live: true,
  params: {
    domain: positional(domainParam('domain to check')),
    selector: selectorParam,
    starttls: flagParam('connect to the mail hosts and check their TLS'),
    timeout: timeoutParam('time limit of the check', DEADLINE_MS),
    format: formatParam,
    vantage: optional(vantageParam),
    ...saveParams,
  },
  answer: checkAnswer,
  example: checkExample,
  deadlineMs: DEADLINE_MS,
  uses: ['heloName', 'smtpPort'],
  run: async (ctx, deps, { domain, selector, starttls }) =>
    ok(await checkDomain(ctx, deps, domain, { selectors: selector ?? [], starttls })),
  vantage: {
    node: ({ vantage }) => vantage,
    needs: ['check'],
    question: ({ domain, selector, starttls, timeout }) => ({
      query: {
        domain,
        selector: selector?.join(),
        starttls: starttls ? 'true' : undefined,
        timeout: timeout === undefined ? undefined : `${timeout}ms`,
      },
      timeoutMs: timeout ?? DEADLINE_MS,
    }),
    subject: ({ domain }) => domain,
    verdict: ({ status }) => status,
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  saves: {
    kind: 'check',
    about: ({ domain, status, score }) => ({ subject: domain, names: { domain }, status, score }),
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  verdict: checkVerdict,
  score: checkScore,
  document: async (answer, version) =>
    (await import('../documents/check/check-document.ts')).checkDocument(answer, version),
})

/** Runs all checks on a domain, computes the score and presents the result. Never rejects because of a remote server. */
export async function checkDomain(
  ctx: Ctx & Pick<Call, 'onPart'>,
  deps: Pick<Deps, 'heloName' | 'smtpPort'>,
  domain: Domain,
  wanted: Pick<CheckInput, 'selectors' | 'starttls'>,
): Promise<CheckAnswer> {
  const helo: CheckInput['helo'] = (source) => deps.heloName(source, ctx)
  const judged = await judgeDomain(repeatable(ctx), domain, { ...wanted, helo, smtpPort: deps.smtpPort }, ctx.onPart)
  const answer = composeCheck(domain, judged, judged.score)
  return { ...answer, observed_at: new Date(ctx.now()).toISOString() }
}
