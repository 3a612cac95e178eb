import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { familyOf, type Ip, parseIp } from '../names/ip.ts'
import { type IpRange, isPublic, rangeOf } from '../names/ip-range.ts'

/** The system takes these as "any address", or as no source. */
const NO_SOURCE: readonly IpRange[] = ['unspecified', 'multicast', 'broadcast']

/**
 * Whether a socket of this machine can bind to `address`. This is tested by binding, because addresses may be added or
 * removed at any time.
 */
export function canBind(address: Ip): Promise<boolean> {
  if (NO_SOURCE.includes(rangeOf(address))) return Promise.resolve(false)
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: address, port: 0, exclusive: true, ipv6Only: familyOf(address) === 6 }, () =>
      server.close(() => resolve(true)),
    )
  })
}

/**
 * The public addresses of this machine's interfaces, IPv4 first; at most 256. They include temporary IPv6 addresses,
 * which cannot be recognized.
 */
export function ownPublicAddresses(): Ip[] {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
  const addresses = own.flatMap((entry) => {
    const address = parseIp(entry.address)
    return address.ok && !entry.internal && isPublic(address.value) ? [address.value] : []
  })
  return addresses.sort((a, b) => familyOf(a) - familyOf(b)).slice(0, 256)
}
