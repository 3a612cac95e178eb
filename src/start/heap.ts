import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Size of the young generation, both semi-spaces together, in bytes. V8 would grow it to 128 MB; at 2 MB every answer
 * takes a sixth longer.
 */
const YOUNG = 16 * 1_048_576
/** Number of rounds of 1,000 objects within which it must have grown; it takes 7. */
const ROUNDS = 400

/**
 * Keeps the heap of a long-running server close to its live size: on a machine with much memory V8 lets it grow to
 * several times that before it collects garbage. Call it before anything else is loaded. contributing/benchmarks.md has
 * the savings and the cost.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=40') // collect the old generation after growth by 40 %, not by 300 %
  setGrowth()
  const alive: object[][] = []
  while (youngBytes() < YOUNG && alive.length < ROUNDS) alive.push(Array.from({ length: 1_000 }, () => ({ at: [0] })))
  setGrowth()
  // While little is allocated V8 shrinks it to 1 MB, which is too small when the load returns: with 1 MB, garbage
  // collection takes four times the processor time.
  new PerformanceObserver(setGrowth).observe({ type: 'gc' })
}

/** V8's initial size: semi-spaces of 1 MB, one of which may not exist yet. */
const SMALLEST = 2 * 1_048_576

/**
 * Lets the young generation grow to its size in one step, and not beyond. V8 reads the size limit only at process
 * start, but the growth factor each time.
 */
function setGrowth(): void {
  const factor = Math.max(1, Math.floor(YOUNG / Math.max(SMALLEST, youngBytes())))
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
