import { raced, within } from '../base/deadline.ts'
import type { Probe } from '../operations/deps.ts'

/** How long the result of a probe is valid for every caller, ms. */
export const PROBE_GOOD_MS = 1_000
/** Time limit of a probe, whoever waits for it, ms. */
const PROBE_MS = 3_000

/**
 * A probe that runs at most once a second however often it is called: callers during a run wait for it, and its result
 * is valid for a second. `now`: a clock that never steps back, ms.
 */
export function sharedProbe(probe: Probe, now: () => number = () => performance.now()): Probe {
  let running: Promise<string | undefined> | undefined
  let endedAtMs = Number.NEGATIVE_INFINITY
  return (signal) => {
    if (running === undefined || now() - endedAtMs >= PROBE_GOOD_MS) {
      endedAtMs = Number.POSITIVE_INFINITY // while it runs
      running = probe(within(PROBE_MS)).finally(() => (endedAtMs = now()))
    }
    return raced(signal, running).catch((error: unknown) => {
      if (signal.aborted) return 'no answer in time'
      throw error
    })
  }
}
