import { readFileSync } from 'node:fs'
import { fileFault, invalidFlag } from '../base/errors.ts'
import { type OwnProfiles, PROFILE_NAMES } from '../profiles/domain.ts'
import { MAX_PROFILE, parseOwnProfile } from '../profiles/profile.ts'
import { startProblem } from './problems.ts'

/** The operator's own profiles. Throws AppError for a file that is none, or whose profile has the name of another. */
export function ownProfiles(paths: readonly string[]): OwnProfiles {
  const names: string[] = [...PROFILE_NAMES]
  return paths.map((path) => {
    const read = parseOwnProfile(textOf(path))
    if (!read.ok) throw invalidFlag('own-profile', startProblem('invalid_file', { path, why: read.problem }))
    const { name } = read.value
    if (names.includes(name)) throw invalidFlag('own-profile', startProblem('same_profile', { path, name }))
    names.push(name)
    return read.value
  })
}

function textOf(path: string): string {
  try {
    return readFileSync(path)
      .subarray(0, MAX_PROFILE + 1)
      .toString('utf8')
  } catch (error) {
    throw invalidFlag('own-profile', startProblem('unreadable', { path, reason: fileFault(error) }))
  }
}
