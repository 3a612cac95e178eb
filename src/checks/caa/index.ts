import type { CaaFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import { defineCheck } from '../check.ts'
import { findings } from './findings.ts'
import { judgeCaa } from './judge.ts'
import { type CaaFacts, lookupCaa } from './lookup.ts'

export type { CaaFacts } from './lookup.ts'

export const caa = defineCheck<CaaFacts, CaaFields>({
  specs: ['RFC 9495', 'RFC 8659'],
  table: findings,
  lookup: lookupCaa,
  judge: judgeCaa,
  present: ({ facts }) => ({
    domain: facts?.foundAt,
    records: (facts?.records ?? []).map(({ critical, tag, value }) => ({
      critical,
      tag: printable(tag, 255),
      value: printable(value),
    })),
  }),
})
