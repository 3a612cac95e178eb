import { problemsOf, shown } from '../base/problem.ts'

/** What is wrong with an answer that another service gave. */
export const answerProblem = problemsOf('answer', {
  /** `faults` are places with what is wrong there. */
  faults: ({ faults, more }: { faults: readonly string[]; more: number }) =>
    shown(`${faults.join('; ')}${more > 0 ? ` and ${more} more` : ''}`, 500),
})
