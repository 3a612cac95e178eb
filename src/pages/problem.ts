import type { AppError } from '../base/errors.ts'
import { printable } from '../base/text.ts'

/** What was wrong, for people: without the place of a parameter, which the message begins with for programs (`records.0: …`). */
export const problemIn = ({ problem }: Pick<AppError, 'problem'>): string => printable(problem.text, 1_000)

/** The same as the end of a sentence. */
export function sentenceOf(error: Pick<AppError, 'problem'>): string {
  const words = problemIn(error)
  return /[.!?…]$/.test(words) ? words : `${words}.`
}
