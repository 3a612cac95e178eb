import { z } from 'zod'
import { presentBlacklist } from '../dnsbl/present.ts'
import { blacklistAnswer } from './answers.ts'
import { blacklistExample } from './examples.ts'
import { defineOperation } from './operation.ts'
import { ipParam, maxAgeParam } from './params.ts'

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
  }),
  output: blacklistAnswer,
  example: blacklistExample,
  deadlineMs: 15_000,
  run: async (ctx, { blacklists }, { ip, max_age }) => {
    const answer = await blacklists.lookup(ctx, ip, max_age === undefined ? {} : { maxAgeMs: max_age })
    return presentBlacklist(answer, ctx.now())
  },
  verdict: ({ verdict }) => (verdict === 'listed' ? 'bad' : verdict === 'clean' ? 'good' : 'unclear'),
})
