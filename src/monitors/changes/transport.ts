import type { CheckAnswer } from '../../answers/check.ts'
import { better, difference, list, neutral, type Row, type Said, turned, worse } from './row.ts'

type Checks = 'mta_sts' | 'tls_rpt' | 'bimi' | 'dane' | 'starttls'
type Known<K extends Checks> = NonNullable<CheckAnswer[K]>

const row = <K extends Checks>(
  key: K,
  id: string,
  area: string,
  compare: (before: Known<K>, after: Known<K>) => readonly Said[],
): Row<CheckAnswer> => ({
  id: `${key}.${id}`,
  area,
  compare: ({ [key]: before }, { [key]: after }) =>
    !before || !after || before.status === 'unknown' || after.status === 'unknown' ? [] : compare(before, after),
})

/** A record that appears or goes. */
const presence = <K extends 'mta_sts' | 'tls_rpt' | 'bimi'>(key: K, area: string): readonly Row<CheckAnswer>[] => [
  row(key, 'published', area, (before, after) =>
    before.record === undefined && after.record !== undefined ? [better('record published')] : [],
  ),
  row(key, 'removed', area, (before, after) =>
    before.record !== undefined && after.record === undefined ? [worse('record removed')] : [],
  ),
  row(key, 'valid', area, (before, after) =>
    before.record !== undefined && after.record !== undefined && before.valid !== after.valid
      ? [after.valid ? better('usable again') : worse(`no longer usable${after.reason ? `: ${after.reason}` : ''}`)]
      : [],
  ),
]

const MODES = ['none', 'testing', 'enforce']

/** The hosts of both, in pairs. */
function pairs<T>(before: readonly T[], after: readonly T[], key: (one: T) => string): readonly (readonly [T, T])[] {
  const was = new Map(before.map((one) => [key(one), one]))
  return after.flatMap((one) => {
    const old = was.get(key(one))
    return old === undefined ? [] : [[old, one] as const]
  })
}

/** A property of a mail host's TLS that changed. */
const tlsRow = (
  fact: 'offered' | 'trusted' | 'name_matches',
  words: readonly [yes: string, no: string],
): Row<CheckAnswer> =>
  row('starttls', fact, 'STARTTLS', (before, after) =>
    pairs(before.hosts, after.hosts, ({ host, address }) => `${host} ${address}`).flatMap(([was, is]) =>
      turned(was[fact], is[fact], (_, now) =>
        (now ? better : worse)(`${is.host} [${is.address}] ${now ? words[0] : words[1]}`),
      ),
    ),
  )

export const TRANSPORT_ROWS: readonly Row<CheckAnswer>[] = [
  ...presence('mta_sts', 'MTA-STS'),
  row('mta_sts', 'mode', 'MTA-STS', (before, after) =>
    turned(before.policy?.mode, after.policy?.mode, (was, is) =>
      (MODES.indexOf(is) < MODES.indexOf(was) ? worse : better)(`mode ${is} instead of ${was}`),
    ),
  ),
  row('mta_sts', 'mx', 'MTA-STS', (before, after) => {
    const { gone, added } = difference(before.policy?.mx ?? [], after.policy?.mx ?? [])
    if (!before.policy || !after.policy || (gone.length === 0 && added.length === 0)) return []
    return [neutral(`the policy has the hosts ${list(after.policy.mx)} instead of ${list(before.policy.mx)}`)]
  }),
  row('mta_sts', 'uncovered_mx', 'MTA-STS', (before, after) => {
    const { gone, added } = difference(before.uncovered_mx, after.uncovered_mx)
    return [
      ...(added.length > 0 && after.policy ? [worse(`the policy no longer contains ${list(added)}`)] : []),
      ...(gone.length > 0 && after.policy
        ? [better(`the policy contains ${list(gone)}, or it is no longer an MX host`)]
        : []),
    ]
  }),
  ...presence('tls_rpt', 'TLS-RPT'),
  row('tls_rpt', 'rua', 'TLS-RPT', (before, after) => {
    const { gone, added } = difference(before.rua, after.rua)
    if (before.record === undefined || after.record === undefined || (gone.length === 0 && added.length === 0))
      return []
    return [neutral(`reports go to ${list(after.rua)} instead of ${list(before.rua)}`)]
  }),
  ...presence('bimi', 'BIMI'),
  row('bimi', 'logo', 'BIMI', (before, after) =>
    before.record !== undefined && after.record !== undefined
      ? turned(before.logo, after.logo, (was, is) => neutral(`the logo is ${list([is])} instead of ${list([was])}`))
      : [],
  ),
  row('dane', 'records', 'DANE', (before, after) =>
    pairs(before.hosts, after.hosts, ({ host }) => host).flatMap(([was, is]) => {
      if (was.secure === null || is.secure === null) return []
      const { gone, added } = difference(was.records.map(tlsa), is.records.map(tlsa))
      if (gone.length === 0 && added.length === 0) return []
      if (is.records.length === 0) return [worse(`the TLSA records of ${is.host} were removed`)]
      if (was.records.length === 0) return [better(`${is.host} now has TLSA records`)]
      return [neutral(`the TLSA records of ${is.host} have changed`)]
    }),
  ),
  row('dane', 'matches', 'DANE', (before, after) =>
    pairs(before.hosts, after.hosts, ({ host }) => host).flatMap(([was, is]) =>
      turned(matches(was.records), matches(is.records), (_, now) =>
        now
          ? better(`the certificate of ${is.host} matches its TLSA records again`)
          : worse(
              `the certificate of ${is.host} no longer matches its TLSA records: senders that use DANE do not deliver`,
            ),
      ),
    ),
  ),
  tlsRow('offered', ['offers STARTTLS again', 'no longer offers STARTTLS']),
  tlsRow('trusted', ['now has a trusted certificate', 'no longer has a trusted certificate']),
  tlsRow('name_matches', ['now has a certificate for its name', 'now has a certificate for another name']),
]

type Tlsa = Known<'dane'>['hosts'][number]['records'][number]
const tlsa = ({ usage, selector, matching_type, data }: Tlsa): string => `${usage} ${selector} ${matching_type} ${data}`

/** Whether any record matches the certificate; null if that is not known, or if there is none. */
function matches(records: readonly Tlsa[]): boolean | null {
  if (records.some((one) => one.matches === true)) return true
  return records.length === 0 || records.some((one) => one.matches === null) ? null : false
}
