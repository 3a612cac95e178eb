import type { Answer, RecordType, Resolve } from '../net/dns/resolver.ts'
import type { Fetch } from '../net/fetch.ts'
import type { Ctx } from '../world.ts'
import { Questions } from './questions.ts'

/** Maximum number of different queries whose answers one request caches; further ones are sent each time. */
const MAX_CACHED = 5_000
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
  /** The context for one run, whose queries are those that the runs before have left. */
  readonly anew: () => C
}

/** Maximum number of pages that one request caches. */
const MAX_PAGES = 100

/**
 * {@link remembering}, also for fetched pages, in a context that gives each run the same random numbers. All runs
 * together send at most 120 different queries, those to name servers included ({@link Questions}); the others fail with
 * `too_many_questions`.
 */
export function repeatable<C extends Ctx>(ctx: C, domain: string): Repeatable<C> {
  const questions = new Questions()
  const askServer: C['askServer'] = (server, name, type, ...rest) =>
    questions.direct(name, type, () => ctx.askServer(server, name, type, ...rest))
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
  const run = { ...ctx, resolve: questions.limited(ctx, domain), askServer, fetch, questions }
  const anew = (): C => {
    questions.again()
    return { ...run, random: sequence(seed) }
  }
  return { ...run, anew }
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
