import {
  DEAD_SERVER,
  FAULTY_SERVER,
  LEAF_SERVERS,
  POINTER_ZONES,
  ROOT_SERVER,
  STALE_SERVER,
  TLD_SERVER,
} from '../addresses.ts'
import { tlsaOf } from '../certificates.ts'
import { LIST_DELEGATIONS } from '../rbl/lists.ts'
import { listeners } from '../smtp/listeners.ts'
import { DOMAINS, type LabDomain, type NameService, POINTERS } from '../world.ts'
import { LAME_POINTERS } from './findings.ts'

/** A zone as the lab serves it: by which knot, signed or not, and whether its parent vouches for it. */
export type Zone = {
  readonly name: string
  readonly server: 'root' | 'tld' | 'leaf' | 'stale'
  readonly lines: readonly string[]
  readonly children: readonly Delegation[]
  readonly signed: false | 'valid' | 'expired' | 'expiring' | 'nsec3'
}
/** A cut below a zone; `ds` tells what the parent says of the child's key (RFC 4034 §5). */
export type Delegation = {
  readonly name: string
  readonly lines: readonly string[]
  readonly ds: 'none' | 'right' | 'wrong'
}

/** All zones, from the root down. */
export function zones(): readonly Zone[] {
  const tlds = [
    ...new Set(['com', 'net', 'org', 'de', 'arpa', 'test', ...LIST_DELEGATIONS.map((row) => lastLabel(row.zone))]),
  ]
  return [
    zone(
      '',
      'root',
      'valid',
      [],
      tlds.map((name) => delegation(name, 'right', [TLD_SERVER], 'ns.nic.test')),
    ),
    ...tlds.map(topLevel),
    zone(
      'in-addr.arpa',
      'tld',
      'valid',
      [],
      POINTER_ZONES.filter((name) => name.endsWith('in-addr.arpa')).map(unsignedCut),
    ),
    zone('ip6.arpa', 'tld', 'valid', [], POINTER_ZONES.filter((name) => name.endsWith('ip6.arpa')).map(unsignedCut)),
    ...POINTER_ZONES.map((name) => zone(name, 'leaf', false, [...pointers(name), ...(LAME_POINTERS[name] ?? [])], [])),
    ...DOMAINS.filter((domain) => domain.service !== 'servfail' && domain.service !== 'lame').map(leaf),
    ...DOMAINS.filter((domain) => domain.otherZone).map((domain) => ({
      ...zone(domain.name, 'stale', false, [...apexServers(domain), ...domain.otherZone!], []),
    })),
  ]
}

/** Zones that knot is told of and has no file for: it answers SERVFAIL. */
export const emptyZones = (): readonly string[] =>
  DOMAINS.filter((domain) => domain.service === 'servfail').map((domain) => domain.name)

const lastLabel = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
const reverseOf = (address: string): string => {
  if (!address.includes(':')) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  const [head = '', tail = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':')).map((group) => group.padStart(4, '0'))
  const [left, right] = [groups(head), groups(tail)]
  const all = [...left, ...Array<string>(8 - left.length - right.length).fill('0000'), ...right].join('')
  return `${[...all].reverse().join('.')}.ip6.arpa`
}

const zone = (
  name: string,
  server: Zone['server'],
  signed: Zone['signed'],
  lines: readonly string[],
  children: readonly Delegation[],
): Zone => ({ name, server, signed, children, lines: [...apex(name, server), ...lines] })

const APEX_SERVERS = { root: [ROOT_SERVER, 'ns.root.test'], tld: [TLD_SERVER, 'ns.nic.test'] } as const

function apex(name: string, server: Zone['server']): string[] {
  const serial = server === 'stale' ? 2025010101 : 2026010101
  const own = DOMAINS.find((domain) => domain.name === name)?.soa
  const soa = own ? `@ SOA ${own}` : `@ SOA ns1.lab.test. hostmaster.lab.test. ${serial} 7200 900 1209600 300`
  if (server === 'root' || server === 'tld') {
    const [address, host] = APEX_SERVERS[server]
    const glue = name === '' || `.${host}`.endsWith(`.${name}`) ? [`${host}. A ${address}`] : []
    return [soa, `@ NS ${host}.`, ...glue]
  }
  return DOMAINS.some((domain) => domain.name === name) ? [soa] : [soa, '@ NS ns1.lab.test.', '@ NS ns2.lab.test.']
}

