import type { RecordData } from '../../net/dns/resolver.ts'
import type { Finding } from '../check.ts'
import type { DnssecFacts } from './lookup.ts'

type Signature = RecordData['RRSIG']
const DAY_SECONDS = 86_400
/** Remaining lifetime of signatures below which they are reported. */
const SOON_SECONDS = 7 * DAY_SECONDS
/** Servers that sign each answer on the fly use short lifetimes on purpose. */
const ONLINE_SECONDS = 10 * DAY_SECONDS

/** Signatures that expire soon, and NSEC3 parameters that are expensive and protect nothing. */
export function signatureFindings(facts: DnssecFacts): Finding[] {
  const { zone = facts.domain, nsec3 } = facts
  const findings: Finding[] = []
  const left = leastLeft(facts)
  if (left !== undefined && left > 0 && left < SOON_SECONDS) {
    const expires = new Date(facts.nowMs + left * 1_000).toISOString()
    findings.push({ id: 'dnssec.expires_soon', args: { zone, days: Math.floor(left / DAY_SECONDS), expires } })
  }
  const wasteful = nsec3.find(({ iterations, salt }) => iterations > 0 || salt !== '')
  if (wasteful) {
    const { iterations, salt } = wasteful
    findings.push({
      id: 'dnssec.nsec3_parameters',
      args: { zone, iterations, salt: salt === '' ? 0 : salt.length / 2 },
    })
  }
  return findings
}

/** Seconds until the first type at the apex of the zone has no valid signature; of several for one type, as in a rollover, the last one counts. */
function leastLeft({ signatures, nowMs }: DnssecFacts): number | undefined {
  const now = Math.floor(nowMs / 1_000)
  const kept = new Map<number, number>()
  for (const signature of signatures) {
    if (lifetimeOf(signature) <= ONLINE_SECONDS) continue
    const left = (signature.expiresAt - now) | 0 // RFC 4034 §3.1.5: serial arithmetic
    kept.set(signature.covered, Math.max(left, kept.get(signature.covered) ?? left))
  }
  return kept.size === 0 ? undefined : Math.min(...kept.values())
}

const lifetimeOf = ({ expiresAt, validFrom }: Signature): number => (expiresAt - validFrom) >>> 0
