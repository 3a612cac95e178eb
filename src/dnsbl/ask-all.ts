import { raced, within } from '../base/deadline.ts'
import type { Work } from '../base/share-work.ts'
import { type Entry, unansweredEntry } from './entry.ts'
import type { List, Subject } from './zone-type.ts'

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
  /** The cached answers. */
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
