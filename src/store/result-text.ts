/** Some results as one text, which the database has made: a download handles a string for some thousand rows, and not each row. */
export type ResultText = {
  readonly text: string
  readonly rows: number
  /** The line of the last of them. */
  readonly last: number
}

/** Between rows and between cells of a text of cells (postgres/result-texts.ts); no cell has one. */
export const ROW_END = '\u001e'
export const CELL_END = '\u001f'
