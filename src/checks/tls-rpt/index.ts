import type { TlsRptFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import { defineCheck } from '../check.ts'
import { reasonOf } from '../outcome.ts'
import { findings } from './findings.ts'
import { judgeTlsRpt } from './judge.ts'
import { lookupTlsRpt, type TlsRptFacts } from './lookup.ts'

/** TLS-RPT: who gets reports if mail to the domain cannot be encrypted. */
export const tlsRpt = defineCheck<TlsRptFacts, TlsRptFields>({
  specs: ['RFC 8460'],
  table: findings,
  lookup: lookupTlsRpt,
  judge: judgeTlsRpt,
  present: (outcome) => {
    const { facts } = outcome
    const text = facts?.records[0] ?? facts?.lookalike
    const parsed = facts?.parsed
    return {
      valid: parsed?.ok ?? false,
      reason: parsed?.ok ? undefined : reasonOf(findings, outcome),
      record: text === undefined ? undefined : printable(text, 2_048),
      rua: parsed?.ok ? parsed.value.rua.map((uri) => printable(uri.uri, 512)) : [],
    }
  },
})
