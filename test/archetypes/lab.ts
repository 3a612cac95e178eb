import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { once } from '../../src/base/share-work.ts'
import { registrableDomain } from '../../src/names/suffix.ts'
import type { AskServer, Resolve } from '../../src/net/dns/resolver.ts'
import { type Fetch, FetchError } from '../../src/net/fetch.ts'
import type { Deps } from '../../src/operations/deps.ts'
import type { Execute } from '../../src/operations/execute.ts'
import type { World } from '../../src/world.ts'
import { labApp, labDeps, labExecutor } from '../lab/app.ts'
import { type LabServer, labDial } from '../lab/dial.ts'
import { type LabZone, labDns } from '../lab/dns.ts'
import { labProblem } from '../lab/problem.ts'
import { labWorld } from '../lab/world.ts'
import type {
  DomainCase,
  Domains,
  MailHostState,
  PolicyFile,
  WrittenNode,
  WrittenRecord,
  WrittenZone,
} from './cases.ts'

export type Shared = Pick<Domains, 'hosts' | 'apex'>

/** Asks a service: the status and the JSON of a path with its query. */
export type Get = (
  path: string,
  query: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly body: unknown }>

/** The JSON of an answer. Throws where the service refuses. */
export async function answerOf(get: Get, path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
  const { status, body } = await get(path, query)
  if (status !== 200) throw new Error(`${path} ${JSON.stringify(query)}: ${JSON.stringify(body)}`)
  return body
}

/**
 * The world of a case: DNS from its zone, HTTPS from its policies, SMTP from its mail hosts. All answers come at once;
 * {@link late} has those that the case writes as late.
 */
export function worldOf(row: DomainCase, shared: Shared): World {
  const zone = zoneOf(row, shared)
  const resolve = signed(labDns(labZone(zone)).resolve, row.secure ?? [])
  const askServer: AskServer = async (_server, name, type, signal) => ({
    ...(await resolve(name, type, signal)),
    authoritative: true,
  })
  const { dial } = labDial(serversOf(row.mail_hosts ?? {}, zone))
  return labWorld({}, { resolve, askServer, dial, fetch: fetchOf(row.policies ?? {}) })
}

/** What answers the request of a case: all cases of a file share one HTTP service, which takes longer than a check. */
const answering = new AsyncLocalStorage<Execute>()
const inCase: Execute = Object.assign((...asked: Parameters<Execute>) => answering.getStore()!(...asked), {
  lines: (...asked: Parameters<Execute['lines']>) => answering.getStore()!.lines(...asked),
})
const service = once(() => labApp(labWorld(), { execute: inCase }))

/** Parts that keep nothing of a check, and take longer to make than one. */
const heavy = once(() => {
  const { verifier, verifiedSelectors } = labDeps(labWorld())
  return { verifier, verifiedSelectors }
})

/** The HTTP service in the world of a case. */
export const serviceFor = (row: DomainCase, shared: Shared, world = worldOf(row, shared)): Get =>
  serviceIn(world, heavy())

/** The HTTP service in a world, with some of its parts. */
export function serviceIn(world: World, parts: Partial<Deps>): Get {
  const execute = labExecutor(world, labDeps(world, parts))
  return async (url, query) => {
    const app = await service()
    const response = await answering.run(execute, () => app.inject({ url, query }).then((given) => given))
    return { status: response.statusCode, body: response.json() }
  }
}

/**
 * The shared records and those of the case. A registrable domain with records but without NS gets those of `apex`
 * beside them.
 */
export function zoneOf(row: DomainCase, { hosts, apex }: Shared): WrittenZone {
  const isBareApex = (name: string, node: WrittenNode): boolean =>
    node.NS === undefined && !('!' in node) && registrableDomain(name) === name
  const nodes = Object.entries({ ...hosts, ...row.zone })
  return Object.fromEntries(nodes.map(([name, node]) => [name, isBareApex(name, node) ? { ...apex, ...node } : node]))
}

/** The zone as the lab's DNS takes it: what is written as arrays becomes the fields of each record type. */
export const labZone = (zone: WrittenZone): LabZone =>
  Object.fromEntries(Object.entries(zone).map(([name, node]) => [name, labNode(node)])) as LabZone

function labNode(node: WrittenNode): unknown {
  if (node['!'] !== undefined) return node['!']
  const types = Object.entries(node)
  const records = types.filter(([type]) => !type.startsWith('!')).map(([type, all]) => [type, readAll(type, all)])
  const faults = types
    .filter(([type, fault]) => type.startsWith('!') && !isAnswered(fault))
    .map(([type, fault]) => [type.slice(1), fault])
  return Object.fromEntries([...records, ...faults])
}

/**
 * Faults after which there is an answer all the same: a truncated one, which comes again over TCP, and one that comes
 * late.
 */
