import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Size of the young generation, both semi-spaces together, in bytes. V8 would grow it to 128 MB; at 2 MB every answer takes a sixth longer. */
const YOUNG = 16 * 1_048_576
/** Rounds of 1,000 objects within which it must have grown; it takes 7. */
const MAX_ROUNDS = 400

/**
 * Keeps the heap of a long-running server close to what is in use: on a machine with much memory V8 lets it grow to several times that before it collects garbage.
 * Call it before anything else is loaded. docs/benchmarks.md has the savings and the cost.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=40') // collect the old generation after growth by 40 %, not by 300 %
  // V8 reads the size limit of the young generation only at process start, but its growth factor each time: grow once by 8, then never again.
  setFlagsFromString('--semi-space-growth-factor=8')
  const alive: object[][] = []
  while (youngBytes() < YOUNG && alive.length < MAX_ROUNDS)
    alive.push(Array.from({ length: 1_000 }, () => ({ at: [0] })))
  setFlagsFromString('--semi-space-growth-factor=1')
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
