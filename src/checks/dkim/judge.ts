import { printable } from '../../base/text.ts'
import type { Finding, Outcome } from '../check.ts'
import type { DkimFacts, FoundKey } from './lookup.ts'

/** RSA bits that are advised, and more than which receivers need not verify (RFC 8301 §3.2). */
const ADVISED_BITS = 2_048
const MOST_BITS = 4_096

/** What the other checks know: the domain declares that it neither sends nor takes mail. */
export type DkimContext = { readonly declaresNoMail?: boolean }

/** Judges what was found. Without a key, and without the proof that there is none, the check is unknown: a selector cannot be guessed. */
export function judgeDkim(facts: DkimFacts, context: DkimContext = {}): Outcome<DkimFacts> {
  const wildcard: Finding[] = facts.wildcard ? [{ id: 'dkim.wildcard', args: { domain: facts.domain } }] : []
  if (facts.discovery !== 'found' && context.declaresNoMail)
    return { status: 'not_applicable', facts, findings: wildcard }
  if (facts.discovery === 'proven_absent')
    return { status: 'fail', facts, findings: [{ id: 'dkim.proven_absent', args: { domain: facts.domain } }] }
  if (facts.discovery !== 'found') return unknown(facts, wildcard)
  const usable = facts.keys.filter(({ key }) => key.state === 'usable')
  const findings = [...wildcard, ...facts.keys.flatMap(findingsOf), ...together(usable), ...notAsked(facts)]
  if (usable.length === 0) return { status: 'fail', facts, findings: [...findings, { id: 'dkim.only_revoked' }] }
  const isWeak = findings.some(({ id }) => WEAK.has(id))
  return { status: isWeak ? 'warn' : 'pass', facts, findings }
}

const WEAK = new Set([
  'dkim.short_key',
  'dkim.testing',
  'dkim.ed25519_only',
  'dkim.several_records',
  'dkim.broken_key',
  'dkim.wildcard',
])

function unknown(facts: DkimFacts, findings: readonly Finding[]): Outcome<DkimFacts> {
  if (facts.error) {
    const reason = `${facts.unanswered} of the questions stayed unanswered: ${facts.error.message}`
    return { status: 'unknown', reason, facts, findings: [...findings, ...notAsked(facts)] }
  }
  const reason = `${facts.tried} selectors have no key, and selectors cannot be listed`
  return {
    status: 'unknown',
    reason,
    facts,
    findings: [...findings, { id: 'dkim.none_found', args: { tried: facts.tried, unguessable: facts.unguessable } }],
  }
}

const notAsked = (facts: DkimFacts): Finding[] =>
  facts.error ? [{ id: 'dkim.not_asked', args: { count: facts.unanswered, reason: facts.error.message } }] : []

/** The findings of one selector. */
function findingsOf({ selector, key, records }: FoundKey): Finding[] {
  const evidence = printable(records[0] ?? '', 600)
  const several: Finding[] =
    records.length > 1 ? [{ id: 'dkim.several_records', args: { selector, count: records.length }, evidence }] : []
  if (key.state === 'revoked') return [...several, { id: 'dkim.revoked_key', args: { selector }, evidence }]
  if (key.state === 'broken')
    return [...several, { id: 'dkim.broken_key', args: { selector, problem: key.problem }, evidence }]
  if (key.type === 'rsa' && key.bits > MOST_BITS)
    return [...several, { id: 'dkim.long_key', args: { selector, bits: key.bits }, evidence }]
  return several
}

/** What the usable keys are only together: one good key is enough. */
function together(usable: readonly FoundKey[]): Finding[] {
  if (usable.length === 0) return []
  const findings: Finding[] = []
  const keys = usable.flatMap(({ selector, key }) => (key.state === 'usable' ? [{ selector, ...key }] : []))
  const best = keys.filter(({ type }) => type === 'rsa').sort((a, b) => b.bits - a.bits)[0]
  if (!best) findings.push({ id: 'dkim.ed25519_only' })
  else if (best.bits < ADVISED_BITS)
    findings.push({ id: 'dkim.short_key', args: { selector: best.selector, bits: best.bits } })
  if (keys.every(({ testing }) => testing))
    findings.push({ id: 'dkim.testing', args: { selectors: keys.map(({ selector }) => selector) } })
  return findings
}
