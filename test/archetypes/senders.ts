import { parseCidr } from '../../src/names/cidr.ts'
import type { DomainCase, Offered, WrittenZone } from './cases.ts'
import { addressesOf, answerOf, type Get, type Shared, serviceFor, zoneOf } from './lab.ts'
import { published } from './published.ts'

/** The SPF fixes by which an address that passes today would fail, one line each; asked for {@link namedAddresses}. */
export async function harmfulFixes(
  row: DomainCase,
  shared: Shared,
  findings: readonly Offered[],
): Promise<readonly string[]> {
  const fixes = findings.flatMap(({ id, fix }) => (id.startsWith('spf.') && fix?.rtype === 'TXT' ? [{ id, fix }] : []))
  if (fixes.length === 0 || row.domain === undefined) return []
  const now = await spfResults(serviceFor(row, shared), row, shared)
  const harm = fixes.map(async ({ id, fix }) => {
    const fixed = { ...row, zone: published(row.zone ?? {}, fix) }
    const then = await spfResults(serviceFor(fixed, shared), row, shared)
    return refusedBy(now, then).map((line) => `the fix of ${id} makes ${line}: ${fix.value}`)
  })
  return (await Promise.all(harm)).flat()
}

/** Results after which receivers may refuse a message that passed before (RFC 7208 §8.4, §8.7). */
const FAILS: ReadonlySet<unknown> = new Set(['fail', 'permerror'])

/** The addresses that passed and fail then, one line each. */
export const refusedBy = (now: ReadonlyMap<string, string>, then: ReadonlyMap<string, string>): readonly string[] =>
  [...now].flatMap(([address, was]) =>
    was === 'pass' && FAILS.has(then.get(address)) ? [`${address} ${then.get(address)}`] : [],
  )

/** What SPF says of each address that a case names. */
export async function spfResults(get: Get, row: DomainCase, shared: Shared): Promise<ReadonlyMap<string, string>> {
  const results = new Map<string, string>()
  for (const ip of namedAddresses(row, shared)) {
    const answer = await answerOf(get, '/v1/spf', { ip, sender: `user@${row.domain}`, helo: 'sender.example' })
    results.set(ip, (answer as { readonly result: string }).result)
  }
  return results
}

/**
 * The `senders` of a case, and the addresses that its records name: those of its hosts, and the first of each network
 * in its SPF records.
 */
export function namedAddresses(row: DomainCase, shared: Shared): readonly string[] {
  const zone: WrittenZone = zoneOf(row, { ...shared, hosts: {} })
  const texts = Object.values(zone).flatMap(({ TXT = [] }) => [TXT].flat().map((text) => [text].flat().join('')))
  const networks = texts.flatMap((text) => [...text.matchAll(/ip[46]:([0-9a-f.:]+(?:\/\d+)?)/gi)].map(([, at]) => at!))
  const first = networks.flatMap((network) => {
    const read = parseCidr(network)
    return read.ok ? [read.value.base] : []
  })
  return [...new Set([...(row.senders ?? []), ...Object.values(zone).flatMap(addressesOf), ...first])]
}
