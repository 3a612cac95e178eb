import type { DomainCase, ShownFinding } from './cases.ts'
import { type Shared, serviceFor } from './lab.ts'

type Answer = {
  readonly effective_policy: string
  readonly legacy?: { readonly policy: string; readonly pct?: number }
}

/**
 * The DMARC fixes that raise a policy by more than the step from none to quarantine, for receivers of RFC 9989 or of RFC 7489, one line each.
 * A domain without mail may refuse all at once.
 */
export async function steepFixes(
  row: DomainCase,
  shared: Shared,
  role: string | undefined,
  findings: readonly ShownFinding[],
): Promise<readonly string[]> {
  const fixes = findings.flatMap(({ id, fix }) => (fix && /^_dmarc\./.test(fix.name) ? [{ id, fix }] : []))
  if (fixes.length === 0 || role === 'parked') return []
  const now = await ranksOf(row, shared)
  const steep = fixes.map(async ({ id, fix }) => {
    const then = await ranksOf({ ...row, zone: { ...row.zone, [fix.name]: { TXT: [fix.value] } } }, shared)
    const isSteep = then.some((rank, i) => rank > now[i]! && rank !== 1)
    return isSteep ? [`the fix of ${id} raises the policy from ${now} to ${then}: ${fix.value}`] : []
  })
  return (await Promise.all(steep)).flat()
}

const RANKS: Readonly<Record<string, number>> = { '': 0, none: 0, quarantine: 1, reject: 2 }

/** How strict receivers of RFC 9989 and of RFC 7489 are, 0 to 2 each; with `pct=0` the latter apply the next lower policy (RFC 7489 §6.6.4). */
async function ranksOf(row: DomainCase, shared: Shared): Promise<readonly [number, number]> {
  const app = await serviceFor(row, shared)
  const response = await app.inject({ url: '/v1/dmarc', query: { domain: row.domain! } })
  await app.close()
  if (response.statusCode !== 200) throw new Error(`/v1/dmarc for ${row.domain}: ${response.body}`)
  const { effective_policy, legacy }: Answer = response.json()
  const rank = RANKS[effective_policy]!
  if (!legacy) return [rank, rank]
  const older = RANKS[legacy.policy]!
  return [rank, legacy.pct === 0 ? Math.max(0, older - 1) : older]
}
