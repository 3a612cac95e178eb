import { type AppError, errorsOf } from '../base/errors.ts'
import { quoted } from '../base/problem.ts'
import { counted, printable } from '../base/text.ts'

type Max = { max: number }

/** Errors of pages. */
export const pageError = errorsOf('page', {
  no_answer: { code: 'timeout', detail: () => 'the request ended without an answer; try again' },
  list_kind: {
    code: 'invalid_parameter',
    detail: ({ known }: { known: readonly string[] }) => `kind must be one of ${known.join(', ')}`,
  },
  empty_list: { code: 'empty_list', detail: () => 'the list has no rows: it is empty or has only a header' },
  file_too_large: {
    code: 'payload_too_large',
    detail: ({ max }: Max) => `without JavaScript, a file may have at most ${max} bytes`,
  },
  no_form: { code: 'invalid_parameter', detail: () => 'the body is not a form with a file' },
  busy: {
    code: 'overloaded',
    detail: ({ count }: { count: number }) =>
      `${counted(count, 'request of a page is', 'requests of pages are')} in progress; try again in a moment`,
  },
  foreign_stream: {
    code: 'forbidden',
    detail: () => 'only a page of this service may open its event stream: reload the page',
  },
  no_document: {
    code: 'not_found',
    detail: ({ name }: { name: string }) => `no document has the name ${quoted(name)}`,
  },
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
