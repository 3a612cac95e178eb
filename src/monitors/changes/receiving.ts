import type { CheckAnswer } from '../../answers/check.ts'
import {
  better,
  came,
  difference,
  type Known,
  list,
  neutral,
  pairs,
  partRow,
  type Row,
  type Said,
  turned,
  went,
  worse,
} from './row.ts'

type Host = CheckAnswer['mx'][number]
type Address = Host['addresses'][number]

const mxRow = (
  id: string,
  area: string,
  compare: (before: CheckAnswer, after: CheckAnswer) => readonly Said[],
): Row<CheckAnswer> => ({
  id,
  area,
  compare: (before, after) =>
    before.mx_status === 'unknown' || after.mx_status === 'unknown' ? [] : compare(before, after),
})

const KINDS = {
  explicit: 'mail now goes to the hosts of MX records',
  implicit: 'no MX record; mail now goes to the domain itself',
  null: 'the domain now declares that it accepts no mail (null MX)',
  none: 'the domain has no mail host',
} as const

const shared = (before: CheckAnswer, after: CheckAnswer) => pairs(before.mx, after.mx, ({ host }) => host)
const addresses = ({ mx }: CheckAnswer): readonly Address[] => mx.flatMap((host) => host.addresses)

const sharedAddresses = (before: CheckAnswer, after: CheckAnswer) =>
  pairs(addresses(before), addresses(after), ({ address }) => address).filter(
    ([was, is]) => was.forward_confirmed !== null && is.forward_confirmed !== null,
  )

export const MX_ROWS: readonly Row<CheckAnswer>[] = [
  mxRow('mx.kind', 'MX', (before, after) => {
    const [was, is] = [before.mx_kind, after.mx_kind]
    if (was === undefined || is === undefined || was === is) return []
    const takes = (kind: keyof typeof KINDS): boolean => kind === 'explicit' || kind === 'implicit'
    return [(takes(is) === takes(was) ? neutral : takes(is) ? better : worse)(KINDS[is])]
  }),
  mxRow('mx.host_added', 'MX', (before, after) => came(hosts(before), hosts(after))),
  mxRow('mx.host_removed', 'MX', (before, after) => went(hosts(before), hosts(after))),
  mxRow('mx.preference', 'MX', (before, after) =>
    shared(before, after).flatMap(([was, is]) =>
      was.priority === is.priority
        ? []
        : [neutral(`${is.host} has preference ${is.priority} instead of ${was.priority}`)],
    ),
  ),
  mxRow('mx.resolvable', 'MX', (before, after) =>
    shared(before, after).flatMap(([was, is]) => {
      if (was.resolvable === null || is.resolvable === null || was.resolvable === is.resolvable) return []
      return [is.resolvable ? better(`${is.host} has an address again`) : worse(`${is.host} no longer has an address`)]
    }),
  ),
  mxRow('mx.addresses', 'MX', (before, after) =>
    shared(before, after).flatMap(([was, is]) => {
      if (was.resolvable !== true || is.resolvable !== true || was.reason !== undefined || is.reason !== undefined)
        return []
      const { gone, added } = difference(ips(was), ips(is))
      const words = [
        ...(added.length > 0 ? [`${list(added)} added`] : []),
        ...(gone.length > 0 ? [`${list(gone)} removed`] : []),
      ]
      return words.length > 0 ? [neutral(`addresses of ${is.host}: ${words.join(', ')}`)] : []
    }),
  ),
  mxRow('ptr.names', 'PTR', (before, after) =>
    sharedAddresses(before, after).flatMap(([was, is]) => {
      const { gone, added } = difference(was.ptr, is.ptr)
      if (gone.length === 0 && added.length === 0) return []
      if (is.ptr.length === 0) return [worse(`${is.address} no longer has a PTR name (was ${list(gone)})`)]
      if (was.ptr.length === 0) return [better(`${is.address} now has the PTR name ${list(added)}`)]
      return [neutral(`${is.address} has the PTR name ${list(is.ptr)} instead of ${list(was.ptr)}`)]
    }),
  ),
  mxRow('ptr.confirmed', 'PTR', (before, after) =>
    sharedAddresses(before, after).flatMap(([was, is]) => {
      if (was.forward_confirmed === is.forward_confirmed || was.ptr.length === 0 || is.ptr.length === 0) return []
      return [
        is.forward_confirmed
          ? better(`the PTR name of ${is.address} resolves back to it`)
          : worse(`the PTR name of ${is.address} no longer resolves back to it`),
      ]
    }),
  ),
]

