import { parseIp, reverseName } from '../../src/names/ip.ts'
import type { RecordType } from '../../src/net/dns/resolver.ts'
import { parseZone } from '../../src/net/dns/zone-text.ts'
import { FetchError } from '../../src/net/fetch.ts'
import type { Ctx, World } from '../../src/world.ts'
import { type LabNode, type LabZone, labDns } from '../lab/dns.ts'
import { labProblem } from '../lab/problem.ts'
import { inWaves } from '../lab/waves.ts'
import { labWorld } from '../lab/world.ts'
import { LEAF_SERVERS } from '../real/addresses.ts'
import { DOMAINS, type LabDomain, type NameService, POINTERS } from '../real/world.ts'

/** How the name servers that do not answer look from behind a resolver. */
const FAULTS: Partial<Record<NameService, 'SERVFAIL' | 'TIMEOUT' | 'BOGUS'>> = {
  servfail: 'SERVFAIL',
  lame: 'SERVFAIL',
  formerr: 'SERVFAIL',
  dead: 'TIMEOUT',
  drop: 'TIMEOUT',
}

/**
 * The domains of the test network as fake DNS, so that what a check asks can be counted and its answer kept, without a
 * server.
 */
export const ZONE: LabZone = zoneOfWorld()

export type Counted = Ctx & {
  readonly asked: readonly string[]
  /** Questions to name servers themselves. */
  readonly askedServers: readonly string[]
  readonly waits: () => number
}

/** A world of that DNS which counts. Pages are not to be had; the clock stands. */
export function countedWorld(): Counted {
  const { resolve, asked } = labDns(ZONE)
  const waves = inWaves(resolve)
  const askedServers: string[] = []
  const askServer: World['askServer'] = async (server, name, type, signal) => {
    askedServers.push(`${server} ${name} ${type}`)
    return { ...(await waves.resolve(name, type, signal)), authoritative: true }
  }
  const fetch: World['fetch'] = (url) => Promise.reject(new FetchError('connect', labProblem(`${url}: nobody answers`)))
  const world = labWorld({}, { resolve: waves.resolve, askServer, fetch })
  return { ...world, signal: AbortSignal.timeout(20_000), asked, askedServers, waits: waves.waits }
}

function zoneOfWorld(): LabZone {
  const nodes = new Map<string, Partial<Record<RecordType, unknown[]>> & { AD?: boolean }>()
  const add = (name: string, type: RecordType, data: unknown): void => {
    const node = nodes.get(name) ?? {}
    nodes.set(name, { ...node, [type]: [...(node[type] ?? []), data] })
  }
  const faults: Record<string, 'SERVFAIL' | 'TIMEOUT' | 'BOGUS'> = {}
  for (const domain of DOMAINS) {
    const fault = FAULTS[domain.service]
    if (fault) for (const name of [domain.name, `*.${domain.name}`]) faults[name] = fault
    else for (const { name, type, data } of recordsOf(domain)) add(name, type, data)
  }
  for (const [address, name] of POINTERS) {
    const ip = parseIp(address)
    if (ip.ok) add(reverseName(ip.value), 'PTR', name)
  }
  return { ...(Object.fromEntries(nodes) as Record<string, LabNode>), ...faults }
}

function recordsOf({ name, zone }: LabDomain) {
  const apex = LEAF_SERVERS.map((_, n) => `@ NS ns${n + 1}.lab.test.`)
  const soa = '@ SOA ns1.lab.test. hostmaster.lab.test. 2026010101 7200 900 1209600 300'
  // Names that are delegated within the domain are another server's.
  const own = zone.filter((line) => !/^\S+ NS /.test(line))
  const read = parseZone([soa, ...apex, ...own].join('\n'), name)
  if (!read.ok) throw new Error(`${name}: ${read.problem.text}`)
  return read.value.records
}
