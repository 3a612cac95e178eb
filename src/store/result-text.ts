import type { JobKind } from './postgres/schema.ts'

/**
 * Some results as one text, which the database has made: a download passes on the octets of some thousand rows, and
 * does not handle each row.
 */
export type ResultText = {
  /** UTF-8 */
  readonly octets: Buffer
  readonly rows: number
  /** The line of the last of them. */
  readonly last: number
}

/** Rows that a download reads at a time: some 2 MB of answers. */
export const DOWNLOAD_PAGE: Readonly<Record<JobKind, number>> = { verify: 2_000, blacklist: 400, check: 50 }

/** Between rows and between cells of a text of cells (postgres/result-texts.ts); no cell has one. */
export const ROW_END = '\u001e'
export const CELL_END = '\u001f'
