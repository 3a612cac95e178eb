import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, shown } from '../base/problem.ts'

/** Why another node did not verify, look up or check. */
export const nodeProblem = problemsOf('node', {
  not_used: () => 'this node does not use other nodes',
  no_time: () => 'there was no time left to query it',
  this_node: () => 'it is this node',
  not_registered: () => 'it is not registered',
  dead: () => 'it is dead',
  no_capability: () => 'it does not verify mailboxes',
  status: ({ status, detail }: { status: number; detail: string }) =>
    `it replied with status ${status}${detail === '' ? '' : `: ${shown(detail)}`}`,
  invalid_answer: ({ why }: { why: Problem }, say) => `its answer is not valid: ${say(why)}`,
  other_question: () => 'its answer does not match the question',
  contradiction: () => 'its result does not follow from its reason',
  /** `why` is what the connection or the TLS handshake failed with. */
  unreachable: ({ why }: { why: Problem }, say) => shown(say(why)),
})

export const verifyError = errorsOf('verify', {
  forbidden: {
    denied: ({ domain }: { domain: string }) =>
      `the operator of this service does not allow verification at ${shown(domain)}`,
  },
})
