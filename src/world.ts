import type { AskServer, Resolve } from './net/dns/resolver.ts'
import type { Fetch } from './net/fetch.ts'
import type { Dial } from './net/smtp/dial.ts'
import type { Store } from './store/contract.ts'

/** Structured log lines: an event in words and its fields. Never a secret; addresses are masked by the sink. */
export type Log = {
  readonly debug: (event: string, fields?: Record<string, unknown>) => void
  readonly info: (event: string, fields?: Record<string, unknown>) => void
  readonly warn: (event: string, fields?: Record<string, unknown>) => void
  readonly error: (event: string, fields?: Record<string, unknown>) => void
}

/** Everything outside: one argument, made in `main.ts`, faked as data in tests. */
export type World = {
  readonly resolve: Resolve
  readonly askServer: AskServer
  readonly dial: Dial
  readonly fetch: Fetch
  readonly store: Store
  /** Milliseconds since the epoch, by the clock of the machine, which may step: only for times that are shown, stored, or compared with times of others. */
  readonly now: () => number
  /**
   * Whole milliseconds by a clock that never steps and goes on at the same pace: for durations, deadlines, limits, and the age of what is kept in memory. It equals `now` when the process
   * begins; `toWall` and `fromWall` (base/clock.ts) lead from one to the other.
   */
  readonly monotonic: () => number
  /** A number from 0 (included) to 1 (excluded), not to be guessed from outside. */
  readonly random: () => number
  readonly log: Log
}

/** The world for the time of one question; `signal` fires at its deadline or when the caller goes away. */
export type Ctx = World & { readonly signal: AbortSignal }
