import type { CheckAnswer } from '../../answers/check.ts'
import { better, came, list, neutral, pairs, partRow, type Row, type Said, turned, went, worse } from './row.ts'

/** Like {@link partRow}; what does not apply is not compared either. */
const row = <K extends 'ns' | 'soa' | 'caa'>(
  key: K,
  id: string,
  area: string,
  compare: (before: CheckAnswer[K], after: CheckAnswer[K]) => readonly Said[],
): Row<CheckAnswer> =>
  partRow<K>(key, id, area, (before, after) =>
    before.status === 'not_applicable' || after.status === 'not_applicable' ? [] : compare(before, after),
  )

const serverPairs = (before: CheckAnswer['ns'], after: CheckAnswer['ns']) =>
  pairs(before.servers, after.servers, ({ host }) => host)
const hosts = ({ servers }: CheckAnswer['ns']): readonly string[] => servers.map(({ host }) => host)

export const ZONE_ROWS: readonly Row<CheckAnswer>[] = [
  row('ns', 'added', 'Name servers', (before, after) => came(hosts(before), hosts(after))),
  row('ns', 'removed', 'Name servers', (before, after) => went(hosts(before), hosts(after))),
  row('ns', 'lame', 'Name servers', (before, after) =>
    serverPairs(before, after).flatMap(([was, is]) =>
      turned(was.lame, is.lame, (_, now) =>
        now ? worse(`${is.host} no longer answers for the domain`) : better(`${is.host} answers for the domain again`),
      ),
    ),
  ),
  row('ns', 'differs', 'Name servers', (before, after) =>
    serverPairs(before, after).flatMap(([was, is]) => {
      if (was.lame !== false || is.lame !== false || was.differs.length > 0 === is.differs.length > 0) return []
      return is.differs.length > 0
        ? [worse(`${is.host} has records that differ from those of the other servers (${list(is.differs)})`)]
        : [better(`${is.host} has the same records as the other servers again`)]
    }),
  ),
  row('soa', 'primary', 'SOA', (before, after) =>
    turned(before.primary, after.primary, (was, is) => neutral(`primary server ${is} instead of ${was}`)),
  ),
  row('soa', 'contact', 'SOA', (before, after) =>
    turned(before.contact, after.contact, (was, is) => neutral(`contact ${is} instead of ${was}`)),
  ),
]

/** The absence of DNSSEC is a fact too: `not_applicable` is compared. */
const dnssecRow = (fact: 'signed' | 'bogus', say: (now: boolean) => Said): Row<CheckAnswer> => ({
  id: `dnssec.${fact}`,
  area: 'DNSSEC',
  compare: ({ dnssec: before }, { dnssec: after }) => turned(before[fact], after[fact], (_, now) => say(now)),
})

const caaText = ({ tag, value }: CheckAnswer['caa']['records'][number]): string => `${tag} ${value}`

export const DNSSEC_ROWS: readonly Row<CheckAnswer>[] = [
  dnssecRow('signed', (now) => (now ? better('the zone is now signed') : worse('the zone is no longer signed'))),
  dnssecRow('bogus', (now) =>
    now
      ? worse('DNSSEC validation fails: validating resolvers return no answer')
      : better('DNSSEC validation succeeds again'),
  ),
  row('caa', 'records', 'CAA', (before, after) => {
    const [was, is] = [before.records.map(caaText), after.records.map(caaText)]
    return [...came(was, is), ...went(was, is)]
  }),
]
