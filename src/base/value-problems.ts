import { problemsOf, quoted, shown } from './problem.ts'

/** What is wrong with the value of a parameter or an option. */
export const valueProblem = problemsOf('value', {
  empty: () => 'the value is empty',
  duration: ({ text }: { text: string }) =>
    `${quoted(text, 40)} is not a duration: write a number and a unit (ms, s, m, h, d), such as 30s or 1m30s`,
  /** `min` and `max` are durations as text. */
  outside: ({ text, min, max }: { text: string; min: string; max: string }) =>
    `${shown(text, 40)} is not between ${shown(min)} and ${shown(max)}`,
  above: ({ text, max }: { text: string; max: string }) => `${shown(text, 40)} is more than ${shown(max)}`,
  boolean: ({ text }: { text: string }) => `${quoted(text, 40)} is neither true nor false`,
  whole: ({ text, min, max }: { text: string; min: number; max: number }) =>
    `${quoted(text, 40)} is not a whole number from ${min} to ${max}`,
  choice: ({ text, known }: { text: string; known: readonly string[] }) =>
    `${quoted(text, 40)} is not one of ${known.join(', ')}`,
  line: ({ max }: { max: number }) => `the text is longer than ${max} characters or contains control characters`,
  too_long: ({ max }: { max: number }) => `the value is longer than ${max} characters`,
  url: ({ text }: { text: string }) => `${quoted(text, 100)} is not an http or https URL`,
  id: ({ text, kind }: { text: string; kind: keyof typeof KINDS }) => `${quoted(text)} is not the id of ${KINDS[kind]}`,
  node_id: ({ text }: { text: string }) =>
    `${quoted(text)} is not the id of a node: 1 to 64 letters, digits, dots, underscores and hyphens`,
  node_or_word: ({ text, word }: { text: string; word: string }) =>
    `${quoted(text)} is neither ${quoted(word)} nor the id of a node`,
})

const KINDS = {
  job: 'a job',
  monitor: 'a monitor',
  webhook: 'a webhook',
  delivery: 'a delivery',
  question: 'a question for consent',
  stored: 'a stored answer',
  message_address: 'a one-time address',
  acceptance: 'an accepted finding',
  badge: 'a monitor with .svg or .json at its end',
} as const

/** ` (did you mean check?)` behind a word that is not known; nothing where no other is near. */
export const didYouMean = (meant: string | undefined): string =>
  meant === undefined ? '' : ` (did you mean ${shown(meant, 60)}?)`

/** Maximum number of edits between a word and a suggestion for it. */
const MAX_EDITS = 3

/**
 * The word of `words` that `typed` most likely means: at most 3 edits away (insert, delete, replace, swap two
 * neighbours), and with more than two fifths of its letters in common. Undefined if there is none.
 */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const lower = typed.toLowerCase().slice(0, 100)
  let best: string | undefined
  let fewest = MAX_EDITS + 1
  for (const word of words) {
    const edits = editsBetween(lower, word.toLowerCase())
    const length = Math.max(lower.length, word.length)
    if (edits < fewest && (length - edits) / length > 0.4) [best, fewest] = [word, edits]
  }
  return best
}

/** The optimal string alignment distance; one more than {@link MAX_EDITS} stands for any larger value. */
function editsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_EDITS) return MAX_EDITS + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits = Math.min(edits, before[j - 2]! + 1)
      row.push(edits)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length]!
}
