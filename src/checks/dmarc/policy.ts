import type { DmarcReading, Policy } from './parse.ts'

/** The policies of one record, for the name itself and for the names below it. */
export type Policies = { readonly p: Policy; readonly sp: Policy; readonly np: Policy }

/**
 * The policies of a record, or why it cannot be applied (RFC 9989 §4.10.1). A missing `p` is `none` (§4.7). If `p`, `sp` or `np` has an invalid value, the
 * record counts as `p=none` if it names a valid destination of aggregate reports; otherwise DMARC is not applied.
 */
export function policiesOf(reading: DmarcReading): Policies | 'duplicate' | 'invalid' {
  // RFC 6376 §3.2, the source of the syntax in RFC 9989 §4.7: a repeated tag makes the whole list invalid.
  if (reading.faults.some((fault) => fault.kind === 'duplicate')) return 'duplicate'
  const { record } = reading
  if (invalidPolicyTags(reading).length > 0) {
    return record.rua.some((uri) => uri.problem === undefined) ? { p: 'none', sp: 'none', np: 'none' } : 'invalid'
  }
  const p = record.p ?? 'none'
  const sp = record.sp ?? p
  return { p, sp, np: record.np ?? sp }
}

/** Those of `p`, `sp` and `np` with an invalid value. */
export const invalidPolicyTags = (reading: DmarcReading): readonly string[] =>
  reading.faults
    .filter((fault) => fault.kind === 'value' && ['p', 'sp', 'np'].includes(fault.tag))
    .map((fault) => fault.tag)

const STRENGTH: Record<Policy, number> = { none: 0, quarantine: 1, reject: 2 }

export const weaker = (a: Policy, b: Policy): boolean => STRENGTH[a] < STRENGTH[b]

/** The weaker of two policies; a missing one is `none` (RFC 9989 §4.7). */
export const weakest = (a: Policy = 'none', b: Policy = 'none'): Policy => (weaker(b, a) ? b : a)

/** The policy that is applied while testing: one step lower (RFC 9989 §4.7 t). */
export const lowered = (policy: Policy): Policy => (policy === 'reject' ? 'quarantine' : 'none')

/** The `pct` of a record, 0 to 100 (RFC 7489 §6.3); 100 if it is missing or not a number. */
export const shareOf = ({ record }: DmarcReading): number => {
  const pct = record.removed.pct
  return pct !== undefined && /^\d{1,9}$/.test(pct) ? Math.min(100, Number(pct)) : 100
}
