import type { PtrFields } from '../../answers/checks.ts'
import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { judgePtr } from './judge.ts'
import { lookupPtr, type PtrFacts } from './lookup.ts'
import { presentPtr } from './present.ts'

export { type AddressState, addressState, judgedStates, ptrOf } from './address.ts'
export { looksGeneric } from './generic.ts'
export { type AddressPtr, lookupAddress, type PtrFacts } from './lookup.ts'

export const ptr = defineCheck<PtrFacts, PtrFields>({
  specs: ['RFC 8601', 'RFC 1912', 'RFC 1035'],
  table: findings,
  lookup: lookupPtr,
  judge: judgePtr,
  present: presentPtr,
})
