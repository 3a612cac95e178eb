/** The last millisecond that a Date can hold (ECMA-262 §21.4.1.1). */
const LAST_MS = 8_640_000_000_000_000

/** Whether a value that came from outside is a time in ms since 1970 that a Date can hold. */
export const isTimeMs = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= LAST_MS
