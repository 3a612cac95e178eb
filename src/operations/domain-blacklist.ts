import { z } from 'zod'
import { type DomainBlacklistAnswer, domainBlacklistAnswer, domainBlacklistBulkAnswer } from '../answers/blacklist.ts'
import { wholeList } from '../answers/list.ts'
import { presentDomainBlacklist } from '../dnsbl/present.ts'
import { domainBlacklistDocument } from '../documents/domain-blacklist.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import { blacklistLines } from './blacklist.ts'
import type { Deps } from './deps.ts'
import example from './examples/domain-blacklist.json' with { type: 'json' }
import { defineOperation, ok } from './operation.ts'
import { domainParam, issueOf, listParam, maxAgeParam, positional } from './params.ts'

const DEADLINE_MS = 15_000
/** Maximum number of domains of one request. */
const MAX_DOMAINS = 256

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
  ...blacklistLines(
    domainBlacklistAnswer,
    (input: { readonly domains: readonly Domain[] }) => input.domains,
    async (ctx, { domainLists }: Pick<Deps, 'domainLists'>, domain: Domain) =>
      presentDomainBlacklist(domain, await domainLists.lookup(ctx, domain), ctx),
  ),
})
