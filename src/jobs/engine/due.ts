import type { ClaimedRow, DuePair, JobRows, Place } from '../../store/postgres/job-rows.ts'

type DueSettings = {
  readonly rows: Pick<JobRows, 'claim'>
  /** Rows of a provider that are claimed by this node. */
  readonly claimed: (provider: string) => number
  /** Rows of a provider that may begin on this node now, if so many are claimed by it. */
  readonly room: (provider: string, claimed: number) => number
}

/** Share of the free rows that one provider may take: something is left for the others. */
const SHARE = 0.8
/**
 * How long the place of the last claim is remembered, ms: a row that became due before it by the clock, but was written
 * after it, is found then.
 */
const PLACE_MS = 5_000

/** The jobs and providers that have due rows, as of the last plan. */
export function duePairsOf({ rows, claimed, room: roomOf }: DueSettings) {
  /** By provider, those that are next first. */
  let due = new Map<string, DuePair[]>()
  const places = new Map<string, { readonly place: Place; readonly sinceMs: number }>()

  function drop(isMeant: (pair: DuePair) => boolean): void {
    due = byProvider([...due.values()].flat().filter((pair) => !isMeant(pair)))
  }
  return {
    /** Replaces all pairs. */
    plan: (pairs: readonly DuePair[]): void => {
      due = byProvider(pairs)
      for (const [key, { sinceMs }] of places) if (performance.now() - sinceMs >= PLACE_MS) places.delete(key)
    },
    size: () => due.size,
    drop,
    /** What to claim now: providers and their pairs take turns, up to `atMost` rows and the room of a provider. */
    next: (atMost: number): readonly { readonly pair: DuePair; readonly most: number }[] => {
      const next: { pair: DuePair; most: number }[] = []
      let free = atMost
      for (const [provider, pairs] of due) {
        if (free <= 0) break
        const own = claimed(provider)
        const share = Math.max(1, Math.floor((free + own) * SHARE)) - own
        let room = Math.min(free, share, roomOf(provider, own))
        for (let taken = 0; room > 0 && taken < pairs.length; taken++) {
          const pair = pairs.shift()!
          pairs.push(pair)
          const most = Math.ceil(room / (pairs.length - taken))
          next.push({ pair, most })
          room -= most
          free -= most
        }
      }
      return next
    },
    /** Claims rows of a pair; forgets the pair if it has no more that are due. */
    claim: async (pair: DuePair, most: number): Promise<readonly ClaimedRow[]> => {
      const key = `${pair.number} ${pair.provider}`
      const after = places.get(key)
      const { rows: found, last } = await rows.claim(pair, most, after?.place)
      if (found.length < most) {
        places.delete(key) // the next claim finds what the place hides
        if (!after) drop((one) => one === pair)
      } else if (last) places.set(key, { place: last, sinceMs: after?.sinceMs ?? performance.now() })
      return found
    },
  }
}

const byProvider = (pairs: readonly DuePair[]): Map<string, DuePair[]> => Map.groupBy(pairs, ({ provider }) => provider)
