import type { Clocks } from '../base/clock.ts'

/**
 * The clocks of this process: `monotonic` starts at the time of `now`, and steps of the system clock do not change it.
 */
export function processClocks(): Clocks {
  const originMs = Date.now() - performance.now()
  return { now: () => Date.now(), monotonic: () => Math.round(originMs + performance.now()) }
}
