import { errorsOf } from '../base/errors.ts'
import { loadPackage } from '../own-files.ts'

/** Files of this program that are missing or damaged: nothing is known of what they would have decided. */
export const ownFileError = errorsOf('own_file', {
  internal: {
    unreadable: ({ name }: { name: string }) =>
      `the file ${name} of this program is missing or damaged: install it again`,
  },
})

/** A package that is loaded at need ({@link loadPackage}). Throws AppError if it cannot be loaded. */
export function loadTables<T>(name: string): T {
  try {
    return loadPackage(name) as T
  } catch (cause) {
    throw ownFileError('unreadable', { name }, { cause })
  }
}
