import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Ip, parseIp } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'

/** The public addresses of this machine, IPv4 first: the pool where none is configured. Empty behind NAT. */
export function ownPublicAddresses(
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): readonly Ip[] {
  const all = Object.values(interfaces)
    .flatMap((rows) => rows ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => parseIp(address.split('%')[0]!))
    .flatMap((address) => (address.ok && isPublic(address.value) ? [address.value] : []))
  return [...new Set(all)].toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')))
}

/** Whether this machine can send from `address`: tried, and not looked up, since addresses may be bound that no interface shows. */
export function canBind(address: Ip): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: address, port: 0, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