const hosts = ({ mx }: CheckAnswer): readonly string[] => mx.map(({ host }) => host)
const ips = (host: Host): readonly string[] => host.addresses.map(({ address }) => address)

/** A record that appears or goes. */
const presence = <K extends 'mta_sts' | 'tls_rpt' | 'bimi'>(key: K, area: string): readonly Row<CheckAnswer>[] => [
  partRow(key, 'published', area, (before, after) =>
    before.record === undefined && after.record !== undefined ? [better('record published')] : [],
  ),
  partRow(key, 'removed', area, (before, after) =>
    before.record !== undefined && after.record === undefined ? [worse('record removed')] : [],
  ),
  partRow(key, 'valid', area, (before, after) =>
    before.record !== undefined && after.record !== undefined && before.valid !== after.valid
      ? [after.valid ? better('usable again') : worse(`no longer usable${after.reason ? `: ${after.reason}` : ''}`)]
      : [],
  ),
]

const MODES = ['none', 'testing', 'enforce']

/** A property of a mail host's TLS that changed. */
const tlsRow = (
  fact: 'offered' | 'trusted' | 'name_matches',
  words: readonly [yes: string, no: string],
): Row<CheckAnswer> =>
  partRow('starttls', fact, 'STARTTLS', (before, after) =>
    pairs(before.hosts, after.hosts, ({ host, address }) => `${host} ${address}`).flatMap(([was, is]) =>
      turned(was[fact], is[fact], (_, now) =>
        (now ? better : worse)(`${is.host} [${is.address}] ${now ? words[0] : words[1]}`),
      ),
    ),
  )

export const TRANSPORT_ROWS: readonly Row<CheckAnswer>[] = [
  ...presence('mta_sts', 'MTA-STS'),
  partRow('mta_sts', 'mode', 'MTA-STS', (before, after) =>
    turned(before.policy?.mode, after.policy?.mode, (was, is) =>
      (MODES.indexOf(is) < MODES.indexOf(was) ? worse : better)(`mode ${is} instead of ${was}`),
    ),
  ),
  partRow('mta_sts', 'mx', 'MTA-STS', (before, after) => {
    const { gone, added } = difference(before.policy?.mx ?? [], after.policy?.mx ?? [])
    if (!before.policy || !after.policy || (gone.length === 0 && added.length === 0)) return []
    return [neutral(`the policy has the hosts ${list(after.policy.mx)} instead of ${list(before.policy.mx)}`)]
  }),
  partRow('mta_sts', 'uncovered_mx', 'MTA-STS', (before, after) => {
    const { gone, added } = difference(before.uncovered_mx, after.uncovered_mx)
    return [
      ...(added.length > 0 && after.policy ? [worse(`the policy no longer contains ${list(added)}`)] : []),
      ...(gone.length > 0 && after.policy
        ? [better(`the policy contains ${list(gone)}, or it is no longer an MX host`)]
        : []),
    ]
  }),
  ...presence('tls_rpt', 'TLS-RPT'),
  partRow('tls_rpt', 'rua', 'TLS-RPT', (before, after) => {
    const { gone, added } = difference(before.rua, after.rua)
    if (before.record === undefined || after.record === undefined || (gone.length === 0 && added.length === 0))
      return []
    return [neutral(`reports go to ${list(after.rua)} instead of ${list(before.rua)}`)]
  }),
  ...presence('bimi', 'BIMI'),
  partRow('bimi', 'logo', 'BIMI', (before, after) =>
    before.record !== undefined && after.record !== undefined
      ? turned(before.logo, after.logo, (was, is) => neutral(`the logo is ${list([is])} instead of ${list([was])}`))
      : [],
  ),
  partRow('dane', 'records', 'DANE', (before, after) =>
    pairs(before.hosts, after.hosts, ({ host }) => host).flatMap(([was, is]) => {
      if (was.secure === null || is.secure === null) return []
      const { gone, added } = difference(was.records.map(tlsa), is.records.map(tlsa))
      if (gone.length === 0 && added.length === 0) return []
      if (is.records.length === 0) return [worse(`the TLSA records of ${is.host} were removed`)]
      if (was.records.length === 0) return [better(`${is.host} now has TLSA records`)]
      return [neutral(`the TLSA records of ${is.host} have changed`)]
    }),
  ),
  partRow('dane', 'matches', 'DANE', (before, after) =>
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
