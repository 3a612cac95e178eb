/** `spreadsheet`: no cell is a formula. */
export type CsvStyle = 'plain' | 'spreadsheet'

/** Controls (C0, DEL, C1) that are no part of a text: all but tab and line ends. */
const CONTROLS = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]/g

/**
 * A line by RFC 4180, with the delimiter of the upload; any line end is quoted. A control character, which a terminal
 * would obey, becomes U+FFFD; every other text is read back as it was. `spreadsheet`: cells that a spreadsheet
 * would interpret as a formula begin with an apostrophe. With `csv-stringify` a download takes three times the
 * processor time; a test compares these lines with its output.
 */
export function csvLine(delimiter: string, style: CsvStyle): (cells: readonly string[]) => string {
  const quoted = new RegExp(`["\\r\\n${delimiter === '|' ? '\\|' : delimiter}]`)
  const special = new RegExp(`${quoted.source}|${CONTROLS.source}`)
  const cellOf = (cell: string): string => {
    const safe = style === 'spreadsheet' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
    if (!special.test(safe)) return safe
    const clean = safe.replace(CONTROLS, '\ufffd')
    return quoted.test(clean) ? `"${clean.replaceAll('"', '""')}"` : clean
  }
  return (cells) => `${cells.map(cellOf).join(delimiter)}\r\n`
}
