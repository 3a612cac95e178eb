import { raced, within } from '../base/deadline.ts'
import type { Ip } from '../names/ip.ts'
import { type Entry, unansweredEntry } from './entry.ts'
import type { List } from './zone-type.ts'

/** What a flight hands to the question of each list. */
export type FlightSignals = {
  readonly first: AbortSignal
  readonly whole: AbortSignal
  readonly leftMs: () => number
  /** Told of a listing before its text is there: it stands even when the text comes too late. */
  readonly heard: (index: number, entry: Entry) => void
}

/** The questions of all lists about one address, under way once for all who want the answer. */
export type Flight = {
  /** The entries at the end, or as they stand when `signal` fires. Never rejects. The last one who leaves early ends the work. */
  readonly join: (signal: AbortSignal) => Promise<readonly Entry[]>
}

/**
 * Sends off `ask` for every list that has no entry yet, all at once. It ends when all lists that are worth waiting for have answered, at the
 * latest at the deadline; a list that is not waited for and has said nothing by then is a `timeout`, and its question goes on by itself.
 */
export function takeOff(options: {
  readonly lists: readonly List[]
  readonly address: Ip
  /** What is known without asking. */
  readonly known: readonly (Entry | undefined)[]
  readonly deadlineMs: number
  readonly now: () => number
  /** Whether a list is waited for. */
  readonly isPatient: (index: number) => boolean
  readonly ask: (index: number, signals: FlightSignals) => Promise<Entry>
  readonly landed: () => void
}): Flight {
  const { lists, address, known, deadlineMs, now } = options
  const startedMs = now()
  const entries: (Entry | undefined)[] = [...known]
  const heard: (Entry | undefined)[] = []
  const given = new AbortController()
  const whole = within(deadlineMs, given.signal)
  const signals: FlightSignals = {
    first: within(deadlineMs / 2, given.signal),
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
    asked.catch(() => {}) // nobody waits; a fault of ours shows in the next question that is waited for
    return []
  })
  const done = raced(whole, Promise.all(waits)).then(
    () => true,
    (error) => {
      if (!whole.aborted) throw error
      return true
    },
  )
  let landed = false
  const land = (): void => {
    if (!landed) options.landed()
    landed = true
  }
  done.then(land, land)

  const asItStands = (): readonly Entry[] =>
    lists.map((list, index) => {
      const entry = entries[index] ?? heard[index]
      return entry ?? unansweredEntry(list, address, 'timeout', 'no_answer', now() - startedMs)
    })

  let joined = 0
  return {
    join: async (signal) => {
      joined += 1
      try {
        await raced(signal, done)
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        joined -= 1
      }
      const result = asItStands()
      if (joined === 0 && !landed) {
        given.abort()
        land()
      }
      return result
    },
  }
}
