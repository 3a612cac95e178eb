/** The first line of a backup; the number is that of the format. */
export const MAGIC = 'mailsonde backup 1'

/** The second line: what the backup is of. */
export type BackupHeader = {
  readonly schema: number
  readonly created_at: string
  /** The last value of each sequence, by its name. */
  readonly sequences: Readonly<Record<string, string>>
}

/** Stands before the rows of a table, which are in the text format of COPY and end with a line `\.`. */
export type TableHeader = {
  readonly table: string
  readonly columns: readonly string[]
  /** The job whose partition it is. */
  readonly partition?: number
}

/** The last line: how many tables there are, and the SHA-256 of all octets before it. */
export type BackupTrailer = { readonly tables: number; readonly sha256: string }

/** Ends the rows of a table: no row is written like this, since a backslash in it is doubled. */
export const END_OF_ROWS = '\\.'

/** A name as an identifier of SQL: from the catalogue, and from a backup, which is checked by {@link isName}. */
export const quoted = (name: string): string => `"${name}"`
export const isName = (text: unknown): text is string =>
  typeof text === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(text)
