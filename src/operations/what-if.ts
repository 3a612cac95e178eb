import type { CheckAnswer } from '../answers/check.ts'
import { type CheckSummary, type WhatIfAnswer, whatIfAnswer } from '../answers/what-if.ts'
import type { CheckInput } from '../checks/check.ts'
import { remembering, repeatable } from '../checks/repeatable.ts'
import { whatIfDocument } from '../documents/what-if.ts'
import { type OverlayChange, overlay, overlayServers } from '../net/dns/overlay.ts'
import { parseRecordLine } from '../net/dns/record-text.ts'
import { planOf } from '../plan/plan.ts'
import { presentWithPlan } from '../plan/present.ts'
import { lookUp, type Subject, subjectOf } from '../plan/snapshot.ts'
import { composeCheck } from '../score/compose.ts'
import { checkScore, checkVerdict } from './check.ts'
import { formatParam } from './documents.ts'
import { whatIfExample } from './examples.ts'
import { defineOperation, ok } from './operation.ts'
import { BODY_LIMIT, readOverlay, recordsParam, zoneParam } from './overlay-input.ts'
import { domainParam, MAX_SELECTORS, positional, selectorsParam, timeoutParam } from './params.ts'
import { aboutDomain, bodySaveParams } from './saving.ts'

/** Maximum number of records of the overlay that the answer repeats. */
const SHOWN = 100
const records = {
  ...recordsParam,
  flag: {
    kind: 'lines',
    name: 'with',
    argument: 'RECORD',
    description: 'judge as if this record were published (repeatable)',
    read: parseRecordLine,
  },
} as const

const zone = zoneParam('text of a zone file (RFC 1035 §5.1) with records to overlay on the DNS', {
  name: 'zone',
  description: 'judge as if this zone file were published',
})

/** The check of a domain as if records were published: an overlay on the resolver; nothing else differs. */
export const whatIf = defineOperation({
  name: 'what-if',
  method: 'POST',
  path: '/v1/check',
  partOf: 'check',
  summary: 'Check a domain with records that are not published yet',
  scope: 'read',
  bodyLimit: BODY_LIMIT,
  params: {
    domain: positional(domainParam('domain to check')),
    records,
    zone,
    selector: selectorsParam,
    timeout: timeoutParam('time limit of the check'),
    format: formatParam,
    ...bodySaveParams,
  },
  answer: whatIfAnswer,
  example: whatIfExample,
  uses: ['heloName', 'smtpPort'],
  saves: { kind: 'what-if', about: aboutDomain, add: (answer, fields) => ({ ...answer, ...fields }) },
  verdict: checkVerdict,
  score: checkScore,
  document: whatIfDocument,
  run: async (ctx, deps, { domain, records = [], zone, selector }) => {
    const { laid, skipped } = readOverlay(domain, records, zone)
    const shared = remembering(ctx)
    const input: CheckInput = {
      selectors: [...new Set([...(selector ?? []), ...keysOf(laid, domain)])],
      helo: (source) => deps.heloName(source, ctx),
      smtpPort: deps.smtpPort,
    }
    const published = { resolve: overlay(shared.resolve, laid), askServer: overlayServers(shared.askServer, laid) }
    const asIt = subjectOf(repeatable(shared, domain), domain, input)
    const then = subjectOf(repeatable({ ...shared, ...published }, domain), domain, input)
    const [before, after] = await Promise.all([judged(asIt, false), judged(then, true)])
    return ok({
      ...after,
      before: summaryOf(before),
      after: summaryOf(after),
      as_if: laid.slice(0, SHOWN).map(shown),
      skipped,
      observed_at: new Date(ctx.now()).toISOString(),
    })
  },
})

/** The selectors of the keys that the records publish: asked first, since nobody knows them yet. */
const keysOf = (laid: readonly OverlayChange[], domain: string): readonly string[] =>
  laid
    .flatMap(({ name }) =>
      name.endsWith(`._domainkey.${domain}`) ? [name.slice(0, name.indexOf('._domainkey.'))] : [],
    )
    .slice(0, MAX_SELECTORS)

async function judged(subject: Subject, withPlan: boolean): Promise<CheckAnswer> {
  const snapshot = await lookUp(subject)
  const plan = withPlan ? await planOf(subject, snapshot) : undefined
  return { ...composeCheck(subject.domain, snapshot, presentWithPlan(snapshot, plan)), ...(plan && { plan }) }
}

const shown = (change: OverlayChange): WhatIfAnswer['as_if'][number] => {
  const { name, type, data } = change
  return { name, type, ...(data === undefined ? {} : { data }), ...('remove' in change && { remove: true as const }) }
}

const summaryOf = (answer: CheckAnswer): CheckSummary => {
  const { score, grade, status, domain_role, complete, score_min, score_max, findings, spf } = answer
  return {
    score,
    grade,
    status,
    domain_role,
    complete,
    ...(score_min === undefined ? {} : { score_min, score_max }),
    findings: [...new Set(findings.map(({ id }) => id))],
    ...(spf.passing && { passing: spf.passing }),
  }
}
