import { peerForgetAnswer } from '../answers/peers.ts'
import { forgetParams, forgetSubject } from './forget-subject.ts'
import { defineOperation, ok } from './operation.ts'

/** The call of another node when something is to be forgotten: clears this node's caches, but no stored data. */
export const peerForget = defineOperation({
  name: 'peer-forget',
  method: 'POST',
  path: '/v1/peer/forget',
  summary: 'Remove a mailbox or a domain from the memory of this node',
  scope: 'admin',
  forPeers: true,
  params: forgetParams,
  answer: peerForgetAnswer,
  example: { input: { email: 'joe@example.org' }, output: { removed: 1 } },
  deadlineMs: 10_000,
  uses: ['verifier'],
  run: async (_ctx, { verifier }, input) => {
    const { answers, catch_all } = verifier.forget(forgetSubject(input).subject)
    return ok({ removed: answers + catch_all })
  },
})
