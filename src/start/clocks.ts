import type { Clocks } from '../base/clock.ts'

/** The clocks of this process: `monotonic` begins at the time of `now`, and steps of the system's clock do not move it. */
export function processClocks(): Clocks {
  const originMs = Date.now() - performance.now()
  return { now: () => Date.now(), monotonic: () => Math.round(originMs + performance.now()) }
}
