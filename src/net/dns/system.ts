import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { once } from '../../base/share-work.ts'
import { cidr, contains } from '../../names/cidr.ts'
import { type Ip, parseIp } from '../../names/ip.ts'
import { isPublic, rangeOf } from '../../names/ip-range.ts'
import { serverProblem } from './problems.ts'

export type Server = { readonly ip: Ip; readonly port: number }

/** Maximum number of servers that are read of resolv.conf. */
const MAX_SERVERS = 8

/** Reads `IP`, `IP:PORT` or `[IPv6]:PORT`; the default port is 53. */
export function parseServer(text: string): Parsed<Server> {
  const trimmed = text.trim()
  const bracketed = /^\[([^\]]{1,64})\](?::(\d{1,5}))?$/.exec(trimmed)
  const dotted = /^([\d.]{7,15}):(\d{1,5})$/.exec(trimmed)
  const [, host = trimmed, digits = '53'] = bracketed ?? dotted ?? []
  const address = parseIp(host)
  const port = Number(digits)
  if (!address.ok) return problem(serverProblem('invalid', { text: trimmed }))
  if (port < 1 || port > 65_535) return problem(serverProblem('port', { text: trimmed }))
  return parsed({ ip: address.value, port })
}

/**
 * Reads a server as {@link parseServer} does, or `NAME` and `NAME:PORT`, whose address the system knows: of /etc/hosts, or
 * of an engine of containers. It is looked up once.
 */
export async function findServer(text: string, lookUp = lookup): Promise<Parsed<Server>> {
  const [, name, digits = '53'] = /^(?=.*[a-z])([a-z\d.-]{1,253})(?::(\d{1,5}))?$/i.exec(text.trim()) ?? []
  if (name === undefined) return parseServer(text)
  const found = await lookUp(name).catch(() => undefined)
  if (!found) return problem(serverProblem('no_address', { text: name }))
  return parseServer(`[${found.address}]:${digits}`)
}

/** `192.0.2.53:53`, `[2001:db8::53]:53`: the form that {@link parseServer} reads. */
export const formatServer = (server: Server): string =>
  server.ip.includes(':') ? `[${server.ip}]:${server.port}` : `${server.ip}:${server.port}`

/** The content of resolv.conf: its servers in order (at most 8), and whether it has `options trust-ad`. */
type ResolvConf = { readonly servers: readonly Server[]; readonly trustAd: boolean }

/**
 * Reads the text of resolv.conf(5). Unusable servers (with a zone id, or without an address) are ignored. Without any
 * server, the name server of this machine is used, as resolv.conf(5) specifies.
 */
export function parseResolvConf(text: string): ResolvConf {
  const servers: Server[] = []
  let trustAd = false
  for (const line of text.slice(0, 65_536).split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/)
    if (keyword === 'options' && values.includes('trust-ad')) trustAd = true
    if (keyword !== 'nameserver' || servers.length === MAX_SERVERS) continue
    const address = parseIp(values[0] ?? '')
    if (address.ok && !servers.some(({ ip }) => ip === address.value)) servers.push({ ip: address.value, port: 53 })
  }
  if (servers.length === 0) servers.push({ ip: '127.0.0.1' as Ip, port: 53 })
  return { servers, trustAd }
}

/** The resolvers of this machine. A file that cannot be read is treated as empty. */
export async function systemResolvers(path = '/etc/resolv.conf'): Promise<ResolvConf> {
  try {
    return parseResolvConf(await readFile(path, 'utf8'))
  } catch {
    return parseResolvConf('')
  }
}

/** Whether a server is on this machine, so that nobody on the path can set its AD bit (RFC 4035 §4.9.3). */
export const isLoopback = (server: Server): boolean => rangeOf(server.ip) === 'loopback'

/**
 * Resolvers that anybody may use. Blacklists refuse them or give them useless answers, and their answers can depend on
 * the location.
 */
const PUBLIC_RESOLVERS = [
  '1.0.0.0/29', // Cloudflare
  '1.1.1.0/29',
  '2606:4700:4700::/48',
  '8.8.4.4', // Google
  '8.8.8.8',
  '2001:4860:4860::/48',
  '9.9.9.0/24', // Quad9
  '149.112.112.0/24',
  '2620:fe::/48',
  '208.67.220.0/24', // OpenDNS
  '208.67.222.0/24',
  '2620:119:35::/48',
  '2620:119:53::/48',
  '4.2.2.0/29', // Lumen
  '64.6.64.0/24', // UltraDNS
  '64.6.65.0/24',
  '156.154.70.0/23',
  '8.20.247.0/24', // Comodo
  '8.26.56.0/24',
  '45.90.28.0/22', // NextDNS
  '2a07:a8c0::/29',
  '74.82.42.42', // Hurricane Electric
  '2001:470:20::2',
  '76.76.2.0/24', // Control D
  '76.76.10.0/24',
  '77.88.8.0/24', // Yandex
  '84.200.69.80', // DNS.WATCH
  '84.200.70.40',
  '86.54.11.0/24', // DNS4EU
  '94.140.14.0/23', // AdGuard
  '2a10:50c0::/32',
  '185.228.168.0/23', // CleanBrowsing
  '193.110.81.0/24', // dns0.eu
  '185.253.5.0/24',
  '114.114.114.0/23', // 114DNS
  '119.29.29.29', // DNSPod
  '180.76.76.76', // Baidu
  '223.5.5.5', // AliDNS
  '223.6.6.6',
  '2400:3200::/32',
]
const publicNetworks = once(() => PUBLIC_RESOLVERS.map(cidr))

/** Whether this is a known public resolver. */
export const isPublicResolver = (address: Ip): boolean =>
  isPublic(address) && publicNetworks().some((network) => contains(network, address))
