import { once } from '../base/share-work.ts'
import { beginsWith, cidr } from './cidr.ts'
import { bytesOf, familyOf, type Ip, ipv4Number } from './ip.ts'

/** The permitted use of an address. Only `public` addresses can be mail hosts on the internet. */
export type IpRange =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'shared'
  | 'documentation'
  | 'benchmarking'
  | 'multicast'
  | 'broadcast'
  | 'reserved'
  | 'tunnel'

/** The special-purpose registries (RFC 6890 and its registries at IANA), most specific first. */
const RANGES = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link_local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'reserved'], // RFC 7526: 6to4 anycast, withdrawn
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['2001::/32', 'tunnel'], // Teredo, RFC 4380
  ['2001:2::/48', 'benchmarking'],
  ['2001:db8::/32', 'documentation'],
  ['2001::/23', 'reserved'],
  ['2002::/16', 'tunnel'], // 6to4, RFC 3056
  ['3fff::/20', 'documentation'], // RFC 9637
  ['2000::/3', 'public'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link_local'],
  ['fec0::/10', 'private'], // RFC 3879: site-local, withdrawn
  ['ff00::/8', 'multicast'],
  ['::/0', 'reserved'],
] as const

/** The networks of the special-purpose registries (RFC 6890) with their use, nested ones first. */
export const SPECIAL_NETWORKS: readonly { readonly network: string; readonly range: IpRange }[] = RANGES.map(
  ([network, range]) => ({ network, range }),
)

/**
 * The ranges of a family, parsed with the first address of it; those of IPv4 as numbers, from `first` to before `end`.
 */
const ranges4 = once(() =>
  RANGES.filter(([network]) => !network.includes(':')).map(([network, range]) => {
    const { base, prefix } = cidr(network)
    const first = ipv4Number(base)
    return { first, end: first + 2 ** (32 - prefix), range }
  }),
)
const ranges6 = once(() =>
  RANGES.filter(([network]) => network.includes(':')).map(([network, range]) => {
    const { base, prefix } = cidr(network)
    return { base: bytesOf(base), prefix, range }
  }),
)

const NAT64 = Uint8Array.of(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/**
 * The use of an address; IPv4 inside IPv6 (mapped, and NAT64 64:ff9b::/96 of RFC 6052) is treated as the IPv4 address
 * that it reaches.
 */
export function rangeOf(address: Ip): IpRange {
  if (familyOf(address) === 4) return rangeOfIpv4(ipv4Number(address))
  const bytes = bytesOf(address)
  if (beginsWith(bytes, NAT64, 96)) return rangeOfIpv4(Buffer.from(bytes).readUInt32BE(12))
  return ranges6().find(({ base, prefix }) => beginsWith(bytes, base, prefix))?.range ?? 'public'
}

function rangeOfIpv4(address: number): IpRange {
  for (const { first, end, range } of ranges4()) if (address >= first && address < end) return range
  return 'public'
}

/** Whether the address is reachable from the whole internet. */
export const isPublic = (address: Ip): boolean => rangeOf(address) === 'public'
