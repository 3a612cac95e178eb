import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { judgeSpf, type SpfFacts } from './judge.ts'
import { lookupSpf } from './lookup.ts'
import { presentSpf } from './present.ts'

export { type CheckHostAnswer, type CheckHostInput, checkHost } from './check-host.ts'
export type { SpfFacts } from './judge.ts'
export { isSpf } from './parse.ts'
export { presentCheckHost } from './present.ts'
export { namesOf, type SpfReading } from './reading.ts'
export type { SpfResult } from './run.ts'

export const spf = defineCheck<SpfFacts>({
  specs: ['RFC 7208', 'RFC 8616'],
  table: findings,
  run: async (ctx, domain) => judgeSpf(await lookupSpf(ctx, domain)),
  present: presentSpf,
})
