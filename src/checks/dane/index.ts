import type { DaneFields } from '../../answers/checks.ts'
import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { judgeDane } from './judge.ts'
import { type DaneFacts, type HostState, hostStates, lookupDane } from './lookup.ts'

export { refusedHosts } from './judge.ts'
export type { DaneFacts } from './lookup.ts'

/** DANE for mail: the TLSA records of the mail hosts, and whether senders use them. */
export const dane = defineCheck<DaneFacts, DaneFields>({
  table: findings,
  lookup: lookupDane,
  judge: judgeDane,
  present: ({ facts }) => ({ hosts: facts ? hostStates(facts).map(presentHost) : [] }),
})

/** Maximum number of hex digits shown of a record: two whole certificates of usual size. */
const MAX_DATA = 8_192

const presentHost = ({ host, secure, records }: HostState) => ({
  host: host.host,
  secure,
  records: records.map(({ record, problem, matches }) => ({
    usage: record.usage,
    selector: record.selector,
    matching_type: record.matchingType,
    data: record.data.slice(0, MAX_DATA),
    usable: problem === undefined,
    matches,
    problem: problem?.problem.text,
  })),
  reason: host.error?.message,
})
