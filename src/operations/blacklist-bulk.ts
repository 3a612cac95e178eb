import { z } from 'zod'
import { blacklistAnswer, blacklistBulkAnswer } from '../answers/blacklist.ts'
import { wholeList } from '../answers/list.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import { expandTargets, MAX_TARGETS } from '../dnsbl/targets.ts'
import { blacklistBulkDocument } from '../documents/blacklist.ts'
import type { Ip } from '../names/ip.ts'
import { blacklistLines } from './blacklist-lines.ts'
import type { Deps } from './deps.ts'
import example from './examples/blacklist.json' with { type: 'json' }
import { defineOperation } from './operation.ts'
import { issueOf, listParam } from './params.ts'

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

/** The blacklists of many addresses: one line with an answer of `/v1/blacklist` for each, in the order in which they finish. */
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
