import { type Parsed, parsed, problem } from './problem.ts'
import { valueProblem } from './value-problems.ts'

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const PART = /(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h|d)/y

/**
 * Reads a duration such as `30s`, `1.5s` or `1m30s` into milliseconds (a positive integer, rounded; at most 32
 * characters). A sign, an exponent, a bare number and zero are refused.
 */
export function parseDuration(text: string): Parsed<number> {
  const refused = () => problem(valueProblem('duration', { text: text.slice(0, 100) }))
  if (text.length === 0 || text.length > 32) return refused()
  let total = 0
  PART.lastIndex = 0
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text)
    if (!match) return refused()
    total += Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  }
  const ms = Math.round(total)
  return ms > 0 && Number.isSafeInteger(ms) ? parsed(ms) : refused()
}

/** Formats milliseconds in the shortest exact form that {@link parseDuration} accepts: `1m30s`, `1500ms`. */
export function formatDuration(ms: number): string {
  if (ms % 1_000 !== 0) return `${ms}ms`
  if (ms >= 2 * UNIT_MS.d && ms % UNIT_MS.d === 0) return `${ms / UNIT_MS.d}d`
  const hours = Math.floor(ms / UNIT_MS.h)
  const minutes = Math.floor((ms % UNIT_MS.h) / UNIT_MS.m)
  const seconds = (ms % UNIT_MS.m) / UNIT_MS.s
  return `${hours ? `${hours}h` : ''}${minutes ? `${minutes}m` : ''}${seconds || ms === 0 ? `${seconds}s` : ''}`
}

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
