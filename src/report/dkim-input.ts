import type { Outcome } from '../checks/check.ts'
import type { DkimFacts } from '../checks/dkim/index.ts'
import type { DkimScoreInput } from './score-types.ts'

/** What the score needs of the DKIM check. */
export function fromDkim({ facts }: Outcome<DkimFacts>): DkimScoreInput {
  if (!facts) return { state: 'unknown' }
  if (facts.discovery === 'proven_absent') return { state: 'absent', finding: 'dkim.proven_absent' }
  if (facts.discovery !== 'found')
    return { state: 'unknown', finding: facts.discovery === 'unknown' ? 'dkim.not_asked' : 'dkim.none_found' }
  const keys = facts.keys.flatMap(({ key }) => (key.state === 'usable' ? [key] : []))
  if (keys.length === 0 && facts.unanswered > 0) return { state: 'unknown', finding: 'dkim.not_asked' }
  if (keys.length === 0) return { state: 'broken', finding: 'dkim.only_revoked' }
  return {
    state: 'found',
    keys,
    isOpen: facts.unanswered > 0,
    shortRsaFinding: 'dkim.short_key',
    testingFinding: 'dkim.testing',
    ed25519OnlyFinding: 'dkim.ed25519_only',
  }
}
