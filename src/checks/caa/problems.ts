import { problemsOf, quoted } from '../../base/problem.ts'

type Text = { text: string }

/** What is wrong with the value of a CAA property. */
export const caaProblem = problemsOf('caa', {
  too_long: ({ max }: { max: number }) => `the value is longer than ${max} characters`,
  issuer: ({ text }: Text) => `${quoted(text, 80)} is not the domain of a certificate authority`,
  parameter: ({ text }: Text) => `${quoted(text, 80)} is not a parameter; write tag=value`,
})