function delegation(name: string, ds: Delegation['ds'], servers: readonly string[], host?: string): Delegation {
  if (host) return { name, ds, lines: [`${name}. NS ${host}.`, `${host}. A ${servers[0]}`] }
  return { name, ds, lines: servers.map((_, n) => `${name}. NS ns${n + 1}.lab.test.`) }
}

const unsignedCut = (name: string): Delegation => delegation(name, 'none', LEAF_SERVERS)

function topLevel(name: string): Zone {
  const lists = LIST_DELEGATIONS.filter((row) => lastLabel(row.zone) === name).map((row) => ({
    name: row.zone,
    ds: 'none' as const,
    lines: [`${row.zone}. NS ns.${row.zone}.`, `ns.${row.zone}. A ${row.server}`],
  }))
  const arpa = ['in-addr.arpa', 'ip6.arpa'].map((child) => delegation(child, 'right', [TLD_SERVER], 'ns.nic.test'))
  const glue = name === 'arpa' ? arpa.map((row) => ({ ...row, lines: row.lines.slice(0, 1) })) : []
  const lines = name === 'test' ? [`ns.root.test. A ${ROOT_SERVER}`] : []
  return zone(name, 'tld', 'valid', lines, [...lists, ...glue, ...(name === 'test' ? DOMAINS.map(cut) : [])])
}

const DS: Partial<Record<NameService, Delegation['ds']>> = {
  signed: 'right',
  expired: 'right',
  expiring: 'right',
  nsec3: 'right',
  bogus: 'wrong',
}

/** The parent's side of a lab domain. */
function cut(domain: LabDomain): Delegation {
  const lines = (domain.parent ?? [...nsOf(domain), ...glueOf(domain)]).map((line) =>
    line.replace(/^(\S+)/, (at) => absolute(at, domain.name)),
  )
  return { name: domain.name, ds: DS[domain.service] ?? 'none', lines }
}

const absolute = (name: string, origin: string): string => (name === '@' ? `${origin}.` : `${name}.${origin}.`)

/** The addresses of name servers that a domain has for itself; none for those served as most are. */
function ownServers(domain: LabDomain): readonly string[] {
  if (domain.name === 'lab.test') return LEAF_SERVERS
  if (domain.service === 'dead') return [DEAD_SERVER]
  if (domain.service === 'disagree') return [LEAF_SERVERS[0], STALE_SERVER]
  return ['drop', 'truncate', 'delay', 'formerr', 'loss', 'servfail_mx'].includes(domain.service) ? [FAULTY_SERVER] : []
}

function nsOf(domain: LabDomain): string[] {
  const own = ownServers(domain)
  if (own.length > 0) return own.map((_, n) => `@ NS ns${n + 1}.${domain.name}.`)
  return LEAF_SERVERS.map((_, n) => `@ NS ns${n + 1}.lab.test.`)
}

const glueOf = (domain: LabDomain): string[] => ownServers(domain).map((address, n) => `ns${n + 1} A ${address}`)

const SIGNED: Partial<Record<NameService, Zone['signed']>> = {
  signed: 'valid',
  bogus: 'valid',
  island: 'valid',
  expired: 'expired',
  expiring: 'expiring',
  nsec3: 'nsec3',
}

function leaf(domain: LabDomain): Zone {
  const signed = SIGNED[domain.service] ?? false
  const lines = [...apexServers(domain), ...domain.zone, ...tlsaLines(domain.name)]
  return zone(domain.name, 'leaf', signed, lines, [])
}

/** The zone's own side of its delegation. */
const apexServers = (domain: LabDomain): readonly string[] =>
  domain.apex ?? [...nsOf(domain), ...(domain.name === 'lab.test' ? [] : glueOf(domain))]

function tlsaLines(name: string): string[] {
  const row = listeners.find((listener) => listener.domain === name && listener.tlsa)
  if (!row) return []
  return [`_25._tcp.mx TLSA ${tlsaOf(row.tlsa === 'matching' ? `mx.${name}` : 'mx.tls.test')}`]
}

const pointers = (name: string): string[] =>
  POINTERS.map(([address, host]) => [reverseOf(address), host] as const)
    .filter(([reverse]) => reverse.endsWith(`.${name}`))
    .map(([reverse, host]) => `${reverse}. PTR ${host}.`)
