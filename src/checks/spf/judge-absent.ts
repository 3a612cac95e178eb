import type { Finding, Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { mended } from './fixes.ts'
import { fixOf } from './judge-form.ts'
import type { SpfFacts } from './lookup.ts'
import { mend } from './mend/mend.ts'
import { slipsIn } from './mend/words.ts'
import { firstRecord } from './proposal.ts'

/** Judges a domain without a record: what it has instead, and what to publish. */
export function judgeAbsent(facts: SpfFacts, { role, mail }: Pick<DomainContext, 'role' | 'mail'>): Outcome<SpfFacts> {
  const { domain, exists, similar } = facts
  const fail = (findings: readonly Finding[]): Outcome<SpfFacts> => ({ status: 'fail', facts, findings })
  if (!exists) return fail([{ id: 'spf.no_domain', args: { domain } }])
  if (role === 'no_mail' && similar.length === 0) {
    const web: Finding = { id: 'spf.no_record_web', args: { domain }, ...fixOf(domain, 'v=spf1 -all') }
    return { status: 'warn', facts, findings: [web] }
  }
  // A text that was meant as a record is corrected, not replaced.
  const none: Finding = {
    id: 'spf.no_record',
    ...(role === 'return_path' ? { severity: 'medium' as const } : {}),
    args: { domain, similar: similar.length > 0, returnPath: role === 'return_path', both: mail?.kind === 'implicit' },
    ...(similar.length === 0 ? fixOf(domain, firstRecord(mail)) : {}),
  }
  return fail([none, ...similar.map((text) => judgeSimilar(facts, text))])
}

function judgeSimilar({ domain, similar }: SpfFacts, text: string): Finding {
  const meant = mend(text)
  const slips = meant.ok ? slipsIn(meant.value) : []
  return { id: 'spf.not_spf', args: { domain, slips }, evidence: text, ...fixOf(domain, mended(similar)) }
}
