import { describe, expect, it } from 'vitest'
import { boundsOf } from '../../scripts/bounds.ts'

/** Whether an input of this size is read, kept or shown whole; whether so many run at the same time. */
export type Fits = (n: number) => boolean | Promise<boolean>
/** A bound of the code, by its file and constant. */
export type BoundRow = readonly [place: string, bound: number, fits: Fits]

/** Tests each bound at the bound and one step beyond, and that the code has it. */
export function testBounds(rows: readonly BoundRow[]): void {
  it.each(rows)('%s: %i fit, and one more does not', async (_, bound, fits) => {
    expect([await fits(bound), await fits(bound + 1)]).toEqual([true, false])
  })
  describe('the table', () => {
    const known = new Set(boundsOf('.').map(({ place }) => place))
    it('names constants of the code alone', () =>
      expect(rows.map(([place]) => place).filter((place) => !known.has(place))).toEqual([]))
  })
}

/** `n` values, made from their places. */
export const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i))

/** So many characters. */
export const text = (n: number): string => 'x'.repeat(n)

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
