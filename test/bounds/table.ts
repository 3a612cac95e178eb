import { describe, expect, it } from 'vitest'

/**
 * Bounds of what reads, writes and keeps, at the bound and one step beyond: a bound by its place, its number, and
 * whether an input of a size is read, shown or kept whole.
 */
export type BoundRow = readonly [place: string, bound: number, fits: (n: number) => boolean | Promise<boolean>]

/** A test for each row: what has the size of the bound fits, and what is one larger does not. */
export function testBounds(rows: readonly BoundRow[]): void {
  describe.each(rows)('%s', (_, bound, fits) => {
    it('at the bound, and one beyond', async () => {
      expect([await fits(bound), await fits(bound + 1)]).toEqual([true, false])
    })
  })
}

/** `n` things. */
export const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i))
/** A text of `n` characters. */
export const text = (n: number): string => 'x'.repeat(n)
/** `n` tags of a record. */
export const tags = (n: number): string => times(n, (i) => `x${i}=1`).join('; ')
/** Whether it is read; what it throws does not matter. */
export const isRead = (reading: Promise<unknown>): Promise<boolean> =>
  reading.then(
    () => true,
    () => false,
  )
/** Whether a call throws nothing, and rejects with nothing. */
export async function isTaken(call: () => unknown): Promise<boolean> {
  try {
    await call()
    return true
  } catch {
    return false
  }
}

/** Counts how many calls run at the same time: each waits until nothing else begins. */
export function meter(): { readonly run: () => Promise<void>; readonly most: () => number } {
  let [running, most] = [0, 0]
  return {
    run: async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 2))
      running--
    },
    most: () => most,
  }
}
