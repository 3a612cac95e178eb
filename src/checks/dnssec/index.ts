import type { DnssecFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { dnssecState, judgeDnssec } from './judge.ts'
import { type DnssecFacts, lookupDnssec } from './lookup.ts'

export { dnssecState } from './judge.ts'
export type { DnssecFacts } from './lookup.ts'
export { believes } from './lookup.ts'

/** DNSSEC: whether the zone is signed, and whether a trusted resolver validates it. */
export const dnssec = defineCheck<DnssecFacts, DnssecFields>({
  table: findings,
  lookup: lookupDnssec,
  judge: judgeDnssec,
  present: ({ facts }) => ({
    ...(facts ? dnssecState(facts) : { signed: null, validated: null, bogus: null }),
    ede: (facts?.ede ?? []).map(({ code, text }) => ({ code, text: printable(text, 256) })),
    zone: facts?.zone,
  }),
})
