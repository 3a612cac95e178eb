import { TEST_POINTS } from '../../src/dnsbl/query.ts'
import { BUILT_IN_LISTS } from '../../src/dnsbl/zones.ts'
import type { LabZone } from './dns.ts'

/** The test points of all lists, in both families, as a list that is alive has them (RFC 5782 §5). */
export const LIVE_LISTS: LabZone = Object.fromEntries(
  BUILT_IN_LISTS.flatMap((list) => {
    const node = { A: [list.codes[0]!.code.replace(/-\d+$/, '')] }
    const v6 = list.ipv6 === 'no' ? [] : [[`${TEST_POINTS[6].positive}.${list.zoneV6 ?? list.zone}`, node]]
    return [[`${TEST_POINTS[4].positive}.${list.zone}`, node], ...v6]
  }),
)
