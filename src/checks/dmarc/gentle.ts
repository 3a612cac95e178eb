import type { DmarcReading, Policy } from './parse.ts'
import { lowered, type Policies, policiesOf, weaker } from './policy.ts'

/** The policies that receivers of both standards apply, and the share of mail that those of RFC 7489 apply theirs to. */
type Enforced = { readonly now: Policies; readonly older: Policies; readonly share: number }

const NOTHING: Policies = { p: 'none', sp: 'none', np: 'none' }
const NAMES = ['p', 'sp', 'np'] as const

/** The `pct` of a record, 0 to 100 (RFC 7489 §6.3); 100 where it is not given or no number. */
export const shareOf = ({ record }: DmarcReading): number => {
  const pct = record.removed.pct
  return pct !== undefined && /^\d{1,9}$/.test(pct) ? Math.min(100, Number(pct)) : 100
}

function enforced(reading: DmarcReading | undefined): Enforced {
  const policies = reading ? policiesOf(reading) : NOTHING
  if (!reading || typeof policies === 'string') return { now: NOTHING, older: NOTHING, share: 100 }
  const now = reading.record.testing
    ? { p: lowered(policies.p), sp: lowered(policies.sp), np: lowered(policies.np) }
    : policies
  // RFC 7489 knows neither t nor np; beyond the share it applies the next lower policy (§6.6.4).
  const share = shareOf(reading)
  const lower = (policy: Policy): Policy => (share === 0 ? lowered(policy) : policy)
  return { now, older: { p: lower(policies.p), sp: lower(policies.sp), np: lower(policies.sp) }, share }
}

/** Whether receivers apply nothing to any name on behalf of this record. */
export const isUnenforced = (reading: DmarcReading | undefined): boolean => {
  const { now, older } = enforced(reading)
  return NAMES.every((name) => now[name] === 'none' && older[name] === 'none')
}

/**
 * Whether publishing `after` in place of `before` (undefined: no record that is applied) leaves the mail of a domain alone: no policy rises but from none to quarantine,
 * for receivers of either standard, and a `pct` below 100 does not grow.
 */
export function isGentle(before: DmarcReading | undefined, after: DmarcReading): boolean {
  const was = enforced(before)
  const is = enforced(after)
  const isStep = (from: Policy, to: Policy): boolean => !weaker(from, to) || to === 'quarantine'
  const steps = NAMES.every((name) => isStep(was.now[name], is.now[name]) && isStep(was.older[name], is.older[name]))
  const asksNothing = NAMES.every((name) => is.older[name] === 'none')
  return steps && (was.share === 100 || is.share <= was.share || asksNothing)
}
