import { isPasted } from '../../net/dns/pasted.ts'
import type { Args, Finding, Outcome, Severity } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { severityOf } from '../finding.ts'
import { findings as table } from './findings.ts'
import { firstRecord, mended, namesSomebody, withAll } from './fixes.ts'
import { judgePermerror, judgeTakeover } from './judge-permerror.ts'
import {
  fixOf,
  judgeDeadTerms,
  judgeExtent,
  judgeForm,
  judgeNames,
  knownSenders,
  type Said,
  TOLD_BY,
} from './judge-record.ts'
import type { SpfFacts } from './lookup.ts'
import { mend, SPF_VERSION, slipsIn } from './mend.ts'
import { judgeProvider } from './provider.ts'
import { namesNobody, type SpfReading } from './reading.ts'
import { chainOf, MAX_LOOKUPS, type SpfNode } from './tree.ts'

/**
 * Judges the published record. `fail`: there is no record, receivers return permerror, or everybody passes; `unknown`:
 * a part has no answer; `warn`: a finding of severity low or more; otherwise `pass`, also for `~all`.
 */
export function judgeSpf(facts: SpfFacts, context: SpfContext): Outcome<SpfFacts> {
  const { tree, reading } = facts
  // What stands at the end of an alias is not the name's own.
  if (reading && isAliased(facts, context) && !letsEverybodyPass(reading)) {
    const [unknown] = reading.unknown
    return unknown
      ? { status: 'unknown', reason: unknown.reason, facts, findings: [] }
      : { status: 'pass', facts, findings: [] }
  }
  if (!tree || !reading) return judgeAbsent(facts, context)
  const told = [
    ...judgeTakeover(facts, reading, context.mail),
    ...judgePermerror(facts, reading, context.mail),
    ...judgeRecord(facts, tree, reading, context.mail),
  ]
  const missing = judgeProvider(facts, tree, reading, context)
  const findings = mendingFirst([
    ...told,
    ...judgeDeadTerms(facts, tree, reading, told, context),
    ...(missing?.finding ? [missing.finding] : []),
  ])
  const failed =
    reading.permerrors.length > 0 ||
    letsEverybodyPass(reading) ||
    (facts.free?.length ?? 0) > 0 ||
    findings.some(({ id, severity }) => severity === 'high' && id !== missing?.finding?.id)
  const unknown = reading.unknown[0]
  const reason = unknown?.reason ?? facts.freeUnknown
  if (!failed && reason) return { status: 'unknown', reason, facts, findings }
  return { status: failed ? 'fail' : findings.some(isWeighty) ? 'warn' : 'pass', facts, findings }
}

/** What the judgement needs to know beside SPF. */
type SpfContext = Pick<DomainContext, 'role' | 'mail' | 'mailboxes' | 'canPass' | 'enforces'>

/** A term that can be corrected is not removed, and nothing is put behind it. */
function mendingFirst(findings: readonly Finding[]): readonly Finding[] {
  const fix = findings.find((finding) => TOLD_BY.includes(finding.id) && finding.fix)?.fix
  if (!fix) return findings
  const words = fix.value.split(' ')
  return findings.map((finding) => (isMendedToo(finding, words) ? { ...finding, fix } : finding))
}

/** Whether the corrected record also removes another finding. */
function isMendedToo({ id, args = {} }: Finding, words: readonly string[]): boolean {
  if (id === 'spf.include_without_record' || id === 'spf.include_takeover') return !words.includes(String(args.term))
  return id === 'spf.too_many_void_lookups' || (id === 'spf.no_all' && words.some((word) => /^[+\-~?]?all$/.test(word)))
}

/**
 * Whether there is exactly one record and it evaluates without permerror, apart from its quality. False while it is not
 * known.
 */
export const isValid = ({ reading }: SpfFacts): boolean =>
  reading !== undefined && reading.permerrors.length === 0 && reading.unknown.length === 0

/** Whether everybody passes, or would if the record were evaluated to its end. */
const letsEverybodyPass = ({ extent, all }: SpfReading): boolean => extent.everybody || all === '+'

const WEIGHTY: readonly Severity[] = ['critical', 'high', 'medium', 'low']
/** That a provider is not named is a question to the owner, where its mail passes by DKIM. */
const isWeighty = (finding: Finding): boolean =>
  WEIGHTY.includes(severityOf(table, finding)) && !(finding.id === 'spf.provider_missing' && !finding.severity)

