import type { z } from 'zod'
import { wholeList } from '../answers/list.ts'
import { asTheyCome } from '../base/as-they-come.ts'
import type { Verdict } from './given.ts'
import { type Call, ok } from './operation.ts'

/** Maximum number of addresses or domains that are looked up at the same time; an address is 29 queries. */
const AT_A_TIME = 8

type Listed = { readonly verdict: 'listed' | 'clean' | 'incomplete' }
type List<A> = { readonly data: readonly A[] }

/**
 * The run, the lines and the verdict of an operation that looks up many subjects: an answer of `look` for each, in the order in which they finish. Every
 * subject gets its line, even after the deadline: the line then says which lists gave no answer.
 */
export function blacklistLines<Subject, Deps, Input, A extends Listed>(
  item: z.ZodType<A>,
  subjects: (input: Input) => readonly Subject[],
  look: (ctx: Call, deps: Deps, subject: Subject) => Promise<A>,
) {
  const answers = (ctx: Call, deps: Deps, input: Input): AsyncIterable<A> =>
    asTheyCome(AT_A_TIME, subjects(input), (subject) => look(ctx, deps, subject))
  return {
    run: async (ctx: Call, deps: Deps, input: Input) => {
      const data: A[] = []
      for await (const answer of answers(ctx, deps, input)) data.push(answer)
      return ok(wholeList(data))
    },
    lines: { item, run: answers, of: ({ data }: List<A>) => data, join: wholeList },
    verdict: ({ data }: List<A>): Verdict => {
      if (data.some(({ verdict }) => verdict === 'listed')) return 'bad'
      return data.every(({ verdict }) => verdict === 'clean') ? 'good' : 'unclear'
    },
  }
}
