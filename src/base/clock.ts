/** A world's two clocks, ms: `now` may step, `monotonic` does not. */
export type Clocks = { readonly now: () => number; readonly monotonic: () => number }

/** A moment of the monotonic clock as a time that may be shown or stored; 0 stands for never and stays 0. */
export const toWall = (clocks: Clocks, ms: number): number => (ms === 0 ? 0 : ms + stepMs(clocks))

/** A time that was stored or told, as a moment of the monotonic clock; 0 stays 0. */
export const fromWall = (clocks: Clocks, ms: number): number => (ms === 0 ? 0 : ms - stepMs(clocks))

/** How far the wall clock has stepped since the process began, in whole seconds: a clock that is slewed by less makes no time look changed. */
export const stepMs = ({ now, monotonic }: Clocks): number => Math.round((now() - monotonic()) / 1_000) * 1_000
