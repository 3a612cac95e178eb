import { z } from 'zod'
import { blacklistAnswer } from '../answers/blacklist.ts'
import type { JsonObject } from '../base/json.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import example from './examples/blacklist.json' with { type: 'json' }
import { defineOperation } from './operation.ts'
import { formatAge, ipParam, maxAgeParam } from './params.ts'
import { fromVantages, vantageParam } from './vantage.ts'

const DEADLINE_MS = 15_000

/** Whether an address is on any of the 29 blacklists: all asked at once. */
export const blacklist = defineOperation({
  name: 'blacklist',
  method: 'GET',
  path: '/v1/blacklist',
  summary: 'Whether an IP address is on any of 29 blacklists',
  scope: 'read',
  positional: ['ip'],
  input: z.object({
    ip: ipParam('IPv4 or IPv6 address to look for'),
    max_age: maxAgeParam.optional(),
    vantage: vantageParam.optional(),
  }),
  output: blacklistAnswer,
  example: { input: { ip: '45.53.9.9' }, output: example },
  deadlineMs: DEADLINE_MS,
  needs: ['blacklists'],
  run: (ctx, deps, { ip, max_age, vantage }) => {
    const question = {
      path: '/v1/blacklist',
      query: { ip, max_age: max_age === undefined ? undefined : formatAge(max_age) },
      output: blacklistAnswer,
      subject: 'ip',
      needs: ['blacklist'],
      verdict: (answer: JsonObject) => String(answer.verdict),
      timeoutMs: DEADLINE_MS,
    } as const
    return fromVantages(ctx, deps, vantage, question, async () => {
      const maxAge = max_age === undefined ? {} : { maxAgeMs: max_age }
      return presentBlacklist(await deps.blacklists.lookup(ctx, ip, maxAge), ctx.now())
    })
  },
  verdict: ({ verdict }) => (verdict === 'listed' ? 'bad' : verdict === 'clean' ? 'good' : 'unclear'),
})
