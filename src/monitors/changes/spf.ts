import type { CheckAnswer } from '../../answers/check.ts'
import type { SpfInclude } from '../../answers/spf.ts'
import { better, difference, list, neutral, type Row, record, type Said, turned, worse } from './row.ts'

type Spf = CheckAnswer['spf']

const row = (id: string, compare: (before: Spf, after: Spf) => readonly Said[]): Row<CheckAnswer> => ({
  id: `spf.${id}`,
  area: 'SPF',
  compare: ({ spf: before }, { spf: after }) =>
    before.status === 'unknown' || after.status === 'unknown' ? [] : compare(before, after),
})
/** Both have one record. */
const both = (before: Spf, after: Spf): boolean => before.records.length === 1 && after.records.length === 1

/** From the most to the least strict. */
const STRICTNESS = ['-', '~', '?', '+']

const includesOf = ({ includes }: Spf): readonly string[] =>
  includes.map(({ term }) => term.replace(/^.?include:/i, ''))

export const SPF_ROWS: readonly Row<CheckAnswer>[] = [
  row('published', (before, after) =>
    before.records.length === 0 && after.records.length > 0
      ? [better(`record published: ${record(after.records[0]!)}`)]
      : [],
  ),
  row('removed', (before, after) =>
    before.records.length > 0 && after.records.length === 0 ? [worse('record removed')] : [],
  ),
  row('several_records', (before, after) =>
    before.records.length <= 1 && after.records.length > 1
      ? [worse(`${after.records.length} records instead of one: receivers use none of them`)]
      : before.records.length > 1 && after.records.length === 1
        ? [better('only one record again')]
        : [],
  ),
  row('include_removed', (before, after) => {
    const { gone } = difference(includesOf(before), includesOf(after))
    return both(before, after) && gone.length > 0 && !after.includes_left_out
      ? [neutral(`include of ${list(gone)} removed`)]
      : []
  }),
  row('include_added', (before, after) => {
    const { added } = difference(includesOf(before), includesOf(after))
    return both(before, after) && added.length > 0 && !before.includes_left_out
      ? [neutral(`include of ${list(added)} added`)]
      : []
  }),
  row('include_broken', (before, after) => {
    const was = new Map(flat(before.includes).map((one) => [one.term, one.state]))
    return flat(after.includes).flatMap((one) => {
      const state = was.get(one.term)
      if (state === undefined || state === one.state || isOpen(state) || isOpen(one.state)) return []
      const words = `${one.term} is ${one.state.replaceAll('_', ' ')} now, was ${state.replaceAll('_', ' ')}`
      return [neutral(words)]
    })
  }),
  row('all', (before, after) =>
    both(before, after)
      ? turned(before.all ?? '?', after.all ?? '?', (was, is) => {
          const words = `the record ends in "${is}all" instead of "${was}all"`
          return STRICTNESS.indexOf(is) > STRICTNESS.indexOf(was) ? worse(words) : better(words)
        })
      : [],
  ),
  row('lookups', (before, after) =>
    turned(before.lookups, after.lookups, (was, is) => {
      const words = `${is} lookup${is === 1 ? '' : 's'} instead of ${was}${is > 10 && was <= 10 ? ', more than the 10 allowed' : ''}`
      return is > 10 && was <= 10 ? worse(words) : was > 10 && is <= 10 ? better(words) : neutral(words)
    }),
  ),
  row('record', (before, after) => {
    if (!both(before, after) || before.records[0] === after.records[0]) return []
    const { gone, added } = difference(includesOf(before), includesOf(after))
    const isSaid = gone.length > 0 || added.length > 0 || (before.all ?? '?') !== (after.all ?? '?')
    return isSaid ? [] : [neutral(`the record is now ${record(after.records[0]!)}, was ${record(before.records[0]!)}`)]
  }),
  row('passing', (before, after) => {
    if (!before.passing?.complete || !after.passing?.complete || !both(before, after)) return []
    return turned(before.passing.ipv4, after.passing.ipv4, (was, is) =>
      neutral(
        `${is.toLocaleString('en')} IPv4 address${is === 1 ? ' passes' : 'es pass'} instead of ${was.toLocaleString('en')}`,
      ),
    )
  }),
  row('valid', (before, after) =>
    both(before, after) && before.valid !== after.valid
      ? [after.valid ? better('the record can be evaluated again') : worse('the record results in permerror')]
      : [],
  ),
]

const flat = (includes: readonly SpfInclude[]): readonly SpfInclude[] =>
  includes.flatMap((one) => [one, ...flat(one.includes)])

/** States that mean that something could not be determined. */
const isOpen = (state: string): boolean => ['unknown', 'not_read', 'not_asked'].includes(state)
