import { readFileSync } from 'node:fs'
import { invalidFlag } from '../base/errors.ts'
import { systemWords } from '../base/system-words.ts'
import { startProblem } from './problems.ts'

/** The text of the file that an option names. Throws AppError if it cannot be read. */
export function optionFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw invalidFlag(flag, startProblem('unreadable', { path, reason: systemWords(cause) }), { cause })
  }
}
