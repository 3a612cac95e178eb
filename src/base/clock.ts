/** A world's two clocks, ms: `now` may step, `monotonic` does not. */
export type Clocks = { readonly now: () => number; readonly monotonic: () => number }

/** A moment of the monotonic clock as a time for display or storage; 0 stands for never and stays 0. */
export const toWall = (clocks: Clocks, ms: number): number => (ms === 0 ? 0 : ms + stepMs(clocks))

/** A stored or received time as a moment of the monotonic clock; 0 stays 0. */
export const fromWall = (clocks: Clocks, ms: number): number => (ms === 0 ? 0 : ms - stepMs(clocks))

/**
 * How far the wall clock has stepped since the process started, in whole seconds: slewing by less does not change a
 * displayed time.
 */
export const stepMs = ({ now, monotonic }: Clocks): number => Math.round((now() - monotonic()) / 1_000) * 1_000

/** The day of a time in ms, UTC: `2026-11-23`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The last millisecond that a Date can represent (ECMA-262 §21.4.1.1). */
const LAST_MS = 8_640_000_000_000_000

/** Whether an external value is a time in ms since 1970 that a Date can represent. */
export const isTimeMs = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= LAST_MS
