import { type AppError, errorsOf } from '../base/errors.ts'
import { quoted } from '../base/problem.ts'
import { counted, printable } from '../base/text.ts'

type Max = { max: number }

export const pageError = errorsOf('page', {
  timeout: { no_answer: () => 'the request ended without an answer; try again' },
  invalid_parameter: {
    list_kind: ({ known }: { known: readonly string[] }) => `kind must be one of ${known.join(', ')}`,
    no_form: () => 'the body is not a form with a file',
  },
  empty_list: { empty_list: () => 'the list has no rows: it is empty or has only a header' },
  payload_too_large: {
    file_too_large: ({ max }: Max) => `the file is too large for a form: at most ${max / 1_048_576} MiB`,
  },
  overloaded: {
    busy: ({ count }: { count: number }) =>
      `${counted(count, 'request of a page is', 'requests of pages are')} in progress; try again in a moment`,
  },
  forbidden: { foreign_stream: () => 'only a page of this service may open its event stream: reload the page' },
  not_found: { no_document: ({ name }: { name: string }) => `no document has the name ${quoted(name)}` },
})

/**
 * What was wrong, for people: without the place of a parameter, which the message begins with for programs
 * (`records.0: …`).
 */
export const problemIn = ({ problem }: Pick<AppError, 'problem'>): string => printable(problem.text, 1_000)

/** The same as the end of a sentence. */
export function sentenceOf(error: Pick<AppError, 'problem'>): string {
  const words = problemIn(error)
  return /[.!?…]$/.test(words) ? words : `${words}.`
}
