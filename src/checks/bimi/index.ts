import type { BimiFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import { defineCheck, reasonOf } from '../check.ts'
import { findings } from './findings.ts'
import { judgeBimi } from './judge.ts'
import { type BimiFacts, lookupBimi } from './lookup.ts'

/**
 * BIMI: the logo that a domain offers to mail programs: record, URLs, and the logo itself. The certificate is not
 * examined.
 */
export const bimi = defineCheck<BimiFacts, BimiFields>({
  table: findings,
  lookup: lookupBimi,
  judge: judgeBimi,
  present: (outcome) => {
    const { facts } = outcome
    const text = facts?.records[0] ?? facts?.lookalike
    const record = facts?.parsed?.ok ? facts.parsed.value : undefined
    const valid = record !== undefined && outcome.status !== 'fail'
    return {
      valid,
      reason: valid ? undefined : reasonOf(findings, outcome),
      record: text === undefined ? undefined : printable(text, 2_048),
      logo: printable(record?.logo ?? '', 2_000),
      authority: printable(record?.authority ?? '', 2_000),
    }
  },
})
