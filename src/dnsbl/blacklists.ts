import { raced } from '../base/deadline.ts'
import { sharedWork } from '../base/share-work.ts'
import { ttlCache } from '../base/ttl-cache.ts'
import type { Family } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import type { Ctx } from '../world.ts'
import { type Allow, allowances, unlimited } from './allowance.ts'
import {
  askAll,
  askList,
  barredEntry,
  type Entry,
  type ListSignals,
  type Lookup,
  provenEntry,
  unansweredEntry,
} from './ask.ts'
import { familyOfSubject, isIp, POSITIVE_POINT, supports } from './query.ts'
import type { ListStatus } from './read.ts'
import { isBarred, proofOf, type TestState } from './self-test.ts'
import { type TestCtx, tester, testStates } from './tester.ts'
import type { List, ListKeys, ListSet, Subject } from './zone-type.ts'
import { BUILT_IN } from './zones.ts'

/** The answers of the lists of a set about an address or a domain: one entry per list, in the order of the set. */
export type BlacklistAnswer = {
  readonly subject: Subject
  readonly version: string
  readonly entries: readonly Entry[]
}

export type ListState = {
  readonly list: List
  readonly ipv4: TestState
  /** Undefined if the list does not support IPv6. */
  readonly ipv6: TestState | undefined
  /** Answers by status since startup; cached ones are not counted. */
  readonly answers: Readonly<Record<ListStatus, number>>
}

type LookupOptions = {
  /** Answers older than this are queried again; 0 queries every list. Default: as long as they may be cached. */
  readonly maxAgeMs?: number
}

type LookupCtx = Pick<Ctx, 'resolve' | 'store' | 'log' | 'now' | 'monotonic' | 'random' | 'signal'>

/** The lists with their cached answers and self-test states. A process creates one. */
export type Blacklists = ReturnType<typeof createBlacklists>

/** Why a list is never asked about a subject: names go to lists of names alone, and public addresses to the others. */
function unaskable(list: List, subject: Subject): string | undefined {
  if (list.names !== undefined) return isIp(subject) ? 'not_a_name' : undefined
  if (!isIp(subject)) return 'not_an_address'
  return isPublic(subject) || subject === POSITIVE_POINT ? undefined : 'not_public'
}

const DEFAULT_DEADLINE_MS = 3_000
/** Maximum number of queries that may wait for a list that does not answer; further ones are not sent. */
const MAX_SUSPECT_QUESTIONS = 8

/**
 * Creates the {@link Blacklists} of a process. `deadlineMs` applies to each list; `noCourtesy` lifts the lists'
 * allowances.
 */
