/**
 * The edit distance of two words: insertions, deletions, replacements and swaps of neighbours (optimal string alignment). Returns `limit + 1` as soon as it
 * exceeds `limit`. Words of more than 64 characters exceed any limit.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0
  if (Math.abs(a.length - b.length) > limit || a.length > 64 || b.length > 64) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    if (Math.min(...row) > limit) return limit + 1
    before = last
    last = row
  }
  return Math.min(last[b.length]!, limit + 1)
}
