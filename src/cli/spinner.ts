import { printable } from '../base/text.ts'

/** Time without an answer after which the spinner appears, and the time between two of its frames, ms. */
const AFTER_MS = 400
const EVERY_MS = 200
const FRAMES = ['|', '/', '-', '\\'] as const

/** Shows on standard error that work is in progress, and for how long; removes the line at the end. `tell` is undefined if there is no terminal. */
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
  const timer = setInterval(show, EVERY_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
    if (frame > 0) tell('')
  }
}
