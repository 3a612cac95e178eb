import fc from 'fast-check'
import { edit, edited, MAX_INPUT } from './arbitraries.ts'
import { type Coverage, coversMore, type Missed } from './coverage.ts'
import { type Bounds, type Fuzzed, tried } from './run.ts'
import type { Target } from './targets.ts'

/** Inputs between two looks at the coverage: a look costs some milliseconds. */
const BATCH = 1_024
/** Of a batch, those that the target's own generator makes; the others are edits of what is kept. */
const FRESH = 256
/** Inputs that are kept because they covered something new; far above what any target has blocks. */
const MAX_KEPT = 5_000

/**
 * Tries inputs of one target until `cases` or `ms` is reached, led by coverage: an input that runs a block of the code
 * under test that none before it ran is kept, and most later inputs are edits of those that were kept, or of two of
 * them joined. Ends at the first find, which is not made smaller.
 */
export async function guided({ add }: Coverage, target: Target, { cases, ms, seed }: Bounds): Promise<Fuzzed> {
  const kept: string[] = []
  const about = { target: target.name, slowestMs: 0, cases: 0 }
  const began = performance.now()
  let missed: Missed = new Map()
  for (let turn = 0; about.cases < cases && performance.now() - began < ms; turn++) {
    const inputs = batch(target, kept, seed + turn)
    for (const input of inputs) {
      const at = performance.now()
      const problem = await tried(target, input)
      about.slowestMs = Math.max(about.slowestMs, performance.now() - at)
      about.cases++
      if (problem !== undefined) return { ...about, find: { target: target.name, input, problem } }
    }
    const all = add(missed)
    if (coversMore(missed, all)) kept.push(...(await covering(target, add, inputs, missed)).inputs)
    kept.splice(MAX_KEPT)
    missed = all
  }
  return about
}

/**
 * Those of the inputs that cover something that those before them do not, found by halves, and what is missed after all
 * of them.
 */
async function covering(
  target: Target,
  add: Coverage['add'],
  inputs: readonly string[],
  before: Missed,
): Promise<{ readonly inputs: readonly string[]; readonly missed: Missed }> {
  for (const input of inputs) await tried(target, input)
  const missed = add(before)
  if (!coversMore(before, missed)) return { inputs: [], missed: before }
  if (inputs.length === 1) return { inputs, missed }
  const half = inputs.length >> 1
  const first = await covering(target, add, inputs.slice(0, half), before)
  const second = await covering(target, add, inputs.slice(half), first.missed)
  return { inputs: [...first.inputs, ...second.inputs], missed: second.missed }
}

const choices = fc.tuple(fc.nat(), fc.nat(), fc.array(edit, { minLength: 1, maxLength: 4 }))

function batch(target: Target, kept: readonly string[], seed: number): readonly string[] {
  const fresh = fc.sample(target.input, { numRuns: kept.length === 0 ? BATCH : FRESH, seed })
  if (kept.length === 0) return fresh
  const edits = fc.sample(choices, { numRuns: BATCH - FRESH, seed })
  return [
    ...fresh,
    ...edits.map(([one, other, changes]) => {
      const parent = kept[one % kept.length]!
      const second = kept[other % kept.length]!
      // One in eight is the beginning of one and the end of another.
      const joined =
        one % 8 === 0 ? parent.slice(0, other % (parent.length + 1)) + second.slice(one % (second.length + 1)) : parent
      return changes.reduce(edited, joined).slice(0, MAX_INPUT)
    }),
  ]
}
