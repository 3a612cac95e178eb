import { problemsOf, shown } from '../../base/problem.ts'

/** Why the input of a session is not SMTP, or has ended. */
export const smtpProblem = problemsOf('smtp', {
  not_reply: ({ text }: { text: string }) => `not an SMTP reply: ${JSON.stringify(shown(text, 80))}`,
  code_changed: ({ expected, received }: { expected: number; received: number }) =>
    `the code changed from ${expected} to ${received} within one reply`,
  long_reply: () => 'a reply longer than 64 KiB',
  unexpected: () => 'an unexpected reply',
  closed: () => 'the server closed the connection',
})
