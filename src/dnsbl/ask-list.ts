import { raced } from '../base/deadline.ts'
import { DnsError } from '../net/dns/resolver.ts'
import { type Asking, askA, askText } from './ask.ts'
import { barredEntry, type Entry, unansweredEntry } from './entry.ts'
import { familyOfSubject, questionName } from './query.ts'
import { readAnswer } from './read.ts'
import { isBarred, type Seen, type TestState } from './self-test.ts'
import { type List, type Subject, zoneFor } from './zone-type.ts'

/** `ttlSeconds` is undefined if the list gave no answer; `keep` is false if the entry is not about the list. */
export type Asked = { readonly entry: Entry; readonly ttlSeconds: number | undefined; readonly keep: boolean }

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
    /** The present state of the list. */
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
