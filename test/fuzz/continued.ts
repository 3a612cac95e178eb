import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Bounds, Fuzzed } from './run.ts'
import type { Target } from './targets.ts'

/** Cases of one target between two writings of the counts. */
const SLICE = 500_000

type Count = { readonly cases: number; readonly slices: number; readonly finds: number }

/**
 * A run that can be stopped and continued: `file` has the cases of each target so far, and one target after another is
 * brought to `bounds.cases`, those that read streams, which are the slowest, last. Each slice of a target has a seed of
 * its own. A target with a find is left there. The cases of this run.
 */
export async function continued(
  file: string,
  targets: readonly Target[],
  { cases, ms, seed }: Bounds,
  search: (target: Target, bounds: Bounds) => Promise<Fuzzed>,
): Promise<number> {
  const counts = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Count>) : {}
  const untilMs = performance.now() + ms
  let sum = 0
  for (const target of targets.toSorted((a, b) => (a.msPerKiB ?? 0) - (b.msPerKiB ?? 0))) {
    for (;;) {
      const had = counts[target.name] ?? { cases: 0, slices: 0, finds: 0 }
      const leftMs = untilMs - performance.now()
      if (had.cases >= cases || leftMs <= 0) break
      const slice = { cases: Math.min(SLICE, cases - had.cases), ms: leftMs, seed: seed + had.slices }
      const { cases: tried, find } = await search(target, slice)
      sum += tried
      counts[target.name] = { cases: had.cases + tried, slices: had.slices + 1, finds: had.finds + (find ? 1 : 0) }
      writeFileSync(file, `${JSON.stringify(counts, null, 1)}\n`)
      if (find) break
    }
  }
  return sum
}
