import type { AppError } from '../base/errors.ts'
import type { JsonRecord } from '../base/json.ts'
import type { Given, Verdict } from '../operations/given.ts'
import { reaches, SEVERITIES, type Severity } from './severity.ts'

/** Exit statuses: 0 done, 1 found bad, 2 usage, 3 could not tell. */
export const EXIT: Readonly<Record<Verdict, number>> = { good: 0, bad: 1, unclear: 3 }
export const USAGE = 2

/** From the least bad to the worst: what is known to be bad outweighs what is not known. */
const ORDER: readonly number[] = [0, 3, 1, USAGE]

export const worstStatus = (a: number, b: number): number => (ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b)

/** Problems of the world, as opposed to those of the arguments. */
const COULD_NOT_TELL: readonly string[] = ['timeout', 'upstream_unavailable', 'overloaded', 'rate_limited']

/** The exit status of a question that got no answer. */
export const statusOf = ({ code }: AppError): number => (COULD_NOT_TELL.includes(code) ? EXIT.unclear : USAGE)

/** What an answer is held against beside its own verdict. */
export type Wanted = { readonly minScore: number | undefined; readonly failOn: Severity | undefined }

const VERDICTS: readonly Verdict[] = ['good', 'unclear', 'bad']

/** The worse of the answer's verdict (by `minScore`, where that is given) and what `failOn` makes of its findings: where something could not be determined, none at that severity does not mean that there is none. */
export function verdictOf(given: Given, answer: JsonRecord, { minScore, failOn }: Wanted): Verdict {
  const own = given.verdict(minScore)
  if (failOn === undefined) return own
  const found = Array.isArray(answer.findings) ? answer.findings : []
  const isBad = found.some(({ severity }) => {
    const known = SEVERITIES.find((one) => one === severity)
    return known !== undefined && reaches(known, failOn)
  })
  const byFindings = isBad ? 'bad' : answer.complete === false || answer.status === 'unknown' ? 'unclear' : 'good'
  return VERDICTS[Math.max(VERDICTS.indexOf(own), VERDICTS.indexOf(byFindings))] ?? own
}

/** Whether writing failed because nobody reads any more (`| head`). */
export const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && ['EPIPE', 'ERR_STREAM_DESTROYED'].includes(String(Reflect.get(error, 'code')))
