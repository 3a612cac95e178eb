import type { CheckAnswer } from '../../answers/check.ts'
import type { SpfInclude } from '../../answers/checks.ts'
import { better, difference, list, neutral, pairs, partRow, type Row, record, type Said, turned, worse } from './row.ts'

type Spf = CheckAnswer['spf']

const spfRow = (id: string, compare: (before: Spf, after: Spf) => readonly Said[]): Row<CheckAnswer> =>
  partRow('spf', id, 'SPF', compare)
const bothSpf = (before: Spf, after: Spf): boolean => before.records.length === 1 && after.records.length === 1

/** From the most to the least strict. */
const STRICTNESS = ['-', '~', '?', '+']

const includesOf = ({ includes }: Spf): readonly string[] =>
  includes.map(({ term }) => term.replace(/^.?include:/i, ''))

export const SPF_ROWS: readonly Row<CheckAnswer>[] = [
  spfRow('published', (before, after) =>
    before.records.length === 0 && after.records.length > 0
      ? [better(`record published: ${record(after.records[0]!)}`)]
      : [],
  ),
  spfRow('removed', (before, after) =>
    before.records.length > 0 && after.records.length === 0 ? [worse('record removed')] : [],
  ),
  spfRow('several_records', (before, after) =>
    before.records.length <= 1 && after.records.length > 1
      ? [worse(`${after.records.length} records instead of one: receivers use none of them`)]
      : before.records.length > 1 && after.records.length === 1
        ? [better('only one record again')]
        : [],
  ),
  spfRow('include_removed', (before, after) => {
    const { gone } = difference(includesOf(before), includesOf(after))
    return bothSpf(before, after) && gone.length > 0 && !after.includes_left_out
      ? [neutral(`include of ${list(gone)} removed`)]
      : []
  }),
  spfRow('include_added', (before, after) => {
    const { added } = difference(includesOf(before), includesOf(after))
    return bothSpf(before, after) && added.length > 0 && !before.includes_left_out
      ? [neutral(`include of ${list(added)} added`)]
      : []
  }),
  spfRow('include_broken', (before, after) => {
    const was = new Map(flat(before.includes).map((one) => [one.term, one.state]))
    return flat(after.includes).flatMap((one) => {
      const state = was.get(one.term)
      if (state === undefined || state === one.state || isOpen(state) || isOpen(one.state)) return []
      const words = `${one.term} is ${one.state.replaceAll('_', ' ')} now, was ${state.replaceAll('_', ' ')}`
      return [neutral(words)]
    })
  }),
  spfRow('all', (before, after) =>
    bothSpf(before, after)
      ? turned(before.all ?? '?', after.all ?? '?', (was, is) => {
          const words = `the record ends in "${is}all" instead of "${was}all"`
          return STRICTNESS.indexOf(is) > STRICTNESS.indexOf(was) ? worse(words) : better(words)
        })
      : [],
  ),
  spfRow('lookups', (before, after) =>
    turned(before.lookups, after.lookups, (was, is) => {
      const words = `${is} lookup${is === 1 ? '' : 's'} instead of ${was}${is > 10 && was <= 10 ? ', more than the 10 allowed' : ''}`
      return is > 10 && was <= 10 ? worse(words) : was > 10 && is <= 10 ? better(words) : neutral(words)
    }),
  ),
  spfRow('record', (before, after) => {
    if (!bothSpf(before, after) || before.records[0] === after.records[0]) return []
    const { gone, added } = difference(includesOf(before), includesOf(after))
    const isSaid = gone.length > 0 || added.length > 0 || (before.all ?? '?') !== (after.all ?? '?')
    return isSaid ? [] : [neutral(`the record is now ${record(after.records[0]!)}, was ${record(before.records[0]!)}`)]
  }),
  spfRow('passing', (before, after) => {
    if (!before.passing?.complete || !after.passing?.complete || !bothSpf(before, after)) return []
    return turned(before.passing.ipv4, after.passing.ipv4, (was, is) =>
      neutral(
        `${is.toLocaleString('en')} IPv4 address${is === 1 ? ' passes' : 'es pass'} instead of ${was.toLocaleString('en')}`,
      ),
    )
  }),
  spfRow('valid', (before, after) =>
    bothSpf(before, after) && before.valid !== after.valid
      ? [after.valid ? better('the record can be evaluated again') : worse('the record results in permerror')]
      : [],
  ),
]

const flat = (includes: readonly SpfInclude[]): readonly SpfInclude[] =>
  includes.flatMap((one) => [one, ...flat(one.includes)])

/** States that mean that something could not be determined. */
const isOpen = (state: string): boolean => ['unknown', 'not_read', 'not_asked'].includes(state)

type Key = CheckAnswer['dkim']['keys'][number]

const dkimRow = (
  id: string,
  compare: (before: CheckAnswer, after: CheckAnswer) => readonly Said[],
): Row<CheckAnswer> => ({
  id: `dkim.${id}`,
  area: 'DKIM',
  compare,
})

/** Whether every selector has an answer: a key that was not found then does not exist. */
const isWhole = ({ findings, dkim }: CheckAnswer): boolean =>
  dkim.tried > 0 && !findings.some(({ id }) => id === 'dkim.not_asked')

/** The keys of `one` whose selectors have none in `other`. */
function only(one: CheckAnswer, other: CheckAnswer): readonly Key[] {
  const names = new Set(other.dkim.keys.map(({ name }) => name))
  return one.dkim.keys.filter(({ name }) => !names.has(name))
}

const keyPairs = (before: CheckAnswer, after: CheckAnswer) =>
  pairs(before.dkim.keys, after.dkim.keys, ({ name }) => name)

const size = ({ key_type, key_bits }: Key): string => `${key_type}${key_bits === null ? '' : ` of ${key_bits} bits`}`

