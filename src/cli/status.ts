import type { AppError } from '../base/errors.ts'
import type { JsonRecord } from '../base/json.ts'
import type { Given, Verdict } from '../operations/operation.ts'

/** Exit statuses: 0 done, 1 bad, 2 invalid usage, 3 unknown. */
export const EXIT: Readonly<Record<Verdict, number>> = { good: 0, bad: 1, unclear: 3 }

/** The exit status of a verdict; with `--exit-zero` 0, whatever it is. */
export const exitOf = (verdict: Verdict, { exitZero }: Pick<Wanted, 'exitZero'>): number =>
  exitZero ? 0 : EXIT[verdict]
export const USAGE = 2
/**
 * The status of a program that SIGPIPE ends (128 + 13), as grep and dig have it: 0 would say that all is good, and
 * nobody has read the rest.
 */
export const CLOSED_PIPE = 141

/** From the best to the worst: a known fault outweighs an unknown result. */
const ORDER: readonly number[] = [0, 3, 1, USAGE]

export const worstStatus = (a: number, b: number): number => (ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b)

/** Problems that are not caused by the arguments. */
const COULD_NOT_TELL: readonly string[] = ['timeout', 'upstream_unavailable', 'overloaded', 'rate_limited']

/** The exit status for a request without an answer. */
export const statusOf = ({ code }: AppError): number => (COULD_NOT_TELL.includes(code) ? EXIT.unclear : USAGE)

/** Conditions for the exit status beside the verdict of the answer. */
export type Wanted = {
  readonly minScore: number | undefined
  readonly failOn: Severity | undefined
  readonly exitZero?: boolean
}

const VERDICTS: readonly Verdict[] = ['good', 'unclear', 'bad']

/**
 * The answer's own verdict; `minScore` and `failOn` replace it, of both the worse counts. If the answer is incomplete
 * and has no finding at that severity, the result is unknown, because an unknown part may hide one.
 */
export function verdictOf(given: Given, answer: JsonRecord, { minScore, failOn }: Wanted): Verdict {
  const own = failOn === undefined || minScore !== undefined ? given.verdict(minScore) : 'good'
  if (failOn === undefined) return own
  const found = Array.isArray(answer.findings) ? answer.findings : []
  const isBad = found.some(({ severity, accepted }) => {
    const known = SEVERITIES.find((one) => one === severity)
    return accepted === undefined && known !== undefined && reaches(known, failOn)
  })
  const byFindings = isBad ? 'bad' : answer.complete === false || answer.status === 'unknown' ? 'unclear' : 'good'
  return VERDICTS[Math.max(VERDICTS.indexOf(own), VERDICTS.indexOf(byFindings))] ?? own
}

/** Whether writing failed because the reader has closed the pipe (`| head`). */
export const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(String(Reflect.get(error, 'code')))

/** From the least to the most severe; `info` never causes a failure. */
export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Whether a severity is at least `least`; false for `info`. */
export const reaches = (severity: Severity | 'info', least: Severity): boolean =>
  severity !== 'info' && SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
