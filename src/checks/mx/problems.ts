import { problemsOf } from '../../base/problem.ts'

/** Why it is not known whether mail arrives. */
export const mailHostProblem = problemsOf('mail_host', {
  unanswered: () => 'a mail host could not be looked up',
})
