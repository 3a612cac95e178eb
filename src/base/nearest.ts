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
