import type { DomainCase, Offered, WrittenZone } from './cases.ts'
import { answerOf, type Get, type Shared, serviceFor } from './lab.ts'
import { published } from './published.ts'

/** Roles in which nothing is sent: all may be refused at once. */
const SILENT: ReadonlySet<string> = new Set(['parked', 'no_mail', 'accepts_mail_only'])

type Answer = {
  readonly effective_policy: string
  readonly legacy?: { readonly policy: string; readonly pct?: number }
}

/**
 * The DMARC fixes that raise a policy by more than the step from none to quarantine, for receivers of RFC 9989 or of
 * RFC 7489, one line each. A domain without mail may refuse all at once.
 */
export async function steepFixes(
  row: DomainCase,
  shared: Shared,
  role: string | undefined,
  findings: readonly Offered[],
): Promise<readonly string[]> {
  const fixes = findings.flatMap(({ id, fix }) => (fix && /^_dmarc\./.test(fix.name) ? [{ id, fix }] : []))
  if (fixes.length === 0 || SILENT.has(role ?? '')) return []
  const ranksIn = (zone: WrittenZone): Promise<Ranks> => policyRanks(serviceFor({ ...row, zone }, shared), row.domain!)
  const now = await ranksIn(row.zone ?? {})
  const steep = fixes.map(async ({ id, fix }) => {
    const then = await ranksIn(published(row.zone ?? {}, fix))
    return isSteep(now, then) ? [`the fix of ${id} raises the policy from ${now} to ${then}: ${fix.value}`] : []
  })
  return (await Promise.all(steep)).flat()
}

const RANKS: Readonly<Record<string, number>> = { '': 0, none: 0, quarantine: 1, reject: 2 }
/** How strict receivers of RFC 9989 and of RFC 7489 are, 0 to 2 each. */
export type Ranks = readonly [number, number]

/** More than the step from none to quarantine. */
export const isSteep = (now: Ranks, then: Ranks): boolean => then.some((rank, i) => rank > now[i]! && rank !== 1)

/** The policy that receivers apply; with `pct=0` those of RFC 7489 apply the next lower one (RFC 7489 §6.6.4). */
export async function policyRanks(get: Get, domain: string): Promise<Ranks> {
  const { effective_policy, legacy } = (await answerOf(get, '/v1/dmarc', { domain })) as Answer
  const rank = RANKS[effective_policy]!
  if (!legacy) return [rank, rank]
  const older = RANKS[legacy.policy]!
  return [rank, legacy.pct === 0 ? Math.max(0, older - 1) : older]
}
