import type { SpfReach } from '../../seen-mail.ts'
import type { SpfFacts } from '../lookup.ts'
import { chainOf, type SpfNode, stepsOf } from '../tree.ts'
import { type Passing, passes, passingOf } from './passing.ts'

/** Whom the SPF record of a domain has. */
export function spfReach({ reading, tree }: SpfFacts): SpfReach {
  const passing = reading?.extent.passing
  let terms: readonly Passing[] | undefined
  return {
    everybody: reading?.extent.everybody ?? false,
    passes: (address) => (passing ? passes(passing, address) : false),
    names: (address) => {
      terms ??= tree
        ? chainOf(tree)
            .flatMap(termsAlone)
            .map((node) => passingOf(node))
        : []
      return terms.some((one) => passes(one, address) === true)
    },
  }
}

/** Each term of a record but `all` as a record of its own. */
function termsAlone(node: SpfNode): readonly SpfNode[] {
  const { record } = node
  if (!record) return []
  return stepsOf(node)
    .filter(({ directive }) => directive.mechanism.kind !== 'all')
    .map(({ directive, term }) => ({
      ...node,
      record: { ...record, directives: [directive] },
      terms: term ? [term] : [],
    }))
}
