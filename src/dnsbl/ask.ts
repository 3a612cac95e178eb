import { raced, within } from '../base/deadline.ts'
import type { Work } from '../base/share-work.ts'
import { printable } from '../base/text.ts'
import { type Answer, DnsError, type DnsReason, type Resolve } from '../net/dns/resolver.ts'
import type { Allow } from './allowance.ts'
import { familyOfSubject, questionName, withoutKeys } from './query.ts'
import { type ListStatus, type Reading, readAnswer } from './read.ts'
import { isBarred, proofOf, type Seen, type TestState } from './self-test.ts'
import { type List, type ListKeys, type Subject, zoneFor } from './zone-type.ts'

/** The parameters of a query to a list. `first` fires when it is time for the retry, `whole` at the deadline. */
type Asking = {
  readonly resolve: Resolve
  readonly allow: Allow
  readonly keys: ListKeys
  readonly first: AbortSignal
  readonly whole: AbortSignal
  /** Milliseconds until the deadline. */
  readonly leftMs: () => number
  /** Whether a query without an answer is repeated once. */
  readonly retry: boolean
}

/** Maximum number of bytes kept of a list's text. */
const MAX_TXT_BYTES = 512

/**
 * Queries the A records of a name in a list, with one retry inside the deadline. `own_limit`: the list's allowance did
 * not permit the query in time. Never rejects with {@link DnsError}.
 */
export async function askA(list: List, name: string, asking: Asking): Promise<Answer<'A'> | DnsError | 'own_limit'> {
  const first = await attempt(list, name, asking, asking.retry ? asking.first : asking.whole)
  if (!asking.retry || !(first instanceof DnsError) || !AGAIN.has(first.reason) || asking.whole.aborted) return first
  const second = await attempt(list, name, asking, asking.whole)
  return second === 'own_limit' ? first : second
}

/** The text of a list about a listed address, cleaned; null if there is none, or none in time (best effort). */
async function askText(list: List, address: Subject, asking: Asking): Promise<string | null> {
  const allowed = asking.allow(list, asking.leftMs(), asking.whole)
  if (!(typeof allowed === 'boolean' ? allowed : await allowed)) return null
  try {
    const answer = await asking.resolve(questionName(list, address, asking.keys), 'TXT', asking.whole)
    return cleanText(answer.records, asking.keys)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return null
  }
}

/**
 * The records as one line: control characters and our keys removed, cut at {@link MAX_TXT_BYTES} bytes of UTF-8; null
 * if nothing is left.
 */
function cleanText(records: readonly string[], keys: ListKeys): string | null {
  const joined = records
    .slice(0, 8)
    .map((record) => record.slice(0, MAX_TXT_BYTES * 2))
    .join(' ')
  const clean = withoutKeys(printable(joined, MAX_TXT_BYTES * 20), keys)
    .toWellFormed()
    .replace(/ +/g, ' ')
    .trim()
  const bytes = Buffer.from(clean)
  if (bytes.length <= MAX_TXT_BYTES) return clean === '' ? null : clean
  let end = MAX_TXT_BYTES
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end-- // never within a character
  return bytes.toString('utf8', 0, end).trim()
}

/**
 * Reasons after which the query is repeated. SERVFAIL and REFUSED are not among them: they are answers of the server.
 */
const AGAIN: ReadonlySet<DnsReason> = new Set(['timeout', 'network', 'malformed'])

async function attempt(
  list: List,
  name: string,
  asking: Asking,
  signal: AbortSignal,
): Promise<Answer<'A'> | DnsError | 'own_limit'> {
  const allowed = asking.allow(list, asking.leftMs(), asking.whole)
  if (!(typeof allowed === 'boolean' ? allowed : await allowed)) return 'own_limit'
  try {
    return await asking.resolve(name, 'A', signal)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return error
  }
}

/** `ttlSeconds` is undefined if the list gave no answer; `keep` is false if the entry is not about the list. */
type Asked = { readonly entry: Entry; readonly ttlSeconds: number | undefined; readonly keep: boolean }

/**
 * Queries one list about one address: one round trip, and for a listing a second one for its text. A listing counts
 * only if the negative test point was absent at about the same time. That point is queried together with a list that is
 * being tested, otherwise together with the text. If it is not answered in time, the entry is `error`,
 * `test_unanswered`. `heard` is called with a listing that counts, before its text is there. Never rejects with
 * DnsError.
 */
