import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'

/** What is wrong with a profile that was given. */
export const profileProblem = problemsOf('profile', {
  unknown: ({ text, known }: { text: string; known: readonly string[] }) =>
    `${quoted(text, 80)} is neither the name of a profile (${shown(known.join(', '), 200)}) nor a profile as JSON`,
  too_long: ({ max }: { max: number }) => `the profile is longer than ${max} characters`,
  file: ({ line, why }: { line: number; why: Problem }, say) =>
    `line ${line} of the profile: ${shown(say(why), 400)}; a rule has id, text and either findings, or field with in`,
})
