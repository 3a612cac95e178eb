import { z } from 'zod'
import { type BlacklistAnswer, blacklistAnswer, blacklistBulkAnswer } from '../answers/blacklist.ts'
import { wholeList } from '../answers/list.ts'
import { asTheyCome } from '../base/as-they-come.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import { expandTargets, MAX_TARGETS } from '../dnsbl/targets.ts'
import { blacklistBulkDocument } from '../documents/blacklist.ts'
import type { Ip } from '../names/ip.ts'
import type { Deps } from './deps.ts'
import example from './examples/blacklist.json' with { type: 'json' }
import { type Call, defineOperation, ok } from './operation.ts'
import { issueOf, listParam } from './params.ts'

/** Maximum number of addresses looked up at the same time: 29 queries each. */
const AT_A_TIME = 8

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
  run: async (ctx, deps, input) => {
    const data: BlacklistAnswer[] = []
    for await (const answer of answers(ctx, deps, input.ips)) data.push(answer)
    return ok(wholeList(data))
  },
  lines: {
    item: blacklistAnswer,
    run: (ctx, deps, input) => answers(ctx, deps, input.ips),
    of: ({ data }) => data,
    join: wholeList,
  },
  verdict: ({ data }) => {
    if (data.some(({ verdict }) => verdict === 'listed')) return 'bad'
    return data.every(({ verdict }) => verdict === 'clean') ? 'good' : 'unclear'
  },
})

/** Every address gets its line, even after the deadline: the line then says which lists gave no answer. */
const answers = (
  ctx: Call,
  { blacklists }: Pick<Deps, 'blacklists'>,
  addresses: readonly Ip[],
): AsyncIterable<BlacklistAnswer> =>
  asTheyCome(AT_A_TIME, addresses, async (address) => presentBlacklist(await blacklists.lookup(ctx, address), ctx))
