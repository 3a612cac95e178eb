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