export const DKIM_ROWS: readonly Row<CheckAnswer>[] = [
  dkimRow('key_added', (before, after) =>
    isWhole(before) && before.dkim.tried >= after.dkim.tried
      ? only(after, before).map((key) =>
          (key.usable ? better : neutral)(`new key at ${key.selector}${key.usable ? ` (${size(key)})` : ''}`),
        )
      : [],
  ),
  dkimRow('key_removed', (before, after) =>
    isWhole(after) && after.dkim.tried >= before.dkim.tried
      ? only(before, after).map((key) =>
          (key.usable && !after.dkim.valid ? worse : neutral)(
            `the key at ${key.selector} was removed${key.usable && !after.dkim.valid ? '; no usable key remains' : ''}`,
          ),
        )
      : [],
  ),
  dkimRow('key_revoked', (before, after) =>
    keyPairs(before, after).flatMap(([was, is]) =>
      !was.revoked && is.revoked ? [neutral(`the key at ${is.selector} was revoked`)] : [],
    ),
  ),
  dkimRow('key_unusable', (before, after) =>
    keyPairs(before, after).flatMap(([was, is]) => {
      if (was.usable === is.usable || is.revoked) return []
      return [
        is.usable
          ? better(`the key at ${is.selector} is usable`)
          : worse(`the key at ${is.selector} is not usable${is.problem === undefined ? '' : `: ${is.problem}`}`),
      ]
    }),
  ),
  dkimRow('key_replaced', (before, after) =>
    keyPairs(before, after).flatMap(([was, is]) => {
      if (!was.usable || !is.usable || publicKey(was) === publicKey(is)) return []
      const words = size(was) === size(is) ? `key replaced` : `key replaced, ${size(is)} instead of ${size(was)}`
      return [neutral(`${words} at ${is.selector}`)]
    }),
  ),
  dkimRow('testing', (before, after) =>
    keyPairs(before, after).flatMap(([was, is]) => {
      if (!was.usable || !is.usable || was.testing === is.testing) return []
      return [
        is.testing
          ? worse(`the key at ${is.selector} is now in test mode (t=y)`)
          : better(`the key at ${is.selector} is no longer in test mode`),
      ]
    }),
  ),
]

const publicKey = ({ record }: Key): string => /(?:^|;)\s*p\s*=\s*([^;]*)/i.exec(record)?.[1]?.replace(/\s/g, '') ?? ''

type Dmarc = CheckAnswer['dmarc']

const dmarcRow = (id: string, compare: (before: Dmarc, after: Dmarc) => readonly Said[]): Row<CheckAnswer> =>
  partRow('dmarc', id, 'DMARC', compare)
const bothDmarc = (before: Dmarc, after: Dmarc): boolean => before.record !== undefined && after.record !== undefined

const POLICIES = ['none', 'quarantine', 'reject']
const policyRow = (
  id: string,
  of: (dmarc: Dmarc) => string,
  words: (is: string, was: string) => string,
): Row<CheckAnswer> =>
  dmarcRow(id, (before, after) => {
    const [was, is] = [of(before), of(after)]
    if (!bothDmarc(before, after) || was === is || was === '' || is === '') return []
    return [(POLICIES.indexOf(is) < POLICIES.indexOf(was) ? worse : better)(words(is, was))]
  })

const uris = (destinations: Dmarc['rua']): readonly string[] => destinations.map(({ uri }) => uri)

const reportsRow = (id: 'rua' | 'ruf', name: string): Row<CheckAnswer> =>
  dmarcRow(id, (before, after) => {
    const { gone, added } = difference(uris(before[id]), uris(after[id]))
    return bothDmarc(before, after)
      ? [
          ...(added.length > 0 ? [neutral(`${name} now also go to ${list(added)}`)] : []),
          ...(gone.length > 0 ? [neutral(`${name} no longer go to ${list(gone)}`)] : []),
        ]
      : []
  })

export const DMARC_ROWS: readonly Row<CheckAnswer>[] = [
  dmarcRow('published', (before, after) =>
    before.record === undefined && after.record !== undefined
      ? [better(`record published, policy ${after.policy === '' ? 'none' : after.policy}`)]
      : [],
  ),
  dmarcRow('removed', (before, after) =>
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
  dmarcRow('testing', (before, after) =>
    bothDmarc(before, after) && before.testing !== after.testing
      ? [after.testing ? worse('the policy is now in test mode (t=y)') : better('the policy is no longer in test mode')]
      : [],
  ),
  dmarcRow('source', (before, after) =>
    bothDmarc(before, after)
      ? turned(before.domain, after.domain, (was, is) =>
          neutral(`the record of ${is} now applies instead of that of ${was}`),
        )
      : [],
  ),
  reportsRow('rua', 'aggregate reports'),
  reportsRow('ruf', 'failure reports'),
  dmarcRow('report_authorization', (before, after) => {
    const was = new Map(before.rua.map(({ uri, authorized }) => [uri, authorized]))
    return after.rua.flatMap(({ uri, authorized }) => {
      if (was.get(uri) === true && authorized === false) return [worse(`${uri} no longer accepts the reports`)]
      if (was.get(uri) === false && authorized === true) return [better(`${uri} now accepts the reports`)]
      return []
    })
  }),
  dmarcRow('valid', (before, after) =>
    bothDmarc(before, after) && before.valid !== after.valid
      ? [after.valid ? better('the record is now valid') : worse('the record is no longer valid')]
      : [],
  ),
  dmarcRow('record', (before, after) => {
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
    return bothDmarc(before, after) && before.record !== after.record && said(before) === said(after)
      ? [neutral(`the record is now ${record(after.record!)}, was ${record(before.record!)}`)]
      : []
  }),
]
