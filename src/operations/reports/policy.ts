import { z } from 'zod'
import { reportsPolicyAnswer } from '../../answers/reports.ts'
import { atMost } from '../../base/at-most.ts'
import { within } from '../../base/deadline.ts'
import { invalidAt } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { lookupDmarc } from '../../checks/dmarc/index.ts'
import { lookupSpf, type Passing } from '../../checks/spf/index.ts'
import { reportsPolicyDocument } from '../../documents/reports.ts'
import { type Domain, parseDomain } from '../../names/domain.ts'
import { type OverlayRecord, overlay } from '../../net/dns/overlay.ts'
import { parseRecord, parseRecordLine } from '../../net/dns/record-text.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import { NOBODY, passesIn } from '../../reports/facts.ts'
import { policyOutcomeInTurns } from '../../reports/policy.ts'
import { presentLeftOut } from '../../reports/present.ts'
import type { Sender } from '../../reports/senders.ts'
import type { Ctx } from '../../world.ts'
import { defineOperation, ok } from '../operation.ts'
import { openChoiceParam, type Param } from '../params.ts'
import { reportsError } from '../problems.ts'
import { policyExample } from './examples.ts'
import { periodOf, periodParams } from './shared.ts'

/** Records to try in one question. */
const MAX_WITH = 50
/** Return paths whose SPF records are read, the one with most mail first; for the rest the reported result stands. */
const MAX_ENVELOPES = 50
/** Time limit for the DNS, ms. */
const DNS_MS = 8_000

const withParam = {
  kind: 'list',
  description: 'judge as if this record were published: `_dmarc TXT v=DMARC1; p=reject`; repeatable',
  group: 'question',
  required: false,
  bounds: { max: String(MAX_WITH) },
  unit: 'items',
  schema: z
    .union([
      z
        .string()
        .max(70_000)
        .transform((one) => [one]),
      z.array(z.string().max(70_000)).max(MAX_WITH),
    ])
    .optional(),
} as const satisfies Param

/** What a policy, or records tried with it, would have done to the mail that was seen. */
export const reportsPolicy = defineOperation({
  name: 'reports policy',
  method: 'GET',
  path: '/v1/reports/policy',
  summary: 'Show what a DMARC policy would have done to the mail that was seen',
  scope: 'reports',
  params: {
    ...periodParams,
    policy: openChoiceParam(['none', 'quarantine', 'reject'], {
      description: 'the policy to try; default that of a DMARC record in `with`',
      group: 'question',
    }),
    with: withParam,
  },
  answer: reportsPolicyAnswer,
  document: reportsPolicyDocument,
  example: { input: { domain: 'example.org', policy: 'reject' }, output: policyExample },
  uses: ['reports'],
  run: async (ctx, { reports }, { policy, with: lines = [], ...input }) => {
    const period = periodOf(ctx, input)
    const laid = lines.map((line) => recordOf(line, period.domain))
    const asking = { resolve: overlay(ctx.resolve, laid), signal: within(DNS_MS, ctx.signal) }
    const [summary, published] = await Promise.all([
      (await reports()).summary(ctx, period),
      settled(lookupDmarc(asking, period.domain)),
    ])
    const record = published instanceof DnsError ? undefined : published.applied?.reading.record
    const tried = policy ?? policyIn(laid)
    if (tried === undefined) throw reportsError('policy_missing', undefined, { parameter: 'policy' })
    const { passing, unanswered } = await passingOf(asking, period.domain, summary.senders)
    const outcome = await policyOutcomeInTurns(summary.senders, tried, {
      passesOf: passesIn(passing),
      adkim: record?.adkim ?? 'r',
      aspf: record?.aspf ?? 'r',
    })
    return ok({
      ...{ domain: period.domain, from: period.from, to: period.to, policy: tried, messages: outcome.messages },
      ...{ passing_before: outcome.passingBefore, passing_after: outcome.passingAfter },
      affected: outcome.affected.slice(0, 500).map(({ sender, verdict, messages }) => ({
        ...{ sender: sender.id, name: printable(sender.name), verdict, messages, share: messages / sender.messages },
        ...(sender.to_do !== undefined && { to_do: sender.to_do }),
      })),
      ...{ not_reevaluated: outcome.notReevaluated, days: summary.days.length, reports: summary.about.reports },
      ...presentLeftOut(summary.leftOut),
      as_if: laid.map(({ name, type, data }) => ({ name, type, data })),
      unanswered: [...new Set([...summary.facts.unanswered, ...unanswered])],
    })
  },
})

function recordOf(line: string, domain: Domain): OverlayRecord {
  const text = parseRecordLine(line)
  const record = text.ok ? parseRecord(text.value, domain) : text
  if (!record.ok) throw invalidAt('invalid_parameter', 'with', record.problem)
  return record.value
}

/** The policy of a DMARC record among the records to try. */
function policyIn(laid: readonly OverlayRecord[]): 'none' | 'quarantine' | 'reject' | undefined {
  for (const { type, data } of laid) {
    const found =
      type === 'TXT' ? /^v=DMARC1\s*;(?:.*;)?\s*p\s*=\s*(none|quarantine|reject)\b/i.exec(String(data)) : null
    const policy = found?.[1]?.toLowerCase()
    if (policy === 'none' || policy === 'quarantine' || policy === 'reject') return policy
  }
  return undefined
}

/** Who passes the records of the return paths at or below the domain's organizational domain. */
async function passingOf(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain, senders: readonly Sender[]) {
  const sums = new Map<string, number>()
  for (const { sources } of senders)
    for (const { envelope_from, spf_domain, messages } of sources) {
      const name = envelope_from || spf_domain
      if (name !== '') sums.set(name, (sums.get(name) ?? 0) + messages)
    }
  const names = [...sums]
    .filter(([name]) => name === domain || name.endsWith(`.${domain}`) || domain.endsWith(`.${name}`))
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_ENVELOPES)
  const passing = new Map<string, Passing>()
  const unanswered: string[] = []
  await atMost(8, names, async ([name]) => {
    const parsed = parseDomain(name)
    if (!parsed.ok) return
    const facts = await settled(lookupSpf(ctx, parsed.value))
    if (facts instanceof DnsError) unanswered.push(`the SPF record of ${name}`)
    else passing.set(name, facts.reading?.extent.passing ?? NOBODY)
  })
  return { passing, unanswered }
}
