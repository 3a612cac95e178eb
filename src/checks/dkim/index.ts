import type { DkimFields } from '../../answers/checks.ts'
import { defineCheck } from '../check.ts'
import type { DkimFacts } from './facts.ts'
import { findings } from './findings.ts'
import { keepsKeys } from './fixes.ts'
import { judgeDkim } from './judge.ts'
import { lookupDkim } from './lookup.ts'
import { presentDkim } from './present.ts'

export type { DkimFacts, FoundKey } from './facts.ts'
export { judgeDkim, judgeSelector, type SelectorFacts } from './judge.ts'
export { readKey } from './key.ts'
export { lookupSelector } from './lookup.ts'
export { parseKeyRecord, resemblesKey } from './parse.ts'
export { presentKey, presentSelector } from './present.ts'
export { generalSelectors } from './selectors.ts'

/** DKIM: the keys that a domain has published, as far as their selectors can be found. */
export const dkim = defineCheck<DkimFacts, DkimFields>({
  specs: ['RFC 8463', 'RFC 8301', 'RFC 6376', 'RFC 9824', 'RFC 8020'],
  table: findings,
  lookup: (ctx, domain, { selectors, learned }) => lookupDkim(ctx, domain, selectors, learned),
  judge: judgeDkim,
  isHarmless: keepsKeys,
  present: presentDkim,
})
