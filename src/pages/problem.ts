import type { AppError } from '../base/errors.ts'
import { printable } from '../base/text.ts'

/** What was wrong, for people: the words of an error without the path of the parameter that it begins with for programs (`records.0: …`). */
export const problemIn = ({ message }: Pick<AppError, 'message'>): string =>
  printable(message, 1_000).replace(/^[a-z_]{2,20}(?:\.[a-z_\d]{1,20}){0,3}: /, '')

/** The same as the end of a sentence. */
export function sentenceOf(error: Pick<AppError, 'message'>): string {
  const words = problemIn(error)
  return /[.!?…]$/.test(words) ? words : `${words}.`
}