const isAnswered = (fault: unknown): boolean => fault === 'TC' || delayOf(fault) > 0
const delayOf = (fault: unknown): number => Number(/^delay=(\d+)$/.exec(String(fault))?.[1] ?? 0)

/** The world with answers that come late, by the real clock, where the zone of the case says so. */
export function late(world: World, { zone = {} }: DomainCase): World {
  const inTime = async (name: string, type: string): Promise<void> => {
    const delay = delayOf(zone[name.toLowerCase()]?.[`!${type}`])
    if (delay > 0) await wait(delay)
  }
  const resolve: Resolve = async (name, type, signal, options) => {
    await inTime(name, type)
    return world.resolve(name, type, signal, options)
  }
  const askServer: AskServer = async (server, name, type, signal, options) => {
    await inTime(name, type)
    return world.askServer(server, name, type, signal, options)
  }
  return { ...world, resolve, askServer }
}

const readAll = (type: string, records: readonly WrittenRecord[] | string): unknown => {
  if (typeof records === 'string') throw new TypeError(`${type} is "${records}" and no list`)
  return records.map((record) => READ[type]?.(record) ?? record)
}

/** What a zone has where the file leaves it out. */
export const SOA = {
  mname: 'ns1.dnshost.net',
  rname: 'hostmaster.dnshost.net',
  serial: 1,
  minimum: 300,
  refresh: 7_200,
  retry: 900,
  expire: 1_209_600,
}

// biome-ignore lint/suspicious/noExplicitAny: the file writes each record type in its own way
const READ: Readonly<Record<string, (record: any) => unknown>> = {
  TXT: (strings: string | readonly string[]) => textOf([strings].flat().join('')),
  CAA: ([flags, tag, value]) => ({ critical: flags >= 128, tag, value }), // RFC 8659 §4.1
  TLSA: ([usage, selector, matchingType, data]) => ({ usage, selector, matchingType, data }),
  DS: ([keyTag, algorithm, digestType, digest]) => ({ keyTag, algorithm, digestType, digest }),
  DNSKEY: ([flags, protocol, algorithm, publicKey]) => ({ flags, protocol, algorithm, publicKey }),
  SOA: (parts) => ({ ...SOA, ...parts }),
}

/**
 * A TXT whose characters are octets, as the DNS client gives it: UTF-8 where it is valid, else a character an octet.
 */
function textOf(octets: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(octets, 'latin1'))
  } catch {
    return octets
  }
}

/** A resolver whose answers have the AD bit where every name on the way is in a secure zone. */
const signed =
  (resolve: Resolve, zones: readonly string[]): Resolve =>
  async (asked, type, signal, options) => {
    const answer = await resolve(asked, type, signal, options)
    const isSecure = (name: string): boolean => zones.some((zone) => name === zone || name.endsWith(`.${zone}`))
    return { ...answer, secure: [answer.name, ...answer.cname].every(isSecure) }
  }

/** HTTPS of the hosts that have a policy; no other host answers. */
const fetchOf =
  (policies: Readonly<Record<string, PolicyFile>>): Fetch =>
  async (url) => {
    const policy = policies[new URL(url).host]
    if (policy === undefined) throw new FetchError('connect', labProblem(`the lab has nothing at ${url}`))
    const [status, contentType, text] = typeof policy === 'string' ? [200, 'text/plain', policy] : policy
    return { status, contentType, body: Buffer.from(text), url }
  }

const EHLO = ['PIPELINING', 'SIZE 10240000', 'STARTTLS', '8BITMIME']
const MAIL_HOSTS: Readonly<Record<MailHostState, (name: string) => LabServer>> = {
  good: (name) => ({ ehlo: EHLO, tls: { trusted: true, names: [name] } }),
  'self-signed': (name) => ({
    ehlo: EHLO,
    tls: { trusted: false, trustError: 'DEPTH_ZERO_SELF_SIGNED_CERT', names: [name] },
  }),
  'other-name': () => ({ ehlo: EHLO, tls: { trusted: true, names: ['another-host.net'] } }),
  away: () => ({ connect: 'timeout' }),
  'no-tls': () => ({ ehlo: EHLO.filter((word) => word !== 'STARTTLS') }),
}

const serversOf = (hosts: Readonly<Record<string, MailHostState>>, zone: WrittenZone): Record<string, LabServer> =>
  Object.fromEntries(
    Object.entries(hosts).flatMap(([name, state]) =>
      addressesOf(zone[name] ?? {}).map((address) => [address, MAIL_HOSTS[state](name)]),
    ),
  )

/** The addresses written at a name. */
export const addressesOf = ({ A = [], AAAA = [] }: WrittenNode): readonly string[] =>
  [A, AAAA].flat().filter((address) => typeof address === 'string')
