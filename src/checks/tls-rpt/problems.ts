import { type Problem, problemsOf, quoted } from '../../base/problem.ts'

/** What is wrong with a TLSRPT record or with one of its destinations. */
export const tlsRptProblem = problemsOf('tls_rpt', {
  no_rua: () => 'rua is missing',
  no_address: ({ text, why }: { text: string; why: Problem }, say) =>
    `rua has no usable address: ${quoted(text)}: ${say(why)}`,
  scheme: () => 'not a mailto or https address',
})
