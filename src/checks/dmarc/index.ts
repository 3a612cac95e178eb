import type { DmarcFields } from '../../answers/checks.ts'
import { defineCheck } from '../check.ts'
import type { DmarcFacts } from './facts.ts'
import { findings } from './findings.ts'
import { isHarmless } from './harmless.ts'
import { judgeDmarc } from './judge.ts'
import { lookupDmarc } from './lookup.ts'
import { presentDmarc } from './present.ts'

export { aligned } from './align.ts'
export { type DmarcFacts, type PublishedPolicy, publishedPolicyOf } from './facts.ts'
export { judgeDmarc } from './judge.ts'
export { lookupDmarc, lookupPolicy } from './lookup.ts'
export type { Policy } from './parse.ts'
export { presentDmarcLookup } from './present.ts'
export { reportUriProblem } from './problems.ts'
export { MAX_URIS, parseReportUris, type ReportUri } from './uri.ts'

/** DMARC: the policy that applies to a domain, found by the tree walk, and the receivers of its reports. */
export const dmarc = defineCheck<DmarcFacts, DmarcFields>({
  specs: ['RFC 9989', 'RFC 9990', 'RFC 9991', 'RFC 7489'],
  table: findings,
  lookup: lookupDmarc,
  judge: judgeDmarc,
  isHarmless,
  present: presentDmarc,
})
