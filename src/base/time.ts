/** The last millisecond that a Date can represent (ECMA-262 §21.4.1.1). */
const LAST_MS = 8_640_000_000_000_000

/** Whether an external value is a time in ms since 1970 that a Date can represent. */
export const isTimeMs = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= LAST_MS
