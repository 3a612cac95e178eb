import { z } from 'zod'
import { geoAnswer } from '../answers/geo.ts'
import { presentGeo } from '../geo/present.ts'
import { defineOperation } from './operation.ts'
import { ipParam } from './params.ts'
import { peerExample } from './peer-answer.ts'

/** Where an address stands. */
export const geo = defineOperation({
  name: 'geo',
  method: 'GET',
  path: '/v1/peer/geo',
  summary: 'Country, network and kind of an IP address',
  scope: 'read',
  positional: ['ip'],
  input: z.object({ ip: ipParam('IPv4 or IPv6 address to look up') }),
  output: geoAnswer,
  example: { input: { ip: '203.0.113.7' }, output: peerExample.geo[0]! },
  deadlineMs: 10_000,
  needs: ['geo'],
  run: async (_ctx, deps, { ip }) => presentGeo(await deps.geo(ip)),
})