export function createBlacklists(options: {
  /** A clock that does not step (`World.monotonic`). */
  readonly now: () => number
  readonly set?: ListSet
  readonly keys?: ListKeys
  readonly noCourtesy?: boolean
  /** The allowances of the lists, if other processes share them. */
  readonly allow?: Allow
  readonly deadlineMs?: number
}) {
  const { now, set = BUILT_IN, keys = {}, deadlineMs = DEFAULT_DEADLINE_MS } = options
  const { lists } = set
  const allow = options.noCourtesy ? unlimited : (options.allow ?? allowances(now))
  const states = testStates()
  const tests = tester({ states, keys, deadlineMs })
  const kept = memory(lists, now)
  const { known, asked } = listQueries({ lists, allow, keys, deadlineMs, now, tests, kept })

  /**
   * A list that may support IPv6 and has not answered yet is waited for; otherwise the first answers of a process would
   * lack it.
   */
  async function prove(ctx: LookupCtx, address: Subject): Promise<void> {
    const family = familyOfSubject(address)
    const open = lists.filter(
      (list) => supports(list, address) === 'unknown' && tests.state(list, family).status !== 'healthy',
    )
    const due = open.filter((list) => tests.isDue(list, family, ctx.now()))
    tests.start(ctx, due, family, ctx.signal)
    const proven = Promise.all(open.map((list) => tests.running(list, family)?.answered))
    await raced(ctx.signal, proven).catch(() => {}) // the lookup informs a caller that disconnects
  }

  const answerOf = (subject: Subject, entries: readonly Entry[]): BlacklistAnswer => ({
    subject,
    version: set.version,
    entries,
  })
  const asItStands = (address: Subject, entries: Known): readonly Entry[] =>
    entries.map((entry, index) => entry ?? unansweredEntry(lists[index]!, address, 'timeout', 'aborted'))

  return {
    set,
    /**
     * Queries all lists about an address at once. Takes as long as the slowest list, never longer than the deadline or
     * `ctx.signal`. An address on no list costs one round trip, a listed one two. An address that is not public is on
     * no list, so no query is sent. Always one entry per list; never rejects because of the DNS.
     */
    lookup: async (
      ctx: LookupCtx,
      address: Subject,
      { maxAgeMs = Number.POSITIVE_INFINITY }: LookupOptions = {},
    ): Promise<BlacklistAnswer> => {
      const unfit = lists.flatMap((list) => {
        const reason = unaskable(list, address)
        return reason === undefined ? [] : [unansweredEntry(list, address, 'unsupported', reason)]
      })
      if (unfit.length === lists.length) return answerOf(address, unfit)
      await states.loaded(ctx)
      await prove(ctx, address)
      const entries = lists.map((list, index) => known(list, index, address, maxAgeMs))
      const family = familyOfSubject(address)
      const due = lists.filter((list) => supports(list, address) !== 'no' && tests.isDue(list, family, ctx.now()))
      // the tests follow the queries, so that they do not delay them
      const beside = (): void => tests.start(ctx, due, family, ctx.signal)
      if (ctx.signal.aborted) return answerOf(address, asItStands(address, entries))
      const kept = entries.filter((entry) => entry !== undefined)
      if (kept.length < entries.length) return answerOf(address, await asked(ctx, address, entries, maxAgeMs, beside))
      beside()
      return answerOf(address, kept)
    },
    /** Runs the self-tests that are due, for both families, and waits for them (at most the deadline). */
    test: async (ctx: TestCtx): Promise<void> => {
      await states.loaded(ctx)
      for (const family of [4, 6] as const) {
        const able = lists.filter((list) => family === 4 || list.ipv6 !== 'no')
        const due = able.filter((list) => tests.isDue(list, family, ctx.now()))
        tests.start(ctx, due, family, new AbortController().signal)
      }
      await tests.settled()
    },
    /** The state of each list; sends no query. */
    states: () =>
      lists.map((list, index) => ({
        list,
        ipv4: tests.state(list, 4),
        ipv6: list.ipv6 === 'no' ? undefined : tests.state(list, 6),
        answers: kept.counts[index]!,
      })),
    /**
     * Settles when self-tests in progress are done and the store has their results: for a process that is about to end.
     */
    settled: tests.settled,
  }
}

/** What is known of each list; undefined: it has to be asked. */
type Known = readonly (Entry | undefined)[]
type Asking = {
  readonly lists: readonly List[]
  readonly allow: Allow
  readonly keys: ListKeys
  readonly deadlineMs: number
  readonly now: () => number
  readonly tests: ReturnType<typeof tester>
  readonly kept: ReturnType<typeof memory>
}

/** Asks the lists about a subject, those alone of which nothing fresh enough is known. */
function listQueries({ lists, allow, keys, deadlineMs, now, tests, kept }: Asking) {
  const share = sharedWork<readonly Entry[], Lookup>()
  const waiting = lists.map(() => 0)

  /** The entry that needs no query: the list is barred or unsupported, or its cached answer is fresh enough. */
  function known(list: List, index: number, address: Subject, maxAgeMs: number): Entry | undefined {
    const unfit = unaskable(list, address)
    if (unfit !== undefined) return unansweredEntry(list, address, 'unsupported', unfit)
    const family = familyOfSubject(address)
    const state = tests.state(list, family)
    const support = supports(list, address)
    if (support === 'no') return unansweredEntry(list, address, 'unsupported', 'no_ipv6')
    if (support === 'unknown' && state.status !== 'healthy')
      return unansweredEntry(list, address, 'unsupported', 'ipv6_not_proven')
    if (isBarred(state)) return barredEntry(list, address, state)
    const entry = kept.recall(address, index, now(), maxAgeMs)
    return entry && provenEntry(entry, state)
  }

  async function ask(ctx: LookupCtx, address: Subject, index: number, signals: ListSignals): Promise<Entry> {
    const list = lists[index]!
    const family = familyOfSubject(address)
    if (kept.isSuspect(index) && waiting[index]! >= MAX_SUSPECT_QUESTIONS)
      return unansweredEntry(list, address, 'timeout', 'not_answering')
    waiting[index]! += 1
    const asked = await askList(list, address, {
      ...signals,
      resolve: ctx.resolve,
      allow,
      keys,
      retry: !kept.isSuspect(index),
      now,
      state: () => tests.state(list, family),
      negative: () => tests.negative(ctx, list, family, signals.whole),
      heard: (entry) => signals.heard(index, entry),
    }).finally(() => {
      waiting[index]! -= 1
    })
    if (asked.entry.reading.status === 'not_listed') await tested(list, family, signals.whole)
    const entry = provenEntry(asked.entry, tests.state(list, family))
    if (asked.keep) kept.remember(address, index, asked.entry, asked.ttlSeconds, entry.reading.status)
    return entry
  }

  /** Waits for the test of a list without proof, if one is in progress: it was sent together with the query. */
  async function tested(list: List, family: Family, signal: AbortSignal): Promise<void> {
    const test = tests.running(list, family)
    if (!test || proofOf(tests.state(list, family)) === 'holds') return
    await raced(signal, test.answered).catch(() => {}) // out of time: there is no proof
  }

  function begin(ctx: LookupCtx, address: Subject, entries: Known, signal: AbortSignal): Lookup {
    const suspects = lists.filter((_, index) => kept.isSuspect(index)).length
    // so many at once: the fault is on our side, and each list is worth the wait
    const ours = suspects > lists.length / 3
    return askAll({
      lists,
      address,
      known: entries,
      deadlineMs,
      signal,
      now,
      isPatient: (index) => ours || !kept.isSuspect(index),
      ask: (index, signals) => ask(ctx, address, index, signals),
    })
  }

  /**
   * Joins the lookup of this address in progress, unless it contains older answers than requested. If the caller
   * disconnects, the known entries are returned.
   */
  async function asked(
    ctx: LookupCtx,
    address: Subject,
    entries: Known,
    maxAgeMs: number,
    beside: () => void,
  ): Promise<readonly Entry[]> {
    const { work, result } = share(address, ({ signal }) => begin(ctx, address, entries, signal), {
      signal: ctx.signal,
      accepts: (lookup) => lookup.isFresh(maxAgeMs),
    })
    beside()
    try {
      return await result
    } catch (error) {
      if (!ctx.signal.aborted) throw error
      return work.sofar()
    }
  }
  return { known, asked }
}

