import { sleep } from '../../base/deadline.ts'
import { type AppError, codeOf } from '../../base/errors.ts'
import { databaseError } from './problems.ts'

/** Error codes of Node.js for an unreachable server. */
const UNREACHED: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]
/**
 * SQLSTATEs that are temporary or that the operator can correct: connection exceptions (08), insufficient resources
 * such as a full disk (53), system errors (58), a shutdown or start (57P01 to 57P03), a server that is read-only
 * because it became a standby (25006).
 */
const AWAY_STATES = /^(?:08...|53...|58...|57P0[123]|25006)$/
/** Messages of `pg` without a code. */
const AWAY_WORDS =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client (?:has encountered|was closed))/

/**
 * Whether the database is unavailable: the same statement may succeed later, on another connection. The queue reports
 * its faults as records of an error's fields.
 */
export function isAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (typeof code === 'string' && (UNREACHED.includes(code) || AWAY_STATES.test(code))) return true
  return typeof message === 'string' && AWAY_WORDS.test(message)
}

/** The fault in the form for callers: without the server's address or messages. The cause is for the log. */
export const awayError = (cause: unknown): AppError =>
  databaseError('away', undefined, {
    cause,
    retryAfterSeconds: 5,
  })

/** Interval between two attempts while the database is unavailable, ms. */
const AGAIN_MS = 500

/**
 * Repeats the step while the database is unavailable, for at most `patienceMs`; rejects with its other faults, with the
 * last error of the database, or with the signal's reason.
 */
export async function throughOutage<T>(
  step: () => Promise<T>,
  signal: AbortSignal,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const begunMs = performance.now()
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!isAway(error) || performance.now() - begunMs >= patienceMs) throw error
      await sleep(AGAIN_MS, signal)
    }
  }
}

/** The same function; callers get a readable error if the database is unavailable ({@link awayError}). */
export const told =
  <A extends readonly unknown[], T>(step: (...asked: A) => Promise<T>) =>
  async (...asked: A): Promise<T> => {
    try {
      return await step(...asked)
    } catch (error) {
      throw isAway(error) ? awayError(error) : error
    }
  }

const DEADLOCK = '40P01'
/** Maximum number of attempts at a transaction. */
const MAX_TRIES = 5

/**
 * Repeats a transaction that the server ended because of a deadlock, which undid it: a worker may hold the rows of a
 * job while it waits for the job, and the removal of the job the other way round.
 */
export async function afterDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction()
    } catch (error) {
      if (codeOf(error) !== DEADLOCK || tries === MAX_TRIES) throw error
    }
  }
}
