import { invalidFlag } from '../base/errors.ts'
import { type OwnProfiles, PROFILE_NAMES } from '../profiles/domain.ts'
import { parseOwnProfile } from '../profiles/profile.ts'
import { optionFile } from './option-file.ts'
import { startProblem } from './problems.ts'

/** The operator's own profiles. Throws AppError for a file that is none, or whose profile has the name of another. */
export function ownProfiles(paths: readonly string[]): OwnProfiles {
  const names: string[] = [...PROFILE_NAMES]
  return paths.map((path) => {
    const read = parseOwnProfile(optionFile('own-profile', path))
    if (!read.ok) throw invalidFlag('own-profile', startProblem('invalid_file', { path, why: read.problem }))
    const { name } = read.value
    if (names.includes(name)) throw invalidFlag('own-profile', startProblem('same_profile', { path, name }))
    names.push(name)
    return read.value
  })
}
