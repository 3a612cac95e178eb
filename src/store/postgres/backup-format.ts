/** The first line of a backup; the number is the version of the format. */
export const MAGIC = 'mailsonde backup 1'

/** The second line: the subject of the backup. */
export type BackupHeader = {
  readonly schema: number
  readonly created_at: string
  /** The last value of each sequence, by its name. */
  readonly sequences: Readonly<Record<string, string>>
}

/** Precedes the rows of a table, which are in the text format of COPY and end with a line `\.`. */
export type TableHeader = {
  readonly table: string
  readonly columns: readonly string[]
}

/** The last line: the number of tables, and the SHA-256 of all octets before it. */
export type BackupTrailer = { readonly tables: number; readonly sha256: string }

/** Ends the rows of a table: no row looks like this, because a backslash in a row is doubled. */
export const END_OF_ROWS = '\\.'

/** A name as an SQL identifier: from the catalogue, and from a backup, where {@link isName} checks it. */
export const quoted = (name: string): string => `"${name}"`
export const isName = (text: unknown): text is string =>
  typeof text === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(text)
