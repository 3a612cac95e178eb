/**
 * Code with a defect behind more steps than one random input has edits. Each step is a block of its own, so that a
 * search led by coverage takes one after the other.
 */
export function maze(text: string): number {
  if (!text.includes('%{')) return 0
  if (!text.includes('..')) return 1
  if (!text.includes('//')) return 2
  if (!text.includes('xn--')) return 3
  if (!text.includes('1e999')) return 4
  if (!text.includes('-1')) return 5
  if (!text.includes('__proto__')) return 6
  throw new Error('the end of the maze')
}
