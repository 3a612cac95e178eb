import { errorsOf } from '../../base/errors.ts'
import { problemsOf, quoted, shown } from '../../base/problem.ts'

type Text = { text: string }

/** What is wrong with a parameter of bulk jobs. */
export const jobParamProblem = problemsOf('job_param', {
  column: () => 'a column is a name of 1 to 200 characters, or a number',
  records: ({ text }: Text) => `${quoted(text, 40)} is not a whole number of records`,
  word: ({ text }: Text) => `${quoted(text, 40)} is not a result or reason`,
})

/** Errors of the input of bulk jobs. */
export const jobInputError = errorsOf('job_input', {
  selector: {
    code: 'invalid_parameter',
    detail: ({ kind }: { kind: string }) => `selector is for jobs of kind check, not ${shown(kind, 60)}`,
  },
  no_list: {
    code: 'unsupported_media_type',
    detail: () =>
      'send the list as the body, with its Content-Type: text/csv, text/plain, application/x-ndjson or application/json',
  },
})