/** Maximum number of addresses whose answers are cached: 29 entries each, about 13 KiB. */
export const MAX_ADDRESSES = 2_000
const LISTED_SECONDS = 900
const NOT_LISTED_SECONDS = 300
const ERROR_SECONDS = { least: 1, most: 5 } // RFC 9520 §3.2
/** Number of consecutive unanswered queries after which a list is waited for no longer than the others. */
const SUSPECT_AFTER = 2

/** The cached answers, bounded in addresses, and the counters of each list. */
export function memory(lists: readonly List[], now: () => number) {
  type Slot = { readonly entry: Entry; readonly expiresAtMs: number }
  const addresses = ttlCache<(Slot | undefined)[]>({ maxEntries: MAX_ADDRESSES, now })
  const failures = lists.map(() => 0)
  /** Answers by status since startup, per list. */
  const counts = lists.map(() => ({ listed: 0, not_listed: 0, blocked: 0, timeout: 0, error: 0, unsupported: 0 }))

  return {
    /** The cached answer of a list about an address; `maxAgeMs` requests a younger one. */
    recall: (address: Subject, index: number, nowMs: number, maxAgeMs: number): Entry | undefined => {
      const slot = addresses.get(address)?.value[index]
      if (!slot || slot.expiresAtMs <= nowMs) return undefined
      return nowMs - (slot.entry.atMs ?? 0) < maxAgeMs ? slot.entry : undefined
    },
    /** `counted` is the answer that counts, which may differ from what the list answered. */
    remember: (
      address: Subject,
      index: number,
      entry: Entry,
      ttlSeconds: number | undefined,
      counted: ListStatus,
    ): void => {
      counts[index]![counted] += 1
      failures[index] = ttlSeconds === undefined ? failures[index]! + 1 : 0
      const seconds = keepSeconds(entry.reading.status, ttlSeconds, failures[index]!)
      if (seconds <= 0) return
      const slots = addresses.get(address)?.value ?? []
      slots[index] = { entry, expiresAtMs: now() + seconds * 1_000 }
      addresses.set(address, slots, LISTED_SECONDS * 1_000)
    },
    /** Whether the list has left the last queries unanswered. */
    isSuspect: (index: number) => failures[index]! >= SUSPECT_AFTER,
    counts,
  }
}

/**
 * Seconds for which an answer is cached: by its TTL, within the bound of its kind; failures longer the more there were
 * in a row.
 */
export function keepSeconds(status: ListStatus, ttlSeconds: number | undefined, failures: number): number {
  if (ttlSeconds === undefined)
    return Math.min(ERROR_SECONDS.most, ERROR_SECONDS.least * 2 ** Math.max(0, failures - 1))
  if (status === 'listed') return Math.min(ttlSeconds, LISTED_SECONDS)
  if (status === 'not_listed') return Math.min(ttlSeconds, NOT_LISTED_SECONDS)
  return Math.max(ERROR_SECONDS.least, Math.min(ttlSeconds, ERROR_SECONDS.most))
}
