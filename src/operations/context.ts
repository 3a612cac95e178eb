import type { Answer, RecordType, Resolve } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'

/** Different questions that one request remembers; beyond it each is asked anew. */
const MAX_QUESTIONS = 5_000

/**
 * The same context with every answer remembered for the length of this request: checks that ask the same question get the same answer,
 * also for records that may not be cached (TTL 0), and a failure is not asked again. A question with a signal of its own is not remembered:
 * it may be given up before the others.
 */
export function remembering<C extends Pick<Ctx, 'resolve' | 'signal'>>(ctx: C): C {
  const asked = new Map<string, Promise<Answer>>()
  const resolve: Resolve = <T extends RecordType>(
    name: string,
    type: T,
    signal: AbortSignal,
    options?: Parameters<Resolve>[3],
  ) => {
    const key = `${name.toLowerCase()} ${type} ${options?.checkingDisabled ? 'CD' : ''}`
    const known = signal === ctx.signal ? asked.get(key) : undefined
    if (known !== undefined) return known as Promise<Answer<T>>
    const answer = ctx.resolve(name, type, signal, options)
    if (signal === ctx.signal && asked.size < MAX_QUESTIONS) asked.set(key, answer as Promise<Answer>)
    return answer
  }
  return { ...ctx, resolve }
}
