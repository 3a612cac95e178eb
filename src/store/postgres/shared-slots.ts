import type pg from 'pg'
import { onceUnlessFailed } from '../../base/once.ts'
import { isAway } from './away.ts'

/** A place at a key, of so many over all nodes. */
export type Slot = { readonly key: string; readonly limit: number }

/** Places that all nodes on one database share. */
export type SharedSlots = {
  /**
   * Takes a place at each key, all or none: gives the function that frees them, `full` where a key has none free, and `away` while the database does not answer within
   * a second.
   */
  readonly take: (slots: readonly Slot[]) => Promise<(() => void) | 'full' | 'away'>
  /** Ends the session, which frees all places. */
  readonly close: () => Promise<void>
}

/** Time that a statement has by default; then the database counts as away, ms. */
const ANSWER_MS = 1_000
/** A session with places is shown to live this often: a silent one is taken for half open (pool.ts). One without is given back, ms. */
const PING_MS = 3_000
/** A database that was away is not asked again for this long, ms. */
const AWAY_MS = 1_000

/** Locks the first free place of a key that this session does not hold yet: a session gets a lock of its own again. */
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
  /** Settles with the statement that was asked last. */
  last: Promise<unknown>
  usedAtMs: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Places as advisory locks of one session for each node: the server frees those of a node that died as soon as its connection ends, so that no place is lost and none is
 * given twice. `now`: milliseconds that never step back; `answerMs`: the time that a statement has.
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
      // A connection that breaks may tell so more than once: each time somebody must listen.
      client.on('error', made.onLoss)
      client.on('end', made.onLoss)
      held = made
      made.usedAtMs = now()
      made.timer = setInterval(() => keepUp(made), PING_MS).unref()
      return made
    })
  }
  /** The session is over, and with it all its places. */
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

  /** One statement of a session at a time: the next is sent when the one before it has ended. */
  function statement<R extends pg.QueryResultRow>(own: Held, text: string, values: unknown[] = []) {
    const turn = own.last.then(() => own.client.query<R>(text, values))
    own.last = turn.catch(() => {})
    return turn
  }

  /** The place is noted before the next may be asked for. */
  async function takeOne(own: Held, { key, limit }: Slot): Promise<number | undefined> {
    own.usedAtMs = now()
    const places = own.places.get(key) ?? new Set<number>()
    own.places.set(key, places)
    const { rows } = await statement<{ place: number }>(own, TAKE, [key, limit, [...places]])
    const place = rows[0]?.place
    if (place !== undefined) places.add(place)
    else if (places.size === 0) own.places.delete(key)
    return place
  }
  function free(own: Held, key: string, place: number): void {
    const places = own.places.get(key)
    if (held !== own || !places?.has(place)) return
    // It is this session's until the server has let go of it.
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
    for (const slot of slots) {
      const place = await takeOne(own, slot)
      if (place === undefined) {
        release()
        return 'full'
      }
      taken.push({ key: slot.key, place })
    }
    return release
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    take: async (slots) => {
      if (isClosed || now() < awayUntilMs) return 'away'
      // One after another: two that look for a place at the same time would both see the same ones as their own.
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
        ) // what comes too late is given back
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
