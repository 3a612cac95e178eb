import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

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
  const rest = collectAtRest()
  new PerformanceObserver(() => {
    setGrowth()
    rest()
  }).observe({ type: 'gc' })
}

/**
 * Interval at which it is looked whether a process is at rest, ms, and the share of time in which one at rest works.
 */
const LOOK_MS = 10_000
const AT_REST = 0.5
/** The same for the first look after the start, ms: some 8 s after a collection V8 shrinks the heap, in small steps. */
const FIRST_LOOK_MS = 2_000
/** Growth of the resident memory since the last collection at rest that is worth another one, bytes. */
const GROWN = 24 * 1_048_576

/**
 * Returns a function that is called after each garbage collection. It collects everything once the process is at rest
 * again: V8 keeps what a burst of work has left, above all buffers outside the heap, until the next one.
 */
function collectAtRest(): () => void {
  let [atRest, since] = [residentBytes() ?? 0, performance.eventLoopUtilization()]
  let timer: NodeJS.Timeout | undefined
  function look(): void {
    timer = undefined
    const { utilization } = performance.eventLoopUtilization(since)
    const now = residentBytes()
    if (now !== undefined && now - atRest <= GROWN) return
    if (now === undefined || utilization > AT_REST) begin()
    else {
      collect()
      atRest = residentBytes() ?? now
    }
  }
  function begin(afterMs = LOOK_MS): void {
    if (timer !== undefined) return
    since = performance.eventLoopUtilization()
    timer = setTimeout(look, afterMs).unref()
  }
  begin(FIRST_LOOK_MS)
  return begin
}

/** Resident memory, bytes; undefined without a file descriptor left, because the system tells it in a file. */
function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}

/**
 * A full collection. Its context is made for each one: with a context from the start, 10,000 verifications in flight
 * take 100 MB more.
 */
function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc: () => void = runInNewContext('gc')
  gc()
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
