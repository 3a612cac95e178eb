import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { judgeMx } from './judge.ts'
import { lookupMx, type MxFacts } from './lookup.ts'
import { type MxFields, presentMx } from './present.ts'

export { allAddresses, notPublic, resolvable } from './hosts.ts'
export type { MxFacts } from './lookup.ts'
export { type PresentAddress, presentMx } from './present.ts'

export const mx = defineCheck<MxFacts, MxFields>({
  specs: ['RFC 7505', 'RFC 5321'],
  table: findings,
  lookup: lookupMx,
  judge: judgeMx,
  present: (outcome) => {
    const { entries, kind } = presentMx(outcome)
    return { mx: entries, mx_kind: kind }
  },
})
