import { familyOfSubject } from './query.ts'
import type { ListStatus, Reading } from './read.ts'
import { proofOf, type TestState } from './self-test.ts'
import { type List, type Subject, zoneFor } from './zone-type.ts'

/** The answer of one list about one address. */
export type Entry = {
  readonly list: List
  /** The zone, without a key. */
  readonly zone: string
  readonly reading: Reading
  /** The list's own text about a listing: at most 512 bytes, cleaned. */
  readonly txt: string | null
  readonly durationMs: number
  /** When the list answered, by the monotonic clock; undefined if no query was sent. */
  readonly atMs?: number
}

/** An entry of a list that gave no answer. */
export const unansweredEntry = (
  list: List,
  address: Subject,
  status: Exclude<ListStatus, 'listed' | 'not_listed'>,
  reason: string,
  durationMs = 0,
): Entry => ({
  list,
  zone: zoneFor(list, familyOfSubject(address)),
  reading: { status, reason, codes: [], meaning: [], tier: list.tier, scope: list.scope },
  txt: null,
  durationMs,
})

/** The entry as it counts: "not listed" is an answer only if the list passed its self-test. */
export function provenEntry(entry: Entry, state: TestState): Entry {
  if (entry.reading.status !== 'not_listed') return entry
  const proof = proofOf(state)
  if (proof === 'holds') return entry
  const reason = proof === 'missing' ? 'test_point_missing' : 'test_unanswered'
  return { ...entry, reading: { ...entry.reading, status: 'error', reason } }
}

/** The entry of a list that failed its self-test: its answers about addresses are not used. */
export const barredEntry = (list: List, address: Subject, state: TestState): Entry =>
  unansweredEntry(list, address, 'error', state.status === 'dead' ? 'dead' : `quarantined_${state.reason}`)
