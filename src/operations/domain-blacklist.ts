import { z } from 'zod'
import {
  type DomainBlacklistAnswer,
  domainBlacklistAnswer,
  domainBlacklistBulkAnswer,
} from '../answers/domain-blacklist.ts'
import { wholeList } from '../answers/list.ts'
import { asTheyCome } from '../base/as-they-come.ts'
import { presentDomainBlacklist } from '../dnsbl/present.ts'
import { domainBlacklistDocument } from '../documents/domain-blacklist.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import type { Deps } from './deps.ts'
import example from './examples/domain-blacklist.json' with { type: 'json' }
import { type Call, defineOperation, ok } from './operation.ts'
import { domainParam, issueOf, listParam, maxAgeParam, positional } from './params.ts'

const DEADLINE_MS = 15_000
/** Maximum number of domains of one request. */
const MAX_DOMAINS = 256
/** Maximum number of domains that are looked up at the same time. */
const AT_A_TIME = 8

const exampleAnswer = example as DomainBlacklistAnswer

/** Whether a domain is on a list of domains; all are queried at once. */
export const domainBlacklist = defineOperation({
  name: 'domain-blacklist',
  method: 'GET',
  path: '/v1/domain-blacklist',
  summary: 'Look up a domain on the lists of domains',
  scope: 'read',
  params: { domain: positional(domainParam('domain to look up')), max_age: maxAgeParam },
  answer: domainBlacklistAnswer,
  document: domainBlacklistDocument,
  example: { input: { domain: 'example.org' }, output: exampleAnswer },
  deadlineMs: DEADLINE_MS,
  uses: ['domainLists'],
  run: async (ctx, { domainLists }, { domain, max_age }) => {
    const maxAge = max_age === undefined ? {} : { maxAgeMs: max_age }
    return ok(presentDomainBlacklist(domain, await domainLists.lookup(ctx, domain, maxAge), ctx))
  },
  verdict: ({ verdict }) => (verdict === 'listed' ? 'bad' : verdict === 'clean' ? 'good' : 'unclear'),
})

const domains = {
  ...listParam(z.string().max(1_000), MAX_DOMAINS, {
    description: 'domains to look up',
    example: 'example.org',
  }),
  required: true,
  positional: true,
  schema: z
    .array(z.string().max(1_000))
    .min(1)
    .max(MAX_DOMAINS)
    .transform((texts, ctx): readonly Domain[] => {
      const found: Domain[] = []
      for (const text of texts) {
        const domain = parseDomain(text.trim())
        if (domain.ok) found.push(domain.value)
        else ctx.issues.push({ ...issueOf(domain.problem, 'invalid_domain'), input: texts })
      }
      return [...new Set(found)]
    }),
} as const

/** The lists of many domains: one line with an answer of `/v1/domain-blacklist` for each, in the order in which they finish. */
export const domainBlacklistBulk = defineOperation({
  name: 'domain-blacklist-bulk',
  method: 'POST',
  path: '/v1/domain-blacklist',
  summary: 'Look up 1 to 256 domains on the lists of domains, one answer per line',
  scope: 'read',
  params: { domains },
  answer: domainBlacklistBulkAnswer,
  example: { input: { domains: ['example.org'] }, output: wholeList([exampleAnswer]) },
  deadlineMs: 120_000,
  uses: ['domainLists'],
  run: async (ctx, deps, input) => {
    const data: DomainBlacklistAnswer[] = []
    for await (const answer of answers(ctx, deps, input.domains)) data.push(answer)
    return ok(wholeList(data))
  },
  lines: {
    item: domainBlacklistAnswer,
    run: (ctx, deps, input) => answers(ctx, deps, input.domains),
    of: ({ data }) => data,
    join: wholeList,
  },
  verdict: ({ data }) => {
    if (data.some(({ verdict }) => verdict === 'listed')) return 'bad'
    return data.every(({ verdict }) => verdict === 'clean') ? 'good' : 'unclear'
  },
})

const answers = (
  ctx: Call,
  { domainLists }: Pick<Deps, 'domainLists'>,
  asked: readonly Domain[],
): AsyncIterable<DomainBlacklistAnswer> =>
  asTheyCome(AT_A_TIME, asked, async (domain) =>
    presentDomainBlacklist(domain, await domainLists.lookup(ctx, domain), ctx),
  )
