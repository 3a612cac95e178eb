import { parseCidr } from '../../src/names/cidr.ts'
import type { DomainCase, ShownFinding, WrittenZone } from './cases.ts'
import { addressesOf, type Shared, serviceFor, zoneOf } from './lab.ts'

/**
 * The SPF fixes by which an address that passes today would fail, one line each. Asked for `senders` and, in every case, for the addresses that the case's
 * records name: those of its hosts, and the first of each network in its SPF records.
 */
export async function harmfulFixes(
  row: DomainCase,
  shared: Shared,
  findings: readonly ShownFinding[],
): Promise<readonly string[]> {
  const fixes = findings.flatMap(({ id, fix }) => (id.startsWith('spf.') && fix?.rtype === 'TXT' ? [{ id, fix }] : []))
  if (fixes.length === 0 || row.domain === undefined) return []
  const addresses = [...new Set([...(row.senders ?? []), ...namedAddresses(zoneOf(row, { ...shared, hosts: {} }))])]
  const now = await spfResults(row, shared, addresses)
  const harm = fixes.map(async ({ id, fix }) => {
    const fixed = { ...row, zone: withSpf(row.zone ?? {}, fix.name, fix.value) }
    const then = await spfResults(fixed, shared, addresses)
    return addresses
      .filter((address) => now.get(address) === 'pass' && FAILS.has(then.get(address)))
      .map((address) => `the fix of ${id} makes ${address} ${then.get(address)}: ${fix.value}`)
  })
  return (await Promise.all(harm)).flat()
}

/** Results after which receivers may refuse a message that passed before (RFC 7208 §8.4, §8.7). */
const FAILS: ReadonlySet<unknown> = new Set(['fail', 'permerror'])

async function spfResults(
  row: DomainCase,
  shared: Shared,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const app = await serviceFor(row, shared)
  const results = new Map<string, string>()
  for (const ip of addresses) {
    const query = { ip, sender: `user@${row.domain}`, helo: 'sender.example' }
    const response = await app.inject({ url: '/v1/spf', query })
    if (response.statusCode !== 200) throw new Error(`/v1/spf for ${ip}: ${response.body}`)
    results.set(ip, response.json().result)
  }
  await app.close()
  return results
}

/** The zone with this SPF record in place of those at the name. */
function withSpf(zone: WrittenZone, name: string, record: string): WrittenZone {
  const { TXT = [], CNAME: _, ...others } = zone[name] ?? {}
  const kept = [TXT].flat().filter((text) => !/^\s*"?v=spf1/i.test(String([text].flat().join(''))))
  return { ...zone, [name]: { ...others, TXT: [...kept, record] } }
}

function namedAddresses(zone: WrittenZone): readonly string[] {
  const texts = Object.values(zone).flatMap(({ TXT = [] }) => [TXT].flat().map((text) => [text].flat().join('')))
  const networks = texts.flatMap((text) => [...text.matchAll(/ip[46]:([0-9a-f.:]+(?:\/\d+)?)/gi)].map(([, at]) => at!))
  const first = networks.flatMap((network) => {
    const read = parseCidr(network)
    return read.ok ? [read.value.base] : []
  })
  return [...Object.values(zone).flatMap(addressesOf), ...first]
}
