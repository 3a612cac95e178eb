import type { MtaStsFields } from '../../answers/checks.ts'
import { printable } from '../../base/text.ts'
import { defineCheck, reasonOf } from '../check.ts'
import { findings } from './findings.ts'
import { judgeMtaSts } from './judge.ts'
import { lookupMtaSts, type StsFacts } from './lookup.ts'

export type { StsFacts } from './lookup.ts'
export { policyUrl } from './lookup.ts'
export { type Field, formatStsRecord, hasVersion, parseFields } from './parse.ts'
export { formatStsPolicy, MAX_AGE_SECONDS, type Refusal, refusalsOf } from './policy.ts'

/** MTA-STS: whether the domain tells senders to require TLS, and whether they can. */
export const mtaSts = defineCheck<StsFacts, MtaStsFields>({
  table: findings,
  lookup: lookupMtaSts,
  judge: judgeMtaSts,
  present: (outcome) => {
    const { facts } = outcome
    const text = facts?.records[0] ?? facts?.lookalike
    const policy = facts?.policy?.kind === 'read' ? facts.policy.policy : undefined
    return {
      valid: policy !== undefined,
      reason: policy === undefined ? reasonOf(findings, outcome) : undefined,
      record: text === undefined ? undefined : printable(text, 2_048),
      id: facts?.parsed?.ok ? facts.parsed.value.id : '',
      policy: policy && { mode: policy.mode, max_age: policy.maxAgeSeconds, mx: policy.mx },
      uncovered_mx: facts?.uncovered ?? [],
    }
  },
})
