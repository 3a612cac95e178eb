import { problemsOf } from '../../base/problem.ts'

/** What is wrong with the answer of a name server. */
export const serverAnswerProblem = problemsOf('name_server', {
  not_authoritative: () => 'its answer is not authoritative',
})
