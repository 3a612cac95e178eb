import type { SpfFields } from '../../answers/checks.ts'
import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { isHarmless } from './harmless.ts'
import { judgeSpf } from './judge.ts'
import { lookupSpf, type SpfFacts } from './lookup.ts'
import { presentSpf } from './present.ts'

export { type CheckHostAnswer, type CheckHostInput, checkHost } from './check-host.ts'
export type { SpfResult } from './evaluate.ts'
export { isProvidersInclude, meansSenders } from './fixes.ts'
export { isAliased } from './judge.ts'
export { correctedBelow, overLimits } from './judge-permerror.ts'
export { lookupSpf, type SpfFacts } from './lookup.ts'
export { isSpf } from './parse.ts'
export {
  firstPassing,
  namedAddresses,
  type Passing,
  type PassingAddresses,
  passes,
  passingTerms,
} from './passing/passing.ts'
export { spfReach } from './passing/reach.ts'
export { presentCheckHost } from './present.ts'
export { judgeProvider, type MissingProvider } from './provider.ts'
export type { SpfReading } from './reading.ts'

export const spf = defineCheck<SpfFacts, SpfFields>({
  table: findings,
  lookup: lookupSpf,
  judge: judgeSpf,
  isHarmless,
  present: presentSpf,
})
