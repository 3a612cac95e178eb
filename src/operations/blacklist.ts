import { blacklistAnswer } from '../answers/blacklist.ts'
import { presentBlacklist } from '../dnsbl/present.ts'
import example from './examples/blacklist.json' with { type: 'json' }
import { defineOperation, ok } from './operation.ts'
import { formatAge, ipParam, maxAgeParam, optional, positional } from './params.ts'
import { saveParams } from './saving.ts'
import { vantageParam } from './vantage-param.ts'

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
  document: async (answer, version) => (await import('../documents/blacklist.ts')).blacklistDocument(answer, version),
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
