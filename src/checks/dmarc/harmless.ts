import type { DomainContext } from '../context.ts'
import type { DmarcFacts } from './facts.ts'
import { type DmarcReading, lowered, type Policies, type Policy, policiesOf, shareOf, weaker } from './parse.ts'

/**
 * The policies that receivers of both standards apply, and the percentage of mail to which receivers of RFC 7489 apply
 * theirs.
 */
type Enforced = { readonly now: Policies; readonly older: Policies; readonly share: number }

const NOTHING: Policies = { p: 'none', sp: 'none', np: 'none' }
const NAMES = ['p', 'sp', 'np'] as const

function enforced(reading: DmarcReading | undefined): Enforced {
  const policies = reading ? policiesOf(reading) : NOTHING
  if (!reading || typeof policies === 'string') return { now: NOTHING, older: NOTHING, share: 100 }
  const now = reading.record.testing
    ? { p: lowered(policies.p), sp: lowered(policies.sp), np: lowered(policies.np) }
    : policies
  // RFC 7489 has neither t nor np; to the other mail it applies the next lower policy (§6.6.4).
  const share = shareOf(reading)
  const lower = (policy: Policy): Policy => (share === 0 ? lowered(policy) : policy)
  return { now, older: { p: lower(policies.p), sp: lower(policies.sp), np: lower(policies.sp) }, share }
}

/**
 * Whether the record that applies to a domain after a fix leaves its mail unharmed: no policy rises except from none to
 * quarantine, for receivers of either standard, and a `pct` below 100 does not grow. If mail cannot pass (`canPass`),
 * not even that. A domain without mail has none that could be lost.
 */
export function isHarmless(
  before: DmarcFacts,
  after: DmarcFacts,
  { role, canPass }: Pick<DomainContext, 'role' | 'canPass'>,
): boolean {
  if (role === 'parked' || role === 'no_mail' || before.unknown !== undefined) return true
  if (after.unknown !== undefined) return false
  // A record of its own must not remove the protection by a record above either.
  return isStep(enforcedAt(before), enforcedAt(after), canPass) && !weakens(before, after)
}

/** Whether receivers of either standard apply less to the domain after a fix. */
export function weakens(before: DmarcFacts, after: DmarcFacts): boolean {
  const [was, is] = [enforcedAt(before), enforcedAt(after)]
  return weaker(is.now.p, was.now.p) || weaker(is.older.p, was.older.p)
}

/**
 * The policies for a domain and the names below it: of a record above its `sp`, or `np` if the domain does not exist.
 */
function enforcedAt({ applied }: DmarcFacts): Enforced {
  const { now, older, share } = enforced(applied?.broken ? undefined : applied?.reading)
  if (!applied?.inherited) return { now, older, share }
  const below = (policies: Policies): Policies => ({ p: policies[applied.tag], sp: policies.sp, np: policies.np })
  return { now: below(now), older: { p: older.sp, sp: older.sp, np: older.sp }, share }
}

function isStep(was: Enforced, is: Enforced, mayRise: boolean): boolean {
  const isOne = (from: Policy, to: Policy): boolean => !weaker(from, to) || (mayRise && to === 'quarantine')
  const steps = NAMES.every((name) => isOne(was.now[name], is.now[name]) && isOne(was.older[name], is.older[name]))
  const asksNothing = NAMES.every((name) => is.older[name] === 'none')
  return steps && (was.share === 100 || is.share <= was.share || asksNothing)
}
