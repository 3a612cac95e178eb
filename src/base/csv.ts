/** `spreadsheet`: no cell is a formula. */
export type CsvStyle = 'plain' | 'spreadsheet'

/**
 * A line by RFC 4180, with the delimiter of the upload; any line end is quoted. `spreadsheet`: cells that a spreadsheet
 * would interpret as a formula begin with an apostrophe. With `csv-stringify` a download takes three times the
 * processor time; a test compares these lines with its output.
 */
export function csvLine(delimiter: string, style: CsvStyle): (cells: readonly string[]) => string {
  const special = new RegExp(`["\\r\\n${delimiter === '|' ? '\\|' : delimiter}]`)
  const cellOf = (cell: string): string => {
    const safe = style === 'spreadsheet' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
    return special.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  return (cells) => `${cells.map(cellOf).join(delimiter)}\r\n`
}
