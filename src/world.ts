import type { SeenOnce } from './base/seen-once.ts'
import type { Heavy } from './lane/heavy.ts'
import type { AskServer, Resolve } from './net/dns/resolver.ts'
import type { Fetch } from './net/fetch.ts'
import type { Dial } from './net/smtp/dial.ts'
import type { Store } from './store/contract.ts'

/** Structured log lines: an event as text and its fields. They never contain a secret; the sink masks addresses. */
export type Log = {
  readonly debug: (event: string, fields?: Record<string, unknown>) => void
  readonly info: (event: string, fields?: Record<string, unknown>) => void
  readonly warn: (event: string, fields?: Record<string, unknown>) => void
  readonly error: (event: string, fields?: Record<string, unknown>) => void
}

/** Everything outside the program: one argument, created in `start/world.ts`, faked as data in tests. */
export type World = {
  readonly resolve: Resolve
  readonly askServer: AskServer
  readonly dial: Dial
  readonly fetch: Fetch
  readonly store: Store
  /** Work that input can make long, beside the event loop. */
  readonly heavy: Heavy
  /**
   * Milliseconds since the epoch, by the system clock, which may step: only for times that are shown, stored, or
   * compared with times of other machines.
   */
  readonly now: () => number
  /**
   * Whole milliseconds by a clock that never steps and runs at a constant pace: for durations, deadlines, limits, and
   * the age of values in memory. It equals `now` when the process starts; `toWall` and `fromWall` (base/time.ts)
   * convert between the two.
   */
  readonly monotonic: () => number
  /** An unpredictable number from 0 (included) to 1 (excluded). */
  readonly random: () => number
  readonly log: Log
}

/** The world for the duration of one question; `signal` fires at its deadline or when the caller disconnects. */
export type Ctx = World & {
  readonly signal: AbortSignal
  /** What runs of monitors have seen of hosts that many domains share; absent: each question looks for itself. */
  readonly seen?: SeenOnce
  /** Where the number of queries is limited by parts (checks/questions.ts): told when a part begins and ends. */
  readonly questions?: Readonly<Record<'start' | 'end', (...parts: readonly string[]) => void>> & {
    readonly room: (part: 'guessed') => Promise<number>
    readonly expect: (addresses: readonly unknown[]) => void
    readonly isCut: () => boolean
  }
}