function judgeRecord({ domain, records, limit }: SpfFacts, root: SpfNode, reading: SpfReading, mail: Mail): Finding[] {
  const said: Said = { domain, evidence: records[0] ?? '', mail }
  return [
    ...judgeAll(said, root, reading),
    ...judgeUse(said, root, reading),
    ...judgeNames(said, root, reading),
    ...judgeForm(said, root, reading),
    ...reading.unknown.map(({ name, reason }): Finding => ({ id: 'spf.part_unknown', args: { name, reason } })),
    ...(limit ? [{ id: 'spf.not_all_read', args: { limit } }] : []),
  ]
}

type Mail = DomainContext['mail']

/** The result of `all`: for a client that no other term names (RFC 7208 §5.1, §4.7). */
function judgeAll(said: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { domain, evidence } = said
  const own = root.record
  if (!own) return []
  const { all, extent, redirects } = reading
  const found = (id: string, args: Args, text: string | undefined): Finding[] => [
    { id, args, evidence, ...fixOf(domain, redirects ? undefined : text) },
  ]
  const path = chainOf(root).map((node) => node.domain)
  if (all === '+') return found('spf.plus_all', { path: path.join(' > ') }, knownSenders(said, root))
  if (extent.everybody) return []
  if (reading.declaredNonSender) return [{ id: 'spf.sends_no_mail', args: { domain }, evidence }]
  // A record that names nobody would make all of the domain's own mail suspicious.
  const closed = namesSomebody(own) ? withAll(own, '~') : knownSenders(said, root)
  if (all === '?') return found('spf.neutral_all', {}, closed)
  if (all === '~') return [{ id: 'spf.softfail', evidence }]
  const last = chainOf(root).at(-1)!
  const open = all === undefined && last.record !== undefined && !last.record.redirect
  return open ? found('spf.no_all', { record: last.domain }, closed) : []
}

/** Which senders the record lets pass, and its cost. */
function judgeUse(said: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { lookups, ptr, permerrors, reserved } = reading
  const { evidence } = said
  const findings: Finding[] = []
  // No fix: it is not known whom "ptr" lets pass, and without it they would be refused.
  if (ptr) findings.push({ id: 'spf.ptr', evidence })
  if (reading.all !== '+') findings.push(...judgeExtent(said, root, reading.extent))
  if (reserved.length > 0 && !namesNobody(reading))
    findings.push({ id: 'spf.not_public', args: { terms: reserved }, evidence })
  if (permerrors.length === 0 && lookups >= MAX_LOOKUPS - 1)
    findings.push({ id: 'spf.lookups_near_limit', args: { lookups } })
  return findings
}

/** Whether the records of a web name or a return path are those of another name. */
export const isAliased = ({ alias }: SpfFacts, { role }: Pick<SpfContext, 'role'>): boolean =>
  alias !== undefined && (role === 'no_mail' || role === 'return_path')

/** Judges a domain without a record: what it has instead, and what to publish. */
function judgeAbsent(facts: SpfFacts, { role, mail }: Pick<DomainContext, 'role' | 'mail'>): Outcome<SpfFacts> {
  const { domain, exists, similar } = facts
  const fail = (findings: readonly Finding[]): Outcome<SpfFacts> => ({ status: 'fail', facts, findings })
  if (!exists) return fail([{ id: 'spf.no_domain', args: { domain } }])
  if ((role === 'no_mail' || role === 'parked') && similar.length === 0) {
    const { alias } = facts
    const fix = alias === undefined ? fixOf(domain, 'v=spf1 -all') : { args: { domain, alias } }
    const web: Finding = { id: 'spf.no_record_web', args: { domain }, ...fix }
    return { status: 'warn', facts, findings: [web] }
  }
  // A text that was meant as a record is corrected, not replaced.
  const none: Finding = {
    id: 'spf.no_record',
    ...(role === 'return_path' ? { severity: 'medium' as const } : {}),
    args: {
      domain,
      similar: similar.length > 0,
      returnPath: role === 'return_path',
      both: mail?.kind === 'implicit',
      takesNone: mail?.kind === 'null' || mail?.kind === 'none',
    },
    ...(similar.length === 0 ? fixOf(domain, firstRecord(mail)) : {}),
  }
  const isThere = similar.some((text) => isPasted(text, SPF_VERSION))
  return fail([...(isThere ? [] : [none]), ...similar.map((text) => judgeSimilar(facts, text))])
}

function judgeSimilar({ domain, similar }: SpfFacts, text: string): Finding {
  const meant = mend(text)
  const slips = meant.ok ? slipsIn(meant.value) : []
  return { id: 'spf.not_spf', args: { domain, slips }, evidence: text, ...fixOf(domain, mended(similar)) }
}
