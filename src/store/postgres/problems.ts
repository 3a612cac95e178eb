import { errorsOf } from '../../base/errors.ts'
import { quoted, shown } from '../../base/problem.ts'
import { counted } from '../../base/text.ts'
import type { NotOwn } from '../own-file.ts'
import { NOT_OWN } from '../problems.ts'

type Path = { path: string }
type Reason = { reason: string }

const LAUNCH = 'fix this, or set a PostgreSQL server with --database-url'

export const databaseError = errorsOf('database', {
  upstream_unavailable: {
    away: () => 'the database does not answer; try again in a moment',
    not_opened: () => 'the database could not be opened; the log has the reason',
    standby: () => 'the database server is a read-only standby: set the primary with --database-url',
    newer: ({ version, supported }: { version: number; supported: number }) =>
      `the database has schema version ${version} of a newer mailsonde; this one supports up to ${supported}: upgrade mailsonde`,
  },
})

export const privateDatabaseError = errorsOf('private_database', {
  upstream_unavailable: {
    not_started: ({ reason }: Reason) => `the private database server did not start (${shown(reason)}); ${LAUNCH}`,
    stopped: ({ log }: { log: string }) =>
      `the private database server stopped immediately; ${LAUNCH}. End of its log: ${shown(log, 600)}`,
    initdb: ({ status, log }: { status: number; log: string }) =>
      `the private database could not be created: initdb ended with status ${status}; ${LAUNCH}. Its output: ${shown(log, 600)}`,
    late: ({ log }: { log: string }) =>
      `the private database server did not accept a connection in time; ${LAUNCH}. End of its log: ${shown(log, 600)}`,
    not_installed: ({ name }: { name: string }) =>
      `the built-in PostgreSQL is not installed (package ${shown(name, 60)}): install mailsonde again with --include=optional, or PostgreSQL on this machine, or set a server with --database-url`,
    not_linked: ({ name, reason }: { name: string; reason: string }) =>
      `the libraries of the built-in PostgreSQL lack their links, which cannot be made (${shown(reason, 200)}): run npm rebuild ${shown(name, 60)}`,
    no_binaries: ({ platform }: { platform: string }) =>
      `there is no built-in PostgreSQL for ${shown(platform, 60)}: install PostgreSQL on this machine, or set a server with --database-url`,
    no_programs: () =>
      'this machine has no PostgreSQL: install it (Debian, Ubuntu: apt-get install postgresql), name the folder of its programs with --postgres-bin, or set a server with --database-url',
    too_old: ({ majors, oldest }: { majors: string; oldest: number }) =>
      `PostgreSQL ${shown(majors, 100)} of this machine is too old: install ${oldest} or later, or set a server with --database-url`,
    other_version: ({ major, majors }: { major: number; majors: string }) =>
      `the private database was made by PostgreSQL ${major}, and this machine has ${shown(majors, 100)}: install ${major} or name the folder of its programs with --postgres-bin; to go on with another version, take the data there with db backup and db restore`,
    folder: ({ path, reason }: Path & Reason) =>
      `${shown(path)} cannot be the folder of the private database: ${shown(reason)}. Remove it, or set another --data-dir`,
    file: ({ path, why }: Path & { why: NotOwn }) =>
      `${shown(path)} is not used: ${NOT_OWN[why]}. Remove it, or set another --data-dir`,
    in_use: ({ path }: Path) =>
      `another mailsonde process uses the private database in ${shown(path)}: use that process with --server, or set another --data-dir`,
  },
  invalid_parameter: {
    bin: ({ path }: Path) => `${quoted(path)} does not have initdb and postgres that run on this machine`,
    bin_too_old: ({ path, major, oldest }: Path & { major: number; oldest: number }) =>
      `${quoted(path)} has PostgreSQL ${major}: ${oldest} or later is needed`,
    user: ({ user }: { user: string }) =>
      `${quoted(user)} is not an unprivileged user of this machine: choose an existing one`,
  },
})

export const newJobError = errorsOf('new_job', {
  too_many_jobs: {
    too_many: ({ max }: { max: number }) =>
      `${counted(max, 'job is', 'jobs are')} open, the maximum for a key: wait until some are done, or cancel or remove them`,
  },
})

export const uploadError = errorsOf('upload', {
  wrong_offset: {
    removed: () => 'the job was removed',
    continued: ({ received }: { received: number }) =>
      `another upload continued this one: ${counted(received, 'record was', 'records were')} received`,
  },
})

/** Errors of a backup that is to be restored. */
export const backupError = errorsOf('backup', {
  invalid_parameter: {
    other: ({ path }: Path) => `${shown(path)} is not a mailsonde backup, or is from another version`,
    damaged: ({ path }: Path) => `${shown(path)} is damaged or truncated: its checksum does not match`,
    header: ({ path }: Path) => `${shown(path)} has no header`,
    newer: ({ path, version, supported }: Path & { version: number; supported: number }) =>
      `${shown(path)} has schema version ${version} of a newer mailsonde; this one supports up to ${supported}`,
    line: ({ path }: Path) => `${shown(path)} has a line that is too long`,
    unreadable: ({ path, reason }: Path & Reason) => `${shown(path)} cannot be read as a backup: ${shown(reason)}`,
    table: () => 'the backup contains an unknown table',
    tables: ({ path, count, expected }: Path & { count: number; expected: number }) =>
      `${shown(path)} has ${counted(count, 'table')} instead of ${expected}`,
    sequence: ({ path, table }: Path & { table: string }) =>
      `${shown(path)} has rows in ${quoted(table)} beyond the sequence that numbers them`,
    content: ({ path, reason }: Path & Reason) => `${shown(path)} does not fit its schema: ${shown(reason)}`,
    json: ({ path, table, column }: Path & { table: string; column: string }) =>
      `${shown(path)} does not fit its schema: a row of ${quoted(table)} has other JSON in ${quoted(column)}`,
    row: ({ path, table, reason }: Path & Reason & { table: string }) =>
      `${shown(path)} does not fit its schema: a row of ${quoted(table)} cannot be read (${shown(reason)})`,
    locks: () =>
      'the database server has no room for the locks of so many tables: raise its max_locks_per_transaction, restart it, and restore again',
    job: () => 'the backup contains a job without the table of its rows',
    in_use: ({ count }: { count: number }) =>
      `${counted(count, 'connection of a running service is', 'connections of running services are')} open: stop the services first`,
  },
})

/** Refusals before the store is full. */
export const storageError = errorsOf('storage', {
  too_many_rows: {
    open_rows: ({ rows, max }: { rows: number; max: number }) =>
      `the open jobs of this key have ${counted(rows, 'row')} of at most ${max} (--max-open-rows): wait until some have ended`,
  },
  too_much_stored: {
    key: ({ max }: { max: number }) =>
      `this key stores ${mebibytes(max)} (--max-key-storage): delete jobs, stored answers or monitors, or wait until some expire`,
  },
  storage_full: {
    database: ({ max }: { max: number }) =>
      `the database takes up ${mebibytes(max)} (--max-storage): delete jobs or stored answers, or wait until some expire`,
    mail: ({ max }: { max: number }) => `reports by mail take up ${mebibytes(max)}, their share of --max-storage`,
    disk: ({ min }: { min: number }) =>
      `less than ${mebibytes(min)} are free on the disk (--min-free-disk): delete jobs, or make room`,
  },
})
const mebibytes = (octets: number): string => `${Math.round(octets / 1024 / 1024)} MiB`
