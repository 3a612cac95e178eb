import type { NsFields } from '../../answers/checks.ts'
import { defineCheck } from '../check.ts'
import { compareServers } from './compare.ts'
import { findings } from './findings.ts'
import { judgeNs } from './judge.ts'
import { lookupNs, type NsFacts } from './lookup.ts'

export type { NsFacts } from './lookup.ts'

export const ns = defineCheck<NsFacts, NsFields>({
  table: findings,
  lookup: lookupNs,
  judge: judgeNs,
  present: ({ facts }) => ({
    servers: (facts ? compareServers(facts).states : []).map(({ server, lame, serial, differs, reason, tcp }) => ({
      host: server.host,
      addresses: server.addresses,
      lame,
      serial,
      differs,
      tcp,
      reason: reason?.text ?? server.error?.message,
    })),
    zone: facts?.zone,
    parent_servers: facts?.delegation?.servers,
  }),
})
