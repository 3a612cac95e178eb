import { z } from 'zod'
import { blacklistAnswer } from '../answers/blacklist.ts'
import { asTheyCome } from '../base/as-they-come.ts'
import type { JsonObject } from '../base/json.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import { expandTargets, MAX_TARGETS } from '../dnsbl/targets.ts'
import type { Ip } from '../names/ip.ts'
import type { Deps } from './deps.ts'
import example from './examples/blacklist.json' with { type: 'json' }
import { type Call, defineOperation } from './operation.ts'

/** Addresses that are asked about at a time: 29 questions each. */
const AT_A_TIME = 8

const ips = z
  .array(z.string().max(100))
  .min(1)
  .max(MAX_TARGETS)
  .transform((texts, ctx): readonly Ip[] => {
    const targets = expandTargets(texts)
    if (targets.ok) return targets.value
    ctx.issues.push({ code: 'custom', message: targets.problem, input: texts, params: { code: 'invalid_ip' } })
    return z.NEVER
  })
  .meta({ description: `up to ${MAX_TARGETS} IP addresses, or networks up to one /24 in all`, list: true })

/** The blacklists of many addresses: one answer of `/v1/blacklist` a line, as they come. */
export const blacklistBulk = defineOperation({
  name: 'blacklist-bulk',
  method: 'POST',
  path: '/v1/blacklist',
  summary: 'Whether up to 256 IP addresses are on any of 29 blacklists: one answer a line, as they come',
  scope: 'read',
  positional: ['ips'],
  input: z.object({ ips }),
  output: blacklistAnswer,
  example: { input: { ips: ['192.0.2.1'] }, output: example },
  deadlineMs: 120_000,
  stream: (ctx, deps, input) => answers(ctx, deps, input.ips),
  run: async (ctx, deps, input) => {
    const data: JsonObject[] = []
    for await (const answer of answers(ctx, deps, input.ips)) data.push(answer)
    return { data, has_more: false, next_cursor: null }
  },
  verdict: ({ data }) => {
    const verdicts = (data as readonly JsonObject[]).map(({ verdict }) => verdict)
    if (verdicts.includes('listed')) return 'bad'
    return verdicts.every((verdict) => verdict === 'clean') ? 'good' : 'unclear'
  },
})

/** Every address gets its line, also after the deadline: then it says which lists were not heard. */
const answers = (ctx: Call, { blacklists }: Deps, addresses: readonly Ip[]): AsyncIterable<JsonObject> =>
  asTheyCome(AT_A_TIME, addresses, async (address) =>
    presentBlacklist(await blacklists.lookup(ctx, address), ctx.now()),
  )
