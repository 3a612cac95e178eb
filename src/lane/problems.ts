import { AppError, type ErrorCode, errorsOf } from '../base/errors.ts'
import { problemsOf } from '../base/problem.ts'
import { LaneError } from './heavy.ts'

/** Why input has no result, where it is to blame: it is refused for good. */
export const laneProblem = problemsOf('heavy', {
  time: () => 'it takes more processor time than input of its size may take, so it was not read to its end',
  memory: () => 'it takes more memory than input may take, so it was not read to its end',
  fault: () => 'it cannot be read: the program that read it ended with a fault, which the log shows',
  remembered: () => 'it was not read again: reading the same input was ended within the last day',
})

/** Where the input is not to blame. */
const laneError = errorsOf('heavy', {
  overloaded: { full: () => 'too much is read at once; try again in a moment' },
})

/**
 * What a caller gets for an error of the lane: 400 with `code`, or 503 with `Retry-After` where others were first. Other
 * errors are returned as they are.
 *
 * Where a retry would come for ever (`isForGood`): LMTP answers 250 and counts, because the sender of a refusal is
 * forged; the SMTP listener 554, as its client is the sender; IMAP takes the message for unreadable; `-` exits with 0.
 * Otherwise: 451 and 75 (EX_TEMPFAIL), and IMAP asks again.
 */
export function readingError(error: unknown, code: Extract<ErrorCode, 'bad_report' | 'bad_message'>): unknown {
  if (!(error instanceof LaneError)) return error
  const { reason } = error
  if (reason === 'full') return laneError('full', undefined, { retryAfterSeconds: RETRY_AFTER_S, cause: error })
  return new AppError(code, laneProblem(reason), { cause: error })
}

/** A place in the lane is free after this time in most cases, s. */
const RETRY_AFTER_S = 10

/** Whether input without a result must not be read again: another attempt would end in the same way. */
export const isForGood = (error: unknown): boolean => error instanceof LaneError && error.reason !== 'full'
