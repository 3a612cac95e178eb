import type { Ip } from '../names/ip.ts'
import type { Answer, DnsError } from '../net/dns/resolver.ts'
import { readAnswer } from './read.ts'
import { hasCode, type List } from './zone-type.ts'

/**
 * The state of a list for one address family. `dead` and `quarantined` lists are never queried about addresses.
 * `failing`: the positive test point is missing, but not for long; `refused`: our resolver is refused, which is not a
 * fault of the list; `unanswered`: the last test got no answer, so nothing new is known.
 */
type TestStatus = 'untested' | 'healthy' | 'failing' | 'dead' | 'quarantined' | 'refused' | 'unanswered'

export type TestState = {
  readonly status: TestStatus
  /** A stable word with every status except `untested` and `healthy`. */
  readonly reason: string | null
  readonly testedAtMs: number | null
  /** Since when the positive test point has been missing without interruption. */
  readonly missingSinceMs: number | null
  /** When the positive test point was last answered as a listing; null if it was answered otherwise since, or never. */
  readonly heldAtMs: number | null
  /** Number of clean tests in a row since the list was quarantined. */
  readonly cleanTests: number
  /** The last answer of the positive test point. */
  readonly codes: readonly string[]
  /** The latest changes, oldest first; at most {@link MAX_HISTORY}. */
  readonly history: readonly { readonly atMs: number; readonly status: TestStatus; readonly reason: string | null }[]
}

/** The observed result of a test point. `rewritten`: an answer that no list gives. */
export type Seen = 'listed' | 'absent' | 'refused' | 'rewritten' | 'unanswered'
export type TestResult = {
  readonly atMs: number
  readonly positive: Seen
  readonly negative: Seen
  readonly codes: readonly string[]
}

export const TEST_EVERY_MS = 3_600_000
const DEAD_AFTER_MS = 3 * 3_600_000
/** Maximum number of state changes that are kept. */
export const MAX_HISTORY = 24
/** Number of tests that a list must pass after it answered every query, before it is trusted again. */
const CLEAN_TESTS_TO_RETURN = 2

export const UNTESTED: TestState = {
  status: 'untested',
  reason: null,
  testedAtMs: null,
  missingSinceMs: null,
  heldAtMs: null,
  cleanTests: 0,
  codes: [],
  history: [],
}

/**
 * Whether "not listed" of the list is an answer: only while its positive test point is listed. `unanswered`: the test
 * got no answer; a list that passed it in the last three hours is trusted meanwhile.
 */
export function proofOf({
  status,
  missingSinceMs,
  heldAtMs,
  testedAtMs,
}: TestState): 'holds' | 'missing' | 'unanswered' {
  if (status === 'healthy') return 'holds'
  if (status !== 'unanswered' && status !== 'untested') return 'missing'
  if (missingSinceMs !== null) return 'missing'
  const heldLately = heldAtMs !== null && testedAtMs !== null && testedAtMs - heldAtMs < DEAD_AFTER_MS
  return heldLately ? 'holds' : 'unanswered'
}

/** Whether no queries about addresses are sent to the list. */
export const isBarred = (state: TestState): boolean => state.status === 'dead' || state.status === 'quarantined'

/** Whether a test is due: there was none, or the last was an hour ago. A clock that stepped back makes it due too. */
export const isDue = (state: TestState, nowMs: number): boolean =>
  state.testedAtMs === null || nowMs - state.testedAtMs >= TEST_EVERY_MS || nowMs < state.testedAtMs

/**
 * The result of the answer to a test point. Any code that is not a refusal is an entry; for the positive point, so are
 * the row's exceptions.
 */
export function readTestPoint(
  list: List,
  point: 'positive' | 'negative',
  answer: Answer<'A'> | DnsError,
): { seen: Seen; codes: readonly Ip[] } {
  const { status, reason, codes } = readAnswer(list, answer)
  const excepted =
    point === 'positive' && codes.some((code) => list.testPoint.answers.some((pattern) => hasCode(pattern, code)))
  switch (status) {
    case 'listed':
      return { seen: 'listed', codes }
    case 'not_listed':
      return { seen: excepted ? 'listed' : 'absent', codes }
    case 'blocked':
      return { seen: 'refused', codes }
    case 'error':
      if (reason === 'rewritten_or_parked') return { seen: 'rewritten', codes }
      if (reason === 'implausible') return { seen: point === 'positive' ? 'absent' : 'listed', codes }
      return { seen: codes.length > 0 ? 'listed' : 'unanswered', codes }
    case 'timeout':
    case 'unsupported':
      return { seen: 'unanswered', codes }
  }
}

/** The state of a list after a test (RFC 5782 §5). */
export function nextState(before: TestState, test: TestResult): TestState {
  const missing = test.positive === 'absent' || test.positive === 'rewritten'
  const missingSinceMs = missing
    ? (before.missingSinceMs ?? test.atMs)
    : test.positive === 'unanswered'
      ? before.missingSinceMs
      : null
  const verdict = judge(before, test, missingSinceMs)
  const changed = verdict.status !== before.status || verdict.reason !== before.reason
  const entry = { atMs: test.atMs, status: verdict.status, reason: verdict.reason }
  return {
    ...verdict,
    testedAtMs: test.atMs,
    missingSinceMs,
    heldAtMs: test.positive === 'listed' ? test.atMs : test.positive === 'unanswered' ? before.heldAtMs : null,
    codes: test.codes,
    history: changed ? [...before.history, entry].slice(-MAX_HISTORY) : before.history,
  }
}

type Verdict = Pick<TestState, 'status' | 'reason' | 'cleanTests'>

function judge(before: TestState, test: TestResult, missingSinceMs: number | null): Verdict {
  if (test.negative === 'listed') return { status: 'quarantined', reason: 'answers_everything', cleanTests: 0 }
  if (test.negative === 'rewritten') return { status: 'quarantined', reason: 'rewritten_or_parked', cleanTests: 0 }
  const stay = { status: before.status, reason: before.reason, cleanTests: before.cleanTests }
  if (test.positive === 'unanswered' || test.negative === 'unanswered')
    return isBarred(before) ? stay : { status: 'unanswered', reason: 'no_answer', cleanTests: 0 }
  if (before.status === 'quarantined') {
    const cleanTests = before.cleanTests + 1
    if (cleanTests < CLEAN_TESTS_TO_RETURN) return { ...stay, cleanTests }
  }
  if (test.positive === 'refused') return { status: 'refused', reason: 'resolver_refused', cleanTests: 0 }
  if (missingSinceMs === null) return { status: 'healthy', reason: null, cleanTests: 0 }
  const dead = test.atMs - missingSinceMs >= DEAD_AFTER_MS
  return dead
    ? { status: 'dead', reason: 'test_point_missing', cleanTests: 0 }
    : { status: 'failing', reason: 'test_point_missing', cleanTests: 0 }
}
