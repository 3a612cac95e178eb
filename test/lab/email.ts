import { type Email, parseEmail } from '../../src/names/email.ts'

/** A parsed address, for literals that are known to be valid. Throws for invalid text. */
export function email(text: string): Email {
  const result = parseEmail(text)
  if (!result.ok) throw new TypeError(result.problem.text)
  return result.value
}
