import type { CheckAnswer } from '../../answers/check.ts'
import { better, difference, list, neutral, type Row, record, type Said, turned, worse } from './row.ts'

type Dmarc = CheckAnswer['dmarc']

const row = (id: string, compare: (before: Dmarc, after: Dmarc) => readonly Said[]): Row<CheckAnswer> => ({
  id: `dmarc.${id}`,
  area: 'DMARC',
  compare: ({ dmarc: before }, { dmarc: after }) =>
    before.status === 'unknown' || after.status === 'unknown' ? [] : compare(before, after),
})
const both = (before: Dmarc, after: Dmarc): boolean => before.record !== undefined && after.record !== undefined

const POLICIES = ['none', 'quarantine', 'reject']
const policyRow = (
  id: string,
  of: (dmarc: Dmarc) => string,
  words: (is: string, was: string) => string,
): Row<CheckAnswer> =>
  row(id, (before, after) => {
    const [was, is] = [of(before), of(after)]
    if (!both(before, after) || was === is || was === '' || is === '') return []
    return [(POLICIES.indexOf(is) < POLICIES.indexOf(was) ? worse : better)(words(is, was))]
  })

const uris = (destinations: Dmarc['rua']): readonly string[] => destinations.map(({ uri }) => uri)

const reportsRow = (id: 'rua' | 'ruf', name: string): Row<CheckAnswer> =>
  row(id, (before, after) => {
    const { gone, added } = difference(uris(before[id]), uris(after[id]))
    return both(before, after)
      ? [
          ...(added.length > 0 ? [neutral(`${name} now also go to ${list(added)}`)] : []),
          ...(gone.length > 0 ? [neutral(`${name} no longer go to ${list(gone)}`)] : []),
        ]
      : []
  })

export const DMARC_ROWS: readonly Row<CheckAnswer>[] = [
  row('published', (before, after) =>
    before.record === undefined && after.record !== undefined
      ? [better(`record published, policy ${after.policy === '' ? 'none' : after.policy}`)]
      : [],
  ),
  row('removed', (before, after) =>
    before.record !== undefined && after.record === undefined
      ? [worse(`record removed; its policy was ${before.policy === '' ? 'none' : before.policy}`)]
      : [],
  ),
  policyRow(
    'policy',
    ({ policy }) => policy,
    (is, was) => `policy ${is} instead of ${was}`,
  ),
  policyRow(
    'subdomain_policy',
    (dmarc) => (dmarc.subdomain_policy === dmarc.policy ? '' : dmarc.subdomain_policy),
    (is, was) => `policy ${is} for subdomains instead of ${was}`,
  ),
  row('testing', (before, after) =>
    both(before, after) && before.testing !== after.testing
      ? [after.testing ? worse('the policy is now in test mode (t=y)') : better('the policy is no longer in test mode')]
      : [],
  ),
  row('source', (before, after) =>
    both(before, after)
      ? turned(before.domain, after.domain, (was, is) =>
          neutral(`the record of ${is} now applies instead of that of ${was}`),
        )
      : [],
  ),
  reportsRow('rua', 'aggregate reports'),
  reportsRow('ruf', 'failure reports'),
  row('report_authorization', (before, after) => {
    const was = new Map(before.rua.map(({ uri, authorized }) => [uri, authorized]))
    return after.rua.flatMap(({ uri, authorized }) => {
      if (was.get(uri) === true && authorized === false) return [worse(`${uri} no longer accepts the reports`)]
      if (was.get(uri) === false && authorized === true) return [better(`${uri} now accepts the reports`)]
      return []
    })
  }),
  row('valid', (before, after) =>
    both(before, after) && before.valid !== after.valid
      ? [after.valid ? better('the record is now valid') : worse('the record is no longer valid')]
      : [],
  ),
  row('record', (before, after) => {
    const said = (dmarc: Dmarc): string =>
      JSON.stringify([
        dmarc.policy,
        dmarc.subdomain_policy,
        dmarc.testing,
        uris(dmarc.rua),
        uris(dmarc.ruf),
        dmarc.valid,
        dmarc.domain,
      ])
    return both(before, after) && before.record !== after.record && said(before) === said(after)
      ? [neutral(`the record is now ${record(after.record!)}, was ${record(before.record!)}`)]
      : []
  }),
]
