import { type PlanAnswer, planAnswer } from '../answers/plan.ts'
import type { CheckInput } from '../checks/check.ts'
import { planDocument } from '../documents/plan.ts'
import { unicodeOf } from '../names/domain.ts'
import { formatPlan, isPlanFormat, PLAN_FORMATS } from '../plan/formats/formats.ts'
import { TERRAFORM_PROVIDERS, type TerraformProvider } from '../plan/formats/terraform.ts'
import { selectorParam } from './check.ts'
import { repeatable } from './context.ts'
import type { Deps } from './deps.ts'
import { planExample } from './examples.ts'
import { type Call, defineOperation, ok, type Reply } from './operation.ts'
import { choiceParam, domainParam, flagParam, positional, timeoutParam } from './params.ts'
import { planSteps } from './plan-steps.ts'
import { joinedReports } from './reports/joined.ts'

export const PLAN_DEADLINE_MS = 20_000

/** The formats of a plan: documents, and files for tools that publish records. */
export const planFormatParam = choiceParam(['json', 'html', 'markdown', ...PLAN_FORMATS], 'json', {
  description: 'format of the answer: a document, or a file for a tool that publishes records',
})
export const terraformParam = choiceParam(TERRAFORM_PROVIDERS, 'cloudflare', {
  description: 'provider of the Terraform resources',
})

/** What to publish, in which order, and the score that each step leads to. */
export const plan = defineOperation({
  name: 'plan',
  method: 'GET',
  path: '/v1/plan',
  summary: 'Show what to publish, in which order, and the score after each step',
  scope: 'read',
  params: {
    domain: positional(domainParam('domain to plan for')),
    selector: selectorParam,
    starttls: flagParam('connect to the mail hosts and check their TLS'),
    timeout: timeoutParam('time limit of the plan', PLAN_DEADLINE_MS),
    format: planFormatParam,
    provider: terraformParam,
  },
  answer: planAnswer,
  example: planExample,
  deadlineMs: PLAN_DEADLINE_MS,
  uses: ['heloName', 'smtpPort', 'reportsHere'],
  streams: PLAN_FORMATS,
  document: planDocument,
  run: async (ctx, deps, { domain, selector, starttls, format, provider }) => {
    const joined = await joinedReports(ctx, deps, domain, {})
    const input = { ...inputOf(ctx, deps, selector), starttls, ...joined?.input }
    const unicode = unicodeOf(domain)
    const answer: PlanAnswer = {
      domain,
      ...(await planSteps(repeatable(ctx), domain, input)),
      ...(unicode === domain ? {} : { unicode_domain: unicode }),
      observed_at: new Date(ctx.now()).toISOString(),
    }
    return planReply(answer, format, provider)
  },
})

/** What the checks of a plan need. */
export const inputOf = (
  ctx: Call,
  deps: Pick<Deps, 'heloName' | 'smtpPort'>,
  selectors: readonly string[] = [],
): CheckInput => ({ selectors, helo: (source) => deps.heloName(source, ctx), smtpPort: deps.smtpPort })

/** The plan as JSON, or as the file of a tool. */
export function planReply(answer: PlanAnswer, format: string, provider: TerraformProvider): Reply<PlanAnswer> {
  if (!isPlanFormat(format)) return ok(answer)
  const { contentType, text } = formatPlan(answer, format, provider)
  return { status: 200, stream: { contentType, text: once(text) } }
}

async function* once(text: string): AsyncIterable<string> {
  yield text
}
