import { blacklistsAnswer } from '../answers/blacklists.ts'
import { presentBlacklists } from '../dnsbl/present-states.ts'
import { blacklistsDocument } from '../documents/blacklists.ts'
import { defineOperation, ok } from './operation.ts'

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
          takes_key: false,
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
