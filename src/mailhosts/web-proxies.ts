import { once } from '../base/share-work.ts'
import { cidr, contains } from '../names/cidr.ts'
import { familyOf, type Ip } from '../names/ip.ts'
import { providerOfHost } from '../providers/index.ts'

/** A proxy for websites: behind its addresses nothing listens at port 25. */
type WebProxy = {
  readonly name: string
  /** The networks of its proxied names. */
  readonly networks: readonly string[]
  /** The source of the row. */
  readonly seen: string
}

const WEB_PROXIES: readonly WebProxy[] = [
  {
    name: 'Cloudflare',
    networks: [
      '173.245.48.0/20',
      '103.21.244.0/22',
      '103.22.200.0/22',
      '103.31.4.0/22',
      '141.101.64.0/18',
      '108.162.192.0/18',
      '190.93.240.0/20',
      '188.114.96.0/20',
      '197.234.240.0/22',
      '198.41.128.0/17',
      '162.158.0.0/15',
      '104.16.0.0/13',
      '104.24.0.0/14',
      '172.64.0.0/13',
      '131.0.72.0/22',
      '2400:cb00::/32',
      '2606:4700::/32',
      '2803:f800::/32',
      '2405:b500::/32',
      '2405:8100::/32',
      '2a06:98c0::/29',
      '2c0f:f248::/32',
    ],
    seen: 'cloudflare.com/ips (November 2026)',
  },
  {
    name: 'Imperva',
    networks: [
      '199.83.128.0/21',
      '198.143.32.0/19',
      '149.126.72.0/21',
      '103.28.248.0/22',
      '45.64.64.0/22',
      '185.11.124.0/22',
      '192.230.64.0/18',
      '107.154.0.0/16',
      '45.60.0.0/16',
      '45.223.0.0/16',
      '2a02:e980::/29',
    ],
    seen: 'support.incapsula.com article 200627570 (November 2026)',
  },
  {
    name: 'Sucuri',
    networks: ['192.88.134.0/23', '185.93.228.0/22', '66.248.200.0/22', '208.109.0.0/22', '2a02:fe80::/29'],
    seen: 'docs.sucuri.net, website firewall, addresses to allow (November 2026)',
  },
]

const networks = once(() =>
  WEB_PROXIES.flatMap(({ name, networks: own }) => own.map((text) => ({ name, network: cidr(text) }))),
)

/**
 * The web proxy to which all these addresses of a host belong; undefined if there is none, and for a host one of whose
 * `names` (its own and its aliases) is a mail provider's.
 */
export function webProxyOf(addresses: readonly Ip[], names: readonly string[] = []): string | undefined {
  const [proxy, ...others] = new Set(addresses.map(ownerOf))
  return others.length > 0 || proxy === undefined || names.some(providerOfHost) ? undefined : proxy
}

const ownerOf = (address: Ip): string | undefined =>
  networks().find(({ network }) => network.family === familyOf(address) && contains(network, address))?.name