export async function askList(
  list: List,
  address: Subject,
  asking: Asking & {
    readonly now: () => number
    readonly state: () => TestState
    /** The present result of the negative test point. */
    readonly negative: () => Promise<Seen>
    readonly heard: (entry: Entry) => void
  },
): Promise<Asked> {
  const startedMs = asking.now()
  const took = (): number => asking.now() - startedMs
  const answer = await askA(list, questionName(list, address, asking.keys), asking)
  if (answer === 'own_limit') return aside(unansweredEntry(list, address, 'blocked', 'own_limit', took()))

  const family = familyOfSubject(address)
  const reading = readAnswer(list, answer)
  const entry: Entry = {
    list,
    zone: zoneFor(list, family),
    reading,
    txt: null,
    durationMs: took(),
    atMs: asking.now(),
  }
  if (answer instanceof DnsError) return { entry, ttlSeconds: undefined, keep: answer.reason !== 'aborted' }
  if (reading.status !== 'listed') return { entry, ttlSeconds: answer.ttlSeconds, keep: true }

  const [negative, txt] = await Promise.all([
    seenInTime(asking.negative(), asking.whole).then((seen) => {
      if (seen === 'absent' && !isBarred(asking.state())) asking.heard(entry)
      return seen
    }),
    askText(list, address, asking),
  ])
  const state = asking.state()
  if (negative === 'listed' || negative === 'rewritten')
    return aside(barredEntry(list, address, { ...state, status: 'quarantined', reason: WHY[negative] }))
  if (isBarred(state)) return aside(barredEntry(list, address, state))
  if (negative !== 'absent') return aside(unansweredEntry(list, address, 'error', 'test_unanswered', took()))
  return { entry: { ...entry, txt, durationMs: took() }, ttlSeconds: answer.ttlSeconds, keep: true }
}

const WHY = { listed: 'answers_everything', rewritten: 'rewritten_or_parked' } as const
const aside = (entry: Entry): Asked => ({ entry, ttlSeconds: undefined, keep: false })

async function seenInTime(test: Promise<Seen>, signal: AbortSignal): Promise<Seen> {
  try {
    return await raced(signal, test)
  } catch (error) {
    if (!signal.aborted) throw error
    return 'unanswered'
  }
}

/** The parameters of the query to each list. */
export type ListSignals = {
  /** Fires at half of the deadline: time for a retry. */
  readonly first: AbortSignal
  /** Fires at the deadline, or when nobody waits any more. */
  readonly whole: AbortSignal
  readonly leftMs: () => number
  /**
   * Called with a listing that counts before its text is there: the listing holds even if the text arrives too late.
   */
  readonly heard: (index: number, entry: Entry) => void
}

/** The queries to all lists about one address. */
export type Lookup = Work<readonly Entry[]> & {
  /** The entries so far; a list that has not answered is a `timeout`. */
  readonly sofar: () => readonly Entry[]
  /** Whether all known entries are younger than `maxAgeMs`. */
  readonly isFresh: (maxAgeMs: number) => boolean
}

/**
 * Queries each list that has no entry yet, all at once, until `signal` fires or the deadline is over. `result` settles
 * when all lists that are worth waiting for have answered, and never rejects. A list that is not waited for and has not
 * answered by then is a `timeout`, and its query continues by itself.
 */
export function askAll(options: {
  readonly lists: readonly List[]
  readonly address: Subject
  readonly known: readonly (Entry | undefined)[]
  readonly deadlineMs: number
  readonly signal: AbortSignal
  readonly now: () => number
  /** Whether a list is waited for. */
  readonly isPatient: (index: number) => boolean
  readonly ask: (index: number, signals: ListSignals) => Promise<Entry>
}): Lookup {
  const { lists, address, known, deadlineMs, now } = options
  const startedMs = now()
  const entries: (Entry | undefined)[] = [...known]
  const heard: (Entry | undefined)[] = []
  const whole = within(deadlineMs, options.signal)
  const signals: ListSignals = {
    first: within(deadlineMs / 2, options.signal),
    whole,
    leftMs: () => deadlineMs - (now() - startedMs),
    heard: (index, entry) => {
      heard[index] = entry
    },
  }
  const waits = lists.flatMap((_, index) => {
    if (entries[index]) return []
    const asked = options.ask(index, signals).then((entry) => {
      entries[index] = entry
    })
    if (options.isPatient(index)) return [asked]
    asked.catch(() => {}) // nobody waits; a fault of ours appears in the next query that is waited for
    return []
  })
  const sofar = (): readonly Entry[] =>
    lists.map((list, index) => {
      const entry = entries[index] ?? heard[index]
      return entry ?? unansweredEntry(list, address, 'timeout', 'no_answer', now() - startedMs)
    })
  return {
    sofar,
    isFresh: (maxAgeMs) => entries.every((entry) => entry?.atMs === undefined || now() - entry.atMs < maxAgeMs),
    result: raced(whole, Promise.all(waits)).then(sofar, (error) => {
      if (!whole.aborted) throw error
      return sofar()
    }),
  }
}

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
