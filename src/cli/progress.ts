import { columns, printable, splitAt } from '../base/text.ts'

/** Interval between lines of progress where none can be overwritten, ms. */
const EVERY_MS = 30_000

/** Shows a line of progress. An empty text removes the line on a terminal. The last line is always shown. */
export type Tell = (line: string, isLast?: boolean) => void

/** Where progress is written. `width`: the columns of a terminal; undefined: it is none. `now`: monotonic ms. */
type Place = {
  readonly write: (text: string) => void
  readonly width: () => number | undefined
  readonly now: () => number
}

/**
 * Writes progress: on a terminal in one line, cut to its width, which is overwritten; elsewhere the first line, the
 * last, and one every 30 s, so that a log stays short.
 */
export function progressLines({ write, width, now }: Place): Tell {
  let writtenAtMs = Number.NEGATIVE_INFINITY
  return (line, isLast = false) => {
    const most = width()
    if (most !== undefined) write(`\r\u001b[K${cut(printable(line, 200), most - 1)}`)
    else if (line !== '' && (isLast || now() - writtenAtMs >= EVERY_MS)) {
      writtenAtMs = now()
      write(`${printable(line, 200)}\n`)
    }
  }
}

/** A line that would wrap could not be overwritten: the last column stays free, and what is left out is marked. */
function cut(line: string, most: number): string {
  return columns(line) <= most ? line : `${splitAt(line, most - 3)[0]}...`
}

/** Time without an answer after which the spinner appears, and the time between two of its frames, ms. */
const AFTER_MS = 400
const FRAME_MS = 200
const FRAMES = ['|', '/', '-', '\\'] as const

/**
 * Shows on standard error that work is in progress, and for how long; removes the line at the end. `tell` is undefined
 * if there is no terminal.
 */
export async function withSpinner<T>(
  words: string,
  tell: ((line: string) => void) | undefined,
  work: Promise<T>,
): Promise<T> {
  if (!tell) return work
  const begun = performance.now()
  let frame = 0
  const show = (): void => {
    const ms = performance.now() - begun
    if (ms >= AFTER_MS) tell(`${FRAMES[frame++ % FRAMES.length]} ${printable(words, 60)} ${Math.floor(ms / 1_000)} s`)
  }
  const timer = setInterval(show, FRAME_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (frame > 0) tell('')
  }
}
