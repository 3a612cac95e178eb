import { errorsOf } from '../../base/errors.ts'
import { problemsOf, quoted } from '../../base/problem.ts'

type Named = { readonly domain: string }

/** Errors of the questions about reports. */
export const reportsError = errorsOf('reports_question', {
  other_domain: {
    code: 'forbidden',
    detail: ({ domain }: Named) => `the key is not made for ${quoted(domain)} (keys create --domains)`,
  },
  no_body: { code: 'bad_report', detail: () => 'the request has no body: send a report, a message, gzip, zip or mbox' },
  period: {
    code: 'invalid_parameter',
    detail: ({ from, to }: { from: string; to: string }) => `from ${quoted(from)} is after to ${quoted(to)}`,
  },
  too_long: {
    code: 'invalid_parameter',
    detail: ({ max }: { max: number }) => `from and to are more than ${max} days apart`,
  },
  no_sender: {
    code: 'not_found',
    detail: ({ sender }: { sender: string }) => `no sender of this domain and time has the id ${quoted(sender, 120)}`,
  },
  policy_missing: { code: 'missing_parameter', detail: () => 'give policy, or with: a record to try' },
})

/** What is wrong with the text of a parameter. */
export const reportsParamProblem = problemsOf('reports_param', {
  date: ({ text }: { text: string }) => `${quoted(text)} is not a date such as 2026-11-23`,
})
