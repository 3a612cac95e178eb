import { once } from './share-work.ts'

/**
 * The columns that a terminal uses for characters: none for combining ones, two for wide ones (UAX #11), otherwise one.
 */

/** Text whose characters take one column each: ASCII, Latin, and the signs of documents. */
const NARROW = /^[\x20-\x7e\u00a1-\u02ff\u2013-\u2026\u2190-\u2193\u2212\u2500-\u259f\u2713\u2715]*$/
/** Wide and fullwidth blocks of East Asian scripts, and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
const NONE = /^[\p{M}\p{Cf}\u1160-\u11ff]+$/u

/** Made with the first text that needs it: it takes 10 ms of every start. */
const segmenter = once(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

/** The characters as readers see them: a letter with its combining marks is one. */
const graphemes = (text: string): readonly string[] =>
  NARROW.test(text) ? [...text] : [...segmenter().segment(text)].map(({ segment }) => segment)

/** Columns of one grapheme: 0, 1 or 2. */
const columnsOf = (grapheme: string): number => (NONE.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

/** Columns of a text without control characters. */
export const columns = (text: string): number =>
  NARROW.test(text) ? text.length : graphemes(text).reduce((sum, one) => sum + columnsOf(one), 0)

/** The longest beginning of `text` within this many columns, and the rest; at least one grapheme is taken. */
export function splitAt(text: string, width: number): readonly [string, string] {
  if (NARROW.test(text)) return [text.slice(0, Math.max(1, width)), text.slice(Math.max(1, width))]
  let taken = ''
  let used = 0
  for (const one of graphemes(text)) {
    used += columnsOf(one)
    if (used > width && taken !== '') break
    taken += one
  }
  return [taken, text.slice(taken.length)]
}
