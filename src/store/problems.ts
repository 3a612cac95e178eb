import { problemsOf, shown } from '../base/problem.ts'
import type { NotOwn } from './own-file.ts'

type Path = { path: string }
type Cause = { path: string; reason: string }
type Max = { max: number }

const DAMAGE = { no_object: 'it is not a JSON object', no_rows: 'it has no rows', row: 'a row is not valid' } as const

/** Why the store could not do it. `reason` is that of the system. */
export const storeProblem = problemsOf('store', {
  value_too_large: ({ key, count, max }: { key: string; count: number } & Max) =>
    `the row ${shown(key)} has ${count} bytes, more than ${max}`,
  full: ({ max }: Max) => `the limit of ${max} rows is reached`,
  database: ({ reason }: { reason: string }) => `the database returned an error: ${shown(reason)}`,
  damaged: ({ path, why }: Path & { why: keyof typeof DAMAGE }) => `${shown(path)} is damaged: ${DAMAGE[why]}`,
  newer: ({ path, version }: Path & { version: number }) =>
    `${shown(path)} was written by a later version of the program (format ${version})`,
  too_large: ({ path, count, max }: Path & { count: number } & Max) =>
    `${shown(path)} has ${count} bytes, more than ${max}`,
  locked: ({ path, holder }: Path & { holder: string }) =>
    `${shown(path)} is held by another process (${shown(holder, 40)}); no lock after 10 s`,
  not_created: ({ path, reason }: Cause) => `${shown(path)} could not be created: ${shown(reason)}`,
  not_written: ({ path, reason }: Cause) => `${shown(path)} could not be written: ${shown(reason)}`,
  not_read: ({ path, reason }: Cause) => `${shown(path)} could not be read: ${shown(reason)}`,
  not_removed: ({ path, reason }: Cause) => `${shown(path)} could not be removed: ${shown(reason)}`,
  not_renamed: ({ path, reason }: Cause) => `${shown(path)} is damaged and could not be renamed: ${shown(reason)}`,
  folder: ({ path, reason }: Cause) => `the folder of ${shown(path)} could not be created: ${shown(reason)}`,
})

export const keyFileProblem = problemsOf('key_file', {
  full: ({ path, max }: Path & Max) => `the limit of ${max} keys in ${shown(path)} is reached`,
  mode: ({ path, mode }: Path & { mode: string }) =>
    `the mode ${shown(mode, 10)} of ${shown(path)} gives other users access to the keys: chmod 600 ${shown(path)}`,
  not_read: ({ path, reason }: Cause) => `the keys of ${shown(path)} could not be read: ${shown(reason)}`,
  /** `place` is where in the file. */
  invalid: ({ path, place, reason }: Cause & { place: string }) =>
    `the keys of ${shown(path)} are not valid: ${shown(place, 60)}: ${shown(reason)}`,
  empty: ({ path }: Path) => `${shown(path)} contains no key`,
  gone: ({ path }: Path) => `${shown(path)} is missing, although keys have been created`,
  missing: ({ path }: Path) => `${shown(path)} is missing, and this host requires keys`,
})

/** Why a file in a folder that others can write is not used. */
export const NOT_OWN: Readonly<Record<NotOwn, string>> = {
  link: 'it is a link',
  not_a_file: 'it is not a regular file',
  owner: 'it belongs to another user',
  mode: 'other users may write it',
  links: 'it has a second name (a hard link)',
}
