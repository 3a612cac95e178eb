import type pg from 'pg'
import { onceUnlessFailed } from '../../base/once.ts'
import { isAway } from './away.ts'

/** A slot at a key, of a limited number over all nodes. */
export type Slot = { readonly key: string; readonly limit: number }

/** Slots that all nodes on one database share. */
export type SharedSlots = {
  /**
   * Takes a slot at each key, all or none: returns the function that frees them, `full` if a key has no free slot, and `away` if the database does not answer
   * within a second.
   */
  readonly take: (slots: readonly Slot[]) => Promise<(() => void) | 'full' | 'away'>
  /** Ends the session, which frees all slots. */
  readonly close: () => Promise<void>
}

/** Default time limit of a statement; after that the database counts as unavailable, ms. */
const ANSWER_MS = 1_000
/**
 * Interval at which a session with slots sends a query: a silent one is treated as half open (pool.ts). A session without slots is returned after this time,
 * ms.
 */
const PING_MS = 3_000
/** How long an unavailable database is not queried again, ms. */
const AWAY_MS = 1_000

/** Locks the first free slot of a key that this session does not hold yet: a session would get its own lock again. */
const TAKE = `
  WITH free AS MATERIALIZED (
    SELECT place FROM generate_series(0, $2::int - 1) AS place WHERE place <> ALL ($3::int[]) ORDER BY place
  )
  SELECT place FROM free WHERE pg_try_advisory_lock(hashtextextended($1 || ' ' || place, 0)) LIMIT 1`
const FREE = `SELECT pg_advisory_unlock(hashtextextended($1 || ' ' || $2::int, 0))`

type Held = {
  readonly client: pg.PoolClient
  readonly onLoss: () => void
  readonly places: Map<string, Set<number>>
  /** Settles with the last statement. */
  last: Promise<unknown>
  usedAtMs: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Slots as advisory locks of one session per node: the server frees those of a node that died as soon as its connection ends, so no slot is lost and none is
 * assigned twice. `now`: milliseconds that never step back; `answerMs`: the time limit of a statement.
 */
export function sharedSlots(
  open: () => Promise<{ readonly pool: pg.Pool }>,
  options: {
    readonly now: () => number
    readonly log: { readonly warn: Warn; readonly info: Warn }
    readonly answerMs?: number | undefined
  },
): SharedSlots {
  const { now, log, answerMs = ANSWER_MS } = options
  let awayUntilMs = Number.NEGATIVE_INFINITY
  let isAwaySaid = false
  let isClosed = false
  let held: Held | undefined
  let session = newSession()

  function newSession(): () => Promise<Held> {
    return onceUnlessFailed(async () => {
      const client = await (await open()).pool.connect()
      const onLoss = (): void => lose(made)
      const made: Held = {
        client,
        onLoss,
        places: new Map(),
        last: Promise.resolve(),
        usedAtMs: now(),
        timer: undefined,
      }
      // A broken connection may emit several errors, and each needs a listener.
      client.on('error', made.onLoss)
      client.on('end', made.onLoss)
      held = made
      made.usedAtMs = now()
      made.timer = setInterval(() => keepUp(made), PING_MS).unref()
      return made
    })
  }
  /** The session is over, and with it all its slots. */
  function lose(lost: Held, isBroken = true): void {
    if (held !== lost) return
    held = undefined
    session = newSession()
    clearInterval(lost.timer)
    if (!isBroken) lost.client.off('error', lost.onLoss).off('end', lost.onLoss) // the pool listens from now on
    lost.client.release(isBroken)
  }
  function keepUp(own: Held): void {
    if (own.places.size > 0) void statement(own, 'SELECT 1').catch((error: unknown) => held === own && isGone(error))
    else if (now() - own.usedAtMs >= PING_MS) lose(own, false)
  }
  function isGone(error: unknown): 'away' {
    awayUntilMs = now() + AWAY_MS
    if (!isAwaySaid)
      log.warn('limits are kept by a local share: the database does not answer', { error: String(error) })
    isAwaySaid = true
    if (held) lose(held)
    return 'away'
  }

  /** One statement of a session at a time: the next is sent when the one before has ended. */
  function statement<R extends pg.QueryResultRow>(own: Held, text: string, values: unknown[] = []) {
    const turn = own.last.then(() => own.client.query<R>(text, values))
    own.last = turn.catch(() => {})
    return turn
  }

  /** The slot is recorded before the next may be requested. */
  async function takeOne(own: Held, { key, limit }: Slot): Promise<number | undefined> {
    own.usedAtMs = now()
    const { rows } = await statement<{ place: number }>(own, TAKE, [key, limit, [...(own.places.get(key) ?? [])]])
    const place = rows[0]?.place
    if (place === undefined) return undefined
    // Read again: while the statement ran the last slot of the key may have been freed, and its set removed.
    const places = own.places.get(key) ?? new Set()
    own.places.set(key, places.add(place))
    return place
  }
  function free(own: Held, key: string, place: number): void {
    const places = own.places.get(key)
    if (held !== own || !places?.has(place)) return
    // It belongs to this session until the server has released it.
    statement(own, FREE, [key, place]).then(
      () => {
        places.delete(place)
        if (places.size === 0) own.places.delete(key)
      },
      (error: unknown) => held === own && isGone(error),
    )
  }
  async function takeAll(slots: readonly Slot[]): Promise<(() => void) | 'full'> {
    const own = await session()
    const taken: { readonly key: string; readonly place: number }[] = []
    const release = (): void => {
      for (const { key, place } of taken.splice(0)) free(own, key, place)
    }
    try {
      for (const slot of slots) {
        const place = await takeOne(own, slot)
        if (place === undefined) {
          release()
          return 'full'
        }
        taken.push({ key: slot.key, place })
      }
    } catch (error) {
      release()
      throw error
    }
    return release
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    take: async (slots) => {
      if (isClosed || now() < awayUntilMs) return 'away'
      // One after another: two concurrent searches would both see the same slots as their own.
      const turn = last.then(() => takeAll(slots))
      last = turn.catch(() => {})
      try {
        const taken = await inTime(turn, answerMs)
        if (taken !== 'full' || isAwaySaid) noteBack()
        return taken
      } catch (error) {
        if (!isAway(error) && !(error instanceof LateError)) throw error
        turn.then(
          (late) => late !== 'full' && late(),
          () => {},
        ) // a late result is released
        return isGone(error)
      }
    },
    close: async () => {
      isClosed = true
      const own = held
      if (own) lose(own)
    },
  }
  function noteBack(): void {
    if (isAwaySaid) log.info('limits are shared again: the database answers', {})
    isAwaySaid = false
  }
}

type Warn = (event: string, fields?: Record<string, unknown>) => void

class LateError extends Error {}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LateError('no answer in time')), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
