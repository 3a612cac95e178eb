import type { Answer, RecordType, Resolve } from '../net/dns/resolver.ts'
import { budgeted, budgetedServers, type QueryBudget } from '../net/dns/wrap.ts'
import type { Fetch } from '../net/fetch.ts'
import type { Ctx } from '../world.ts'

/** Maximum number of different queries whose answers one request caches; further ones are sent each time. */
const MAX_CACHED = 5_000
/** Maximum number of different queries of one check; the owner of the domain decides how many it needs. */
const MAX_CHECK_QUESTIONS = 120
/** Number of queries that every check may send. */
const USUAL_QUESTIONS = 60
/** Number of further queries for each address of a mail host: its PTR names, and ten of them back. */
const QUESTIONS_PER_ADDRESS = 12

/**
 * The same context, with every answer cached for the length of this request. Checks that send the same query get the
 * same answer, even for records that must not be cached (TTL 0), and a failed query is not repeated. A query with a
 * signal of its own is not cached, because it may be given up before the others.
 */
export function remembering<C extends Pick<Ctx, 'resolve' | 'signal'>>(ctx: C): C {
  // A map for each type: joined keys would take longer than the rest.
  const asked = new Map<string, Map<string, Promise<Answer>>>()
  let size = 0
  const resolve: Resolve = <T extends RecordType>(
    name: string,
    type: T,
    signal: AbortSignal,
    options?: Parameters<Resolve>[3],
  ) => {
    if (signal !== ctx.signal) return ctx.resolve(name, type, signal, options)
    const kind = options?.checkingDisabled ? `${type} CD` : type
    const key = name.toLowerCase()
    const same = asked.get(kind)
    const known = same?.get(key)
    if (known !== undefined) return known as Promise<Answer<T>>
    const answer = ctx.resolve(name, type, signal, options)
    if (size++ >= MAX_CACHED) return answer
    if (same) same.set(key, answer as Promise<Answer>)
    else asked.set(kind, new Map([[key, answer as Promise<Answer>]]))
    return answer
  }
  return { ...ctx, resolve }
}

/**
 * A context in which a check can run again with the same input: answers and fetched pages are cached, and every run
 * gets the same random numbers.
 */
export type Repeatable<C> = C & {
  /** The context for one run. */
  readonly anew: () => C
  /**
   * Permits only 60 queries in all, 12 for each of so many addresses of mail hosts, and at most 120. Those beyond 60
   * wait until the number is known.
   */
  readonly permit: (addresses: Promise<number>) => void
  /** Whether so many queries were sent that the next one may be refused, or one was. */
  readonly isSpent: () => boolean
}

/** Maximum number of pages that one request caches. */
const MAX_PAGES = 100

/**
 * {@link remembering}, also for fetched pages, in a context that gives each run the same random numbers. All runs
 * together send at most 120 different queries, those to name servers included; the others fail with
 * `too_many_questions`.
 */
export function repeatable<C extends Ctx>(ctx: C): Repeatable<C> {
  const budget: QueryBudget = { spent: 0, most: MAX_CHECK_QUESTIONS, least: MAX_CHECK_QUESTIONS }
  const shared = remembering({
    ...ctx,
    resolve: budgeted(ctx.resolve, budget),
    askServer: budgetedServers(ctx.askServer, budget),
  })
  const pages = new Map<string, ReturnType<Fetch>>()
  const fetch: Fetch = (url, signal, options) => {
    const key = JSON.stringify([url, options])
    const known = signal === ctx.signal ? pages.get(key) : undefined
    if (known !== undefined) return known
    const page = ctx.fetch(url, signal, options)
    if (signal === ctx.signal && pages.size < MAX_PAGES) pages.set(key, page)
    return page
  }
  const seed = Math.floor(ctx.random() * 2 ** 32)
  const run = { ...shared, fetch }
  return {
    ...run,
    anew: () => ({ ...run, random: sequence(seed) }),
    isSpent: () => budget.spent >= (budget.known === undefined ? budget.most : Math.min(budget.least, budget.most)),
    permit: (addresses) => {
      budget.least = USUAL_QUESTIONS
      budget.known = addresses.then((count) => {
        budget.most = Math.min(MAX_CHECK_QUESTIONS, USUAL_QUESTIONS + QUESTIONS_PER_ADDRESS * count)
        budget.known = undefined
      })
      budget.known.catch(() => {}) // only queries beyond the usual number wait for it
    },
  }
}

/** Numbers from 0 to 1, generated from a seed of 32 bits (mulberry32). */
export function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
