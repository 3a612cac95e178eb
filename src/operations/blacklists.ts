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
  example: { input: {}, output: { total: 29, list_version: '2026-11', data: [], has_more: false, next_cursor: null } },
  deadlineMs: 15_000,
  uses: ['blacklists'],
  run: async (ctx, deps) => {
    await deps.blacklists.test(ctx)
    return ok(presentBlacklists(deps.blacklists.set, deps.blacklists.states()))
  },
})
