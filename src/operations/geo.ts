import { geoAnswer } from '../answers/geo.ts'
import { geoDocument } from '../documents/geo.ts'
import { presentGeo } from '../geo/merge.ts'
import { defineOperation, ok } from './operation.ts'
import { ipParam, positional } from './params.ts'
import { peerExample } from './peer-answer.ts'

/** The location of an address. */
export const geo = defineOperation({
  name: 'geo',
  method: 'GET',
  path: '/v1/peer/geo',
  summary: 'Show the country, network and kind of an IP address',
  scope: 'read',
  params: { ip: positional(ipParam('IPv4 or IPv6 address to look up')) },
  answer: geoAnswer,
  document: geoDocument,
  example: { input: { ip: '203.0.113.7' }, output: peerExample.geo[0]! },
  deadlineMs: 10_000,
  uses: ['geo'],
  run: async (_ctx, deps, { ip }) => ok(presentGeo(await deps.geo(ip))),
})
