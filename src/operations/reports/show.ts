import { wholeList } from '../../answers/answer.ts'
import { type ReportsDomainsAnswer, reportsAnswer, reportsDomainsAnswer } from '../../answers/reports.ts'
import { printable } from '../../base/text.ts'
import { reportsDocument, reportsDomainsDocument } from '../../documents/reports.ts'
import { parseDomain } from '../../names/domain.ts'
import { presentSummary } from '../../reports/present.ts'
import type { ReportWay } from '../deps.ts'
import { formatParam } from '../documents.ts'
import { defineOperation, ok } from '../operation.ts'
import { domainsExample, reportsExample } from './examples.ts'
import { periodOf, periodParams, seesDomain } from './shared.ts'

/** Who sends as a domain, summed. */
export const reportsShow = defineOperation({
  name: 'reports show',
  method: 'GET',
  path: '/v1/reports',
  summary: 'Show who sends as a domain, by sender and by day',
  scope: 'reports',
  params: { ...periodParams, format: formatParam },
  answer: reportsAnswer,
  document: reportsDocument,
  example: { input: { domain: 'example.org' }, output: reportsExample },
  uses: ['reports'],
  run: async (ctx, { reports }, input) => {
    const period = periodOf(ctx, input)
    return ok(presentSummary(period, await (await reports()).summary(ctx, period)))
  },
})

export const reportsDomains = defineOperation({
  name: 'reports domains',
  method: 'GET',
  path: '/v1/reports/domains',
  summary: 'List the domains that have reports, the newest first',
  scope: 'reports',
  params: {},
  answer: reportsDomainsAnswer,
  document: reportsDomainsDocument,
  example: { input: {}, output: domainsExample },
  uses: ['reports', 'reportsHere'],
  run: async (ctx, { reports, reportsHere }) => {
    const service = await reports()
    const mayAll = ctx.caller?.domains === undefined
    const [domains, strangers] = await Promise.all([service.domains(), mayAll ? service.strangers() : []])
    const seen = domains.filter(({ domain }) => {
      const name = parseDomain(domain)
      return name.ok && seesDomain(ctx.caller, name.value)
    })
    return ok({
      ...wholeList(seen.map(({ last_at, ...one }) => ({ ...one, last_report_at: last_at.toISOString() }))),
      unknown_domains: strangers.map(({ last_at, ...one }) => ({ ...one, last_report_at: last_at.toISOString() })),
      ways: mayAll ? reportsHere.ways.map(presentWay) : [],
    })
  },
})

const presentWay = ({ lastAtMs, problem, place, ...one }: ReportWay): ReportsDomainsAnswer['ways'][number] => ({
  ...one,
  place: printable(place),
  last_at: lastAtMs === null ? null : new Date(lastAtMs).toISOString(),
  problem: problem === null ? null : printable(problem),
})
