import { z } from 'zod'
import { wholeList } from '../answers/answer.ts'
import {
  blacklistAnswer,
  blacklistBulkAnswer,
  blacklistsAnswer,
  domainBlacklistAnswer,
  domainBlacklistBulkAnswer,
} from '../answers/blacklist.ts'
import { asTheyCome } from '../base/at-most.ts'
import { presentBlacklist, presentBlacklists, presentDomainBlacklist } from '../dnsbl/present.ts'
import { expandTargets, MAX_TARGETS } from '../dnsbl/query.ts'
import {
  blacklistBulkDocument,
  blacklistDocument,
  blacklistsDocument,
  domainBlacklistDocument,
} from '../documents/blacklist.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import { parsePastedDomain } from '../names/pasted.ts'
import type { Deps } from './deps.ts'
import example from './examples/blacklist.json' with { type: 'json' }
import domainExample from './examples/domain-blacklist.json' with { type: 'json' }
import { type Call, defineOperation, ok, type Verdict } from './operation.ts'
import {
  domainParam,
  formatAge,
  ipParam,
  issueOf,
  listParam,
  maxAgeParam,
  optional,
  positional,
  vantageParam,
} from './params.ts'
import { saveParams } from './saving.ts'

const DEADLINE_MS = 15_000

/** Whether an address is on any of the 29 blacklists; all are queried at once. */
export const blacklist = defineOperation({
  name: 'blacklist',
  method: 'GET',
  path: '/v1/blacklist',
  summary: 'Look up an IP address on 29 blacklists',
  scope: 'read',
  params: {
    ip: positional(ipParam('IPv4 or IPv6 address to look up')),
    max_age: maxAgeParam,
    vantage: optional(vantageParam),
    ...saveParams,
  },
  answer: blacklistAnswer,
  document: blacklistDocument,
  example: { input: { ip: '45.53.9.9' }, output: example },
  deadlineMs: DEADLINE_MS,
  uses: ['blacklists'],
  run: async (ctx, { blacklists }, { ip, max_age }) => {
    const maxAge = max_age === undefined ? {} : { maxAgeMs: max_age }
    return ok(presentBlacklist(await blacklists.lookup(ctx, ip, maxAge), ctx))
  },
  vantage: {
    node: ({ vantage }) => vantage,
    needs: ['blacklist'],
    question: ({ ip, max_age }) => ({
      query: { ip, max_age: max_age === undefined ? undefined : formatAge(max_age) },
      timeoutMs: DEADLINE_MS,
    }),
    subject: ({ ip }) => ip,
    verdict: ({ verdict }) => verdict,
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  saves: {
    kind: 'blacklist',
    about: ({ ip, verdict }) => ({ subject: ip, names: { ip }, status: verdict, score: null }),
    add: (answer, fields) => ({ ...answer, ...fields }),
  },
  verdict: ({ verdict }) => (verdict === 'listed' ? 'bad' : verdict === 'clean' ? 'good' : 'unclear'),
})

/** Maximum number of addresses or domains that are looked up at the same time; an address is 29 queries. */
const AT_A_TIME = 8

type Listed = { readonly verdict: 'listed' | 'clean' | 'incomplete' }
type List<A> = { readonly data: readonly A[] }

/**
 * The run, the lines and the verdict of an operation that looks up many subjects: an answer of `look` for each, in the
 * order in which they finish. Every subject gets its line, even after the deadline: the line then says which lists gave
 * no answer.
 */
function blacklistLines<Subject, Deps, Input, A extends Listed>(
  item: z.ZodType<A>,
  subjects: (input: Input) => readonly Subject[],
  look: (ctx: Call, deps: Deps, subject: Subject) => Promise<A>,
) {
  const answers = (ctx: Call, deps: Deps, input: Input): AsyncIterable<A> =>
    asTheyCome(AT_A_TIME, subjects(input), (subject) => look(ctx, deps, subject))
  return {
    run: async (ctx: Call, deps: Deps, input: Input) => {
      const data: A[] = []
      for await (const answer of answers(ctx, deps, input)) data.push(answer)
      return ok(wholeList(data))
    },
    lines: { item, run: answers, of: ({ data }: List<A>) => data, join: wholeList },
    verdict: ({ data }: List<A>): Verdict => {
      if (data.some(({ verdict }) => verdict === 'listed')) return 'bad'
      return data.every(({ verdict }) => verdict === 'clean') ? 'good' : 'unclear'
    },
  }
}

const ips = {
  ...listParam(z.string().max(100), MAX_TARGETS, {
    description: 'IP addresses or networks; at most 256 addresses in total',
    example: '192.0.2.1',
  }),
  required: true,
  positional: true,
  schema: z
    .array(z.string().max(100))
    .min(1)
    .max(MAX_TARGETS)
    .transform((texts, ctx): readonly Ip[] => {
      const targets = expandTargets(texts)
      if (targets.ok) return targets.value
      ctx.issues.push({ ...issueOf(targets.problem, 'invalid_ip'), input: texts })
      return z.NEVER
    }),
} as const

/**
 * The blacklists of many addresses: one line with an answer of `/v1/blacklist` for each, in the order in which they
 * finish.
 */
export const blacklistBulk = defineOperation({
  name: 'blacklist-bulk',
  method: 'POST',
  path: '/v1/blacklist',
  summary: 'Look up 1 to 256 IP addresses, one answer per line',
  scope: 'read',
  params: { ips },
  answer: blacklistBulkAnswer,
  document: blacklistBulkDocument,
  example: { input: { ips: ['192.0.2.1'] }, output: wholeList([example]) },
  deadlineMs: 120_000,
  uses: ['blacklists'],
  ...blacklistLines(
    blacklistAnswer,
    (input: { readonly ips: readonly Ip[] }) => input.ips,
    async (ctx, { blacklists }: Pick<Deps, 'blacklists'>, address: Ip) =>
      presentBlacklist(await blacklists.lookup(ctx, address), ctx),
  ),
})

/** The 29 lists and the self-test state of each. */
export const blacklists = defineOperation({
  name: 'blacklists',
  method: 'GET',
  path: '/v1/blacklists',
  summary: 'List the 29 blacklists and their self-tests',
  scope: 'read',
  params: {},
  answer: blacklistsAnswer,
  document: blacklistsDocument,
  example: {
    input: {},
    output: {
      total: 29,
      list_version: '2026-11',
      data: [
        {
          blacklist: 'PSBL',
          zone: 'psbl.surriel.com',
          tier: 'B',
          scope: 'ip',
          strict: false,
          codes: [{ code: '127.0.0.2', meaning: 'listed', listing: true }],
          state: 'healthy',
          reason: null,
          tested_at: '2026-11-20T10:00:00.000Z',
          missing_since: null,
          test_codes: ['127.0.0.2'],
          history: [],
          ipv6: { supported: 'no', state: 'unsupported' },
          answers: { listed: 1, not_listed: 41, blocked: 0, timeout: 0, error: 0, unsupported: 3 },
          allowance: { per_second: 50 },
          requires_key: false,
          delist_url: 'https://psbl.org/remove',
          verified: null,
          notes: '',
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
  deadlineMs: 15_000,
  uses: ['blacklists'],
  run: async (ctx, deps) => {
    await deps.blacklists.test(ctx)
    return ok(presentBlacklists(deps.blacklists.set, deps.blacklists.states()))
  },
})

/** Maximum number of domains of one request. */
const MAX_DOMAINS = 256

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
  example: { input: { domain: 'example.org' }, output: domainExample },
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
        const domain = parsePastedDomain(text.trim())
        if (domain.ok) found.push(domain.value)
        else ctx.issues.push({ ...issueOf(domain.problem, 'invalid_domain'), input: texts })
      }
      return [...new Set(found)]
    }),
} as const

/**
 * The lists of many domains: one line with an answer of `/v1/domain-blacklist` for each, in the order in which they
 * finish.
 */
export const domainBlacklistBulk = defineOperation({
  name: 'domain-blacklist-bulk',
  method: 'POST',
  path: '/v1/domain-blacklist',
  summary: 'Look up 1 to 256 domains on the lists of domains, one answer per line',
  scope: 'read',
  params: { domains },
  answer: domainBlacklistBulkAnswer,
  example: { input: { domains: ['example.org'] }, output: wholeList([domainExample]) },
  deadlineMs: 120_000,
  uses: ['domainLists'],
  ...blacklistLines(
    domainBlacklistAnswer,
    (input: { readonly domains: readonly Domain[] }) => input.domains,
    async (ctx, { domainLists }: Pick<Deps, 'domainLists'>, domain: Domain) =>
      presentDomainBlacklist(domain, await domainLists.lookup(ctx, domain), ctx),
  ),
})
