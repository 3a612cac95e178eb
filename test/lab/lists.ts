import { DOMAIN_LISTS } from '../../src/dnsbl/domain-zones.ts'
import { positivePoint, TEST_POINTS } from '../../src/dnsbl/query.ts'
import type { List } from '../../src/dnsbl/zone-type.ts'
import { BUILT_IN_LISTS } from '../../src/dnsbl/zones.ts'
import type { LabZone } from './dns.ts'

/** An answer of a list that is a listing. */
export const listingCode = ({ codes, bits }: List): string => codes[0]?.code ?? `127.0.0.${bits?.[0]?.bit ?? 2}`

/**
 * The test points of all lists, in both families, as a list that is alive has them (RFC 5782 §5); those of the lists of
 * domains too.
 */
export const LIVE_LISTS: LabZone = Object.fromEntries([
  ...DOMAIN_LISTS.map((list) => [`${positivePoint(list, 4)}.${list.zone}`, { A: [listingCode(list)] }] as const),
  ...BUILT_IN_LISTS.flatMap((list) => {
    const node = { A: [list.codes[0]!.code.replace(/-\d+$/, '')] }
    const v6 = list.ipv6 === 'no' ? [] : [[`${TEST_POINTS[6].positive}.${list.zoneV6 ?? list.zone}`, node]]
    return [[`${TEST_POINTS[4].positive}.${list.zone}`, node] as const, ...v6]
  }),
])
