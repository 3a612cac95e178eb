import type { CheckAnswer } from '../../answers/check.ts'
import { better, difference, list, neutral, type Row, type Said, worse } from './row.ts'

type Host = CheckAnswer['mx'][number]
type Address = Host['addresses'][number]

const row = (
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

const shared = (before: CheckAnswer, after: CheckAnswer): readonly (readonly [Host, Host])[] => {
  const was = new Map(before.mx.map((host) => [host.host, host]))
  return after.mx.flatMap((host) => {
    const old = was.get(host.host)
    return old ? [[old, host] as const] : []
  })
}
const addresses = ({ mx }: CheckAnswer): ReadonlyMap<string, Address> =>
  new Map(mx.flatMap((host) => host.addresses).map((one) => [one.address, one]))

function sharedAddresses(before: CheckAnswer, after: CheckAnswer): readonly (readonly [Address, Address])[] {
  const was = addresses(before)
  return [...addresses(after).values()].flatMap((is) => {
    const old = was.get(is.address)
    const isKnown = old && old.forward_confirmed !== null && is.forward_confirmed !== null
    return isKnown ? [[old, is] as const] : []
  })
}

export const MX_ROWS: readonly Row<CheckAnswer>[] = [
  row('mx.kind', 'MX', (before, after) => {
    const [was, is] = [before.mx_kind, after.mx_kind]
    if (was === undefined || is === undefined || was === is) return []
    const takes = (kind: keyof typeof KINDS): boolean => kind === 'explicit' || kind === 'implicit'
    return [(takes(is) === takes(was) ? neutral : takes(is) ? better : worse)(KINDS[is])]
  }),
  row('mx.host_added', 'MX', (before, after) => {
    const { added } = difference(hosts(before), hosts(after))
    return added.length > 0 ? [neutral(`${list(added)} added`)] : []
  }),
  row('mx.host_removed', 'MX', (before, after) => {
    const { gone } = difference(hosts(before), hosts(after))
    return gone.length > 0 ? [neutral(`${list(gone)} removed`)] : []
  }),
  row('mx.preference', 'MX', (before, after) =>
    shared(before, after).flatMap(([was, is]) =>
      was.priority === is.priority
        ? []
        : [neutral(`${is.host} has preference ${is.priority} instead of ${was.priority}`)],
    ),
  ),
  row('mx.resolvable', 'MX', (before, after) =>
    shared(before, after).flatMap(([was, is]) => {
      if (was.resolvable === null || is.resolvable === null || was.resolvable === is.resolvable) return []
      return [is.resolvable ? better(`${is.host} has an address again`) : worse(`${is.host} no longer has an address`)]
    }),
  ),
  row('mx.addresses', 'MX', (before, after) =>
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
  row('ptr.names', 'PTR', (before, after) =>
    sharedAddresses(before, after).flatMap(([was, is]) => {
      const { gone, added } = difference(was.ptr, is.ptr)
      if (gone.length === 0 && added.length === 0) return []
      if (is.ptr.length === 0) return [worse(`${is.address} no longer has a PTR name (was ${list(gone)})`)]
      if (was.ptr.length === 0) return [better(`${is.address} now has the PTR name ${list(added)}`)]
      return [neutral(`${is.address} has the PTR name ${list(is.ptr)} instead of ${list(was.ptr)}`)]
    }),
  ),
  row('ptr.confirmed', 'PTR', (before, after) =>
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
