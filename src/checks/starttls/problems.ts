import { type Problem, problemsOf, shown } from '../../base/problem.ts'

/** Why a sender that requires TLS with a valid certificate does not deliver to a host. */
export const tlsFaultProblem = problemsOf('tls_fault', {
  no_starttls: () => 'no working STARTTLS',
  expired: () => 'its certificate has expired',
  untrusted: () => 'its certificate is not trusted',
  other_name: () => 'its certificate is for another name',
})

/** Why nothing, or not enough, is known about the TLS of a host; `stage` is that of the session. */
export const tlsProblem = problemsOf('tls', {
  no_address: () => 'the host has no address',
  refused: () => 'the server refused STARTTLS after it had announced it',
  reply: ({ code, text, stage }: { code: number; text: string; stage: string }) =>
    shown(`it answered ${code} ${text} to us (${stage})`, 300),
  ended: ({ why, stage }: { why: Problem; stage: string }, say) => shown(`${say(why)} (${stage})`, 300),
  no_answer: () => 'no mail host answered',
  no_reason: () => 'no reason given',
})
