import type { DnsRecord, Finding, Outcome, Severity } from '../checks/check.ts'
import { severityOf } from '../checks/finding.ts'
import * as registry from '../checks/registry.ts'
import type { CheckKey, Outcomes } from '../checks/run.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import { isProvidersInclude, overLimits } from '../checks/spf/index.ts'
import { harmOf, type Situation } from './harm.ts'

export const RANK: Readonly<Record<Severity, number>> = { info: 0, low: 1, medium: 2, high: 3, critical: 4 }

export type Found = { readonly key: CheckKey; readonly finding: Finding }
/** A domain as it is, or with records laid over its DNS. */
export type Trial = Situation & { readonly outcomes: Outcomes }

/** The rank of a finding's severity, 0 (info) to 4 (critical). */
export const rankOf = ({ key, finding }: Found): number => RANK[severityOf(registry[key].table, finding)]

/** Why a record is not offered, as a sentence; undefined: it resolves its finding and does no harm. */
export function objectionTo(
  found: Found,
  fix: DnsRecord,
  before: Trial,
  after: Trial,
  seen?: SeenMail,
): string | undefined {
  const harm = harmOf({ key: found.key, fix, before, after, seen })
  if (harm !== undefined) return noRecord(harm)
  if (isBetter(found, before, after)) return undefined
  return insteadOf(found.finding, after) ?? NOT_ALONE
}

/** Why a record is not proposed that would do harm. */
const noRecord = (harm: string): string => `${HARMFUL}${harm.replace(/\.$/, '')}.`
/** How a sentence begins that says what harm a record would do. */
export const HARMFUL = 'No record is proposed, because with it '

/** Where nothing else is known; the words of the finding come first. */
export const NOT_ALONE =
  'No record of this domain alone repairs it: ask whoever runs the mail of the domain, and check again.'

/** What to do in place of a record that would only replace one permerror by another; undefined if it would not. */
const insteadOf = ({ id }: Finding, { facts }: Situation): string | undefined =>
  id === 'spf.many_records' && !(facts.spf instanceof Error) ? overLimits(facts.spf) : undefined

/**
 * Whether a record resolves a finding and causes none that is more severe (nor one of its severity if the check fails),
 * and leaves the check known.
 */
function isBetter({ key, finding }: Found, before: Trial, after: Trial): boolean {
  const [was, is]: readonly (Outcome<unknown> | undefined)[] = [before.outcomes[key], after.outcomes[key]]
  if (!was || !is || (is.status === 'unknown' && was.status !== 'unknown')) return false
  // One check may have a finding of one id for several names: there must be one less.
  const count = ({ findings }: Outcome<unknown>): number => findings.filter(({ id }) => id === finding.id).length
  // Replacing one finding by another of the same severity helps only if the check no longer fails.
  const least = rankOf({ key, finding }) + (is.status === 'fail' ? 0 : 1)
  const worse = is.findings.filter(
    (one) =>
      rankOf({ key, finding: one }) >= least &&
      !was.findings.some(({ id }) => id === one.id) &&
      !(was.status === 'fail' && isOfProvider(one)),
  )
  if (worse.length > 0) return false
  return count(is) < count(was)
}

/** Records that a known provider publishes are not questioned, but never put into a record that works. */
const isOfProvider = ({ id, args }: Finding): boolean =>
  id === 'spf.include_without_record' && typeof args?.name === 'string' && isProvidersInclude(args.name)
