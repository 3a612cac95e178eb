import { printable } from '../base/text.ts'

/** Interval between lines of progress where none can be overwritten, ms. */
const EVERY_MS = 30_000

/** Shows a line of progress. An empty text removes the line on a terminal. The last line is always shown. */
export type Tell = (line: string, isLast?: boolean) => void

/** Writes progress: on a terminal in one line, which is overwritten; elsewhere the first line, the last, and one every 30 s, so that a log stays short. `now`: monotonic ms. */
export function progressLines(write: (text: string) => void, isTerminal: boolean, now: () => number): Tell {
  let writtenAtMs = Number.NEGATIVE_INFINITY
  return (line, isLast = false) => {
    if (isTerminal) write(`\r\u001b[K${printable(line, 200)}`)
    else if (line !== '' && (isLast || now() - writtenAtMs >= EVERY_MS)) {
      writtenAtMs = now()
      write(`${printable(line, 200)}\n`)
    }
  }
}
