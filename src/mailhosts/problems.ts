import { problemsOf } from '../base/problem.ts'

/** Why a domain receives no mail, as text after its name. */
export const noMailProblem = problemsOf('no_mail', {
  null_mx: () => 'accepts no mail (null MX)',
  no_host: () => 'has no mail host',
  no_name: () => 'does not exist',
})
