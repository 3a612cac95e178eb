import { problemsOf, quoted, shown } from '../base/problem.ts'

/** What is wrong with a profile that was given. */
export const profileProblem = problemsOf('profile', {
  unknown: ({ text, known }: { text: string; known: readonly string[] }) =>
    `${quoted(text, 80)} is neither the name of a profile (${shown(known.join(', '), 200)}) nor a profile as JSON`,
  too_long: ({ max }: { max: number }) => `the profile is longer than ${max} characters`,
  no_json: () => 'the profile is not JSON',
  invalid: ({ place }: { place: string }) =>
    `the profile is invalid at ${quoted(place, 80)}: a rule has id, text and either findings or field with in`,
})
