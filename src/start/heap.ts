import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** What the young generation gets, both halves together, bytes. V8 would go to 128 MB, and at 2 MB every answer costs a sixth more. */
const YOUNG = 16 * 1_048_576
/** Rounds of 1,000 objects in which it must have grown; it takes 7. */
const MAX_ROUNDS = 400

/**
 * Keeps the heap of a long-lived server near what it really uses: on a machine with much memory V8 would let it grow to several times that before it
 * cleans up. To be called before anything is loaded. What it saves and costs is in docs/benchmarks.md.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=40') // the old generation is cleaned when it has grown by 40 %, not by 300 %
  // A limit on the young one is read at the start of the process alone; how fast it grows is read each time: once by 8, and then no more.
  setFlagsFromString('--semi-space-growth-factor=8')
  const alive: object[][] = []
  while (youngBytes() < YOUNG && alive.length < MAX_ROUNDS)
    alive.push(Array.from({ length: 1_000 }, () => ({ at: [0] })))
  setFlagsFromString('--semi-space-growth-factor=1')
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
