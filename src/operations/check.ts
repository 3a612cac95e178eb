import { type CheckAnswer, checkAnswer } from '../answers/check.ts'
import type { ReportAnswer } from '../answers/report.ts'
import type { CheckInput } from '../checks/check.ts'
import { repeatable } from '../checks/repeatable.ts'
import { briefDocument, checkDocument } from '../documents/check/check-document.ts'
import type { Domain } from '../names/domain.ts'
import { planOf } from '../plan/plan.ts'
import { presentWithPlan } from '../plan/present.ts'
import { lookUp, subjectOf } from '../plan/snapshot.ts'
import { isBad, withAccepted } from '../score/accepted.ts'
import { composeCheck } from '../score/compose.ts'
import type { Ctx } from '../world.ts'
import { acceptancesFor, acceptParam } from './accept.ts'
import type { Deps } from './deps.ts'
import { formatParam } from './documents.ts'
import { checkExample } from './examples.ts'
import { type Call, defineOperation, ok, type ScoreRange, type Verdict } from './operation.ts'
import {
  DEADLINE_MS,
  domainParam,
  flagParam,
  optional,
  positional,
  selectorsParam,
  timeoutParam,
  vantageParam,
} from './params.ts'
import { domainProfileParam, profileOf, profileVerdict, withProfile } from './profile.ts'
import { joinedReports } from './reports/joined.ts'
import { aboutDomain, saveParams } from './saving.ts'

export const planParam = flagParam('the plan of what to publish', 'question', true)

/** The score of a check; if it is incomplete, from its worst to its best case. */
export const checkScore = ({ score, score_min = score, score_max = score }: CheckAnswer): ScoreRange => ({
  score,
  least: score_min,
  most: score_max,
})

/**
 * The score of a report: that of the check minus the deductions for listings, not below 0. Blacklists without an answer
 * cost nothing.
 */
export function reportScore(answer: ReportAnswer): ScoreRange {
  const { score, least, most } = checkScore(answer)
  const less = (value: number): number => Math.max(0, value - (score - answer.report_score))
  return { score: answer.report_score, least: less(least), most: less(most) }
}

/**
 * What a profile decides, if one was asked for. Else `bad` if a check fails beside what is accepted; `unclear` if more than half of the points could not be determined, so that there is no grade.
 */
export function checkVerdict(answer: CheckAnswer): Verdict {
  const judged = profileVerdict(answer.profile)
  if (judged) return judged
  if (answer.grade === null) return 'unclear'
  return isBad(answer) ? 'bad' : 'good'
}

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
    selector: selectorsParam,
    starttls: flagParam('connect to the mail hosts and check their TLS'),
    plan: planParam,
    profile: domainProfileParam,
    accept: acceptParam,
    timeout: timeoutParam('time limit of the check'),
    format: formatParam,
    vantage: optional(vantageParam),
    ...saveParams,
  },
  answer: checkAnswer,
  example: checkExample,
  uses: ['heloName', 'smtpPort', 'reportsHere', 'verifiedSelectors', 'acceptedHere', 'ownProfiles'],
  run: async (ctx, deps, { domain, selector, starttls, plan, profile, accept, save, vantage }) => {
    const rules = profileOf(profile, deps)
    const accepted = acceptancesFor(ctx, deps, domain, accept)
    accepted.catch(() => {}) // it is awaited below
    const joined = await joinedReports(ctx, deps, domain, { save, vantage })
    const learned = [...(joined?.input.learned ?? []), ...deps.verifiedSelectors.of(domain)]
    const wanted = { selectors: selector ?? [], starttls, plan, ...joined?.input, learned }
    const answer = withAccepted(await checkDomain(ctx, deps, domain, wanted), await accepted)
    return ok({ ...withProfile(answer, rules), ...(joined && { reports: await joined.answer() }) })
  },
  vantage: {
    node: ({ vantage }) => vantage,
    needs: ['check'],
    question: ({ domain, selector, starttls, timeout }) => ({
      query: {
        domain,
        selector: selector?.join(),
        starttls: starttls ? 'true' : undefined,
        plan: 'false',
        timeout: timeout === undefined ? undefined : `${timeout}ms`,
      },
      timeoutMs: timeout ?? DEADLINE_MS,
    }),
    subject: ({ domain }) => domain,
    verdict: ({ status }) => status,
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  saves: { kind: 'check', about: aboutDomain, add: (answer, fields) => ({ ...answer, ...fields }) },
  verdict: checkVerdict,
  score: checkScore,
  document: checkDocument,
  brief: briefDocument,
})

/**
 * Runs all checks on a domain, computes the score and presents the result. Never rejects because of a remote server.
 */
export async function checkDomain(
  ctx: Ctx & Pick<Call, 'onPart'>,
  deps: Pick<Deps, 'heloName' | 'smtpPort'>,
  domain: Domain,
  { plan, ...wanted }: Pick<CheckInput, 'selectors' | 'starttls' | 'learned' | 'seen'> & { readonly plan?: boolean },
): Promise<CheckAnswer> {
  const helo: CheckInput['helo'] = (source) => deps.heloName(source, ctx)
  const input = { ...wanted, helo, smtpPort: deps.smtpPort }
  const subject = subjectOf(repeatable(ctx, domain), domain, input, plan)
  const snapshot = await lookUp(subject, ctx.onPart)
  const made = plan ? await planOf(subject, snapshot, { seen: await wanted.seen?.() }) : undefined
  const findings = presentWithPlan(snapshot, made)
  const answer = composeCheck(domain, snapshot, findings)
  return { ...answer, ...(made && { plan: made }), observed_at: new Date(ctx.now()).toISOString() }
}
