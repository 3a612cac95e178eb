import { printable } from '../../base/text.ts'
import { isPopular } from '../../names/popular.ts'
import { publicSuffix } from '../../names/suffix.ts'
import type { Finding } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { deadMailHosts } from '../mx/index.ts'
import { type Applied, type DmarcFacts, governsBelow, writtenTag } from './facts.ts'
import { finding } from './findings.ts'
import { authorizationFix, type Basis, changedFix, reported, softening } from './fixes.ts'
import { invalidPolicyTags, shareOf, weaker } from './parse.ts'
import { destinationProblem } from './problems.ts'
import { type Destination, MAX_DESTINATIONS } from './reports.ts'

/**
 * Size of a record, octets, above which its answer, with the name and other records, may not fit a UDP answer of 1232
 * octets.
 */
export const LONG_RECORD = 1_000
/** Maximum number of faults that are reported individually; the others are counted. */
const MAX_TOLD = 10

/** The findings about the text of the applied record; none of them changes the policy. */
export function recordFindings(applied: Applied, basis: Basis): Finding[] {
  const { text, reading } = applied
  const { record, faults } = reading
  const ignored = faults.filter(({ kind, tag }) => kind === 'item' || (kind === 'value' && !/^[sn]?p$/.test(tag)))
  const out: Finding[] = ignored.slice(0, MAX_TOLD).map((fault) => {
    const args = { tag: fault.tag, value: printable(fault.value, 80), at: fault.at }
    const id = fault.kind === 'item' ? 'dmarc.syntax' : 'dmarc.ignored_value'
    return finding(id, args, { evidence: text, fix: changedFix(basis) })
  })
  const limits = faults.filter((fault) => fault.kind === 'limit').map((fault) => fault.tag || 'tags')
  if (limits.length > 0 || ignored.length > MAX_TOLD)
    out.push(finding('dmarc.limit', { limits, faults: ignored.length }, { evidence: text }))
  if (reading.unknown.length > 0)
    out.push(
      finding('dmarc.unknown_tags', { tags: reading.unknown.slice(0, MAX_TOLD).map((tag) => printable(tag, 40)) }),
    )
  if (reading.capitals.length > 0)
    out.push(finding('dmarc.tag_case', { tags: reading.capitals.slice(0, MAX_TOLD) }, { evidence: text }))
  out.push(...removedFindings(applied, basis))
  if ([...record.rua, ...record.ruf].some((uri) => uri.size !== undefined))
    out.push(finding('dmarc.size_suffix', {}, { evidence: text, fix: changedFix(basis) }))
  if (record.fo.join(':') !== '0' && record.ruf.length === 0) out.push(finding('dmarc.fo_without_ruf', {}))
  if (record.p !== undefined && !reading.policySecond)
    out.push(finding('dmarc.policy_order', {}, { evidence: text, fix: changedFix(basis) }))
  if (Buffer.byteLength(text) > LONG_RECORD)
    out.push(finding('dmarc.long_record', { octets: Buffer.byteLength(text), limit: LONG_RECORD }))
  return out
}

function removedFindings(applied: Applied, basis: Basis): Finding[] {
  const { record } = applied.reading
  const tags = Object.keys(record.removed)
  if (tags.length === 0) return []
  const share = shareOf(applied.reading)
  // Receivers of RFC 7489 apply the policy to a part of the mail, and those of RFC 9989 to all of it; with pct=0 and
  // t=y both apply it one step lower.
  const isAgreed = share === 100 || (share === 0 && record.testing) || applied.policy === 'none'
  if (!isAgreed)
    return [finding('dmarc.pct_partial', { pct: share, policy: applied.policy ?? '' }, { evidence: applied.text })]
  // A pct below 100 stays, so that a policy that is raised later starts with that percentage.
  const others = tags.filter((tag) => tag !== 'pct' || share === 100)
  const fix = others.length > 0 ? changedFix(basis) : undefined
  return [finding('dmarc.removed_tags', { tags: fix ? others : tags, isKept: !fix }, { evidence: applied.text, fix })]
}

export type Mail = Pick<DomainContext, 'role' | 'takes' | 'canPass' | 'silent' | 'noMail' | 'mail' | 'mailError'>
export const hasNoMail = ({ role }: Mail): boolean => role === 'parked'

/** A record that receivers cannot apply (RFC 9989 §4.10.1). */
export function brokenFinding(applied: Applied, basis: Basis): Finding {
  const { text: evidence, domain, reading } = applied
  const fix = changedFix(basis)
  const softened = softening(basis.record, fix)
  if (applied.broken === 'duplicate') {
    const tags = [...new Set(reading.faults.filter((fault) => fault.kind === 'duplicate').map((fault) => fault.tag))]
    return finding('dmarc.duplicate_tag', { domain, tags, softened }, { evidence, fix })
  }
  const fault = reading.faults.find((candidate) => candidate.tag === invalidPolicyTags(reading)[0])!
  const args = { domain, tag: fault.tag, value: printable(fault.value, 80), at: fault.at, softened }
  return finding('dmarc.unusable_policy', args, { evidence, fix })
}

/** The findings about the policy, about subdomains, and about a record without report addresses. */
export function policyFindings(facts: DmarcFacts, applied: Applied, basis: Basis, context: Mail): Finding[] {
  const { policies, text: evidence, reading } = applied
  const tags = invalidPolicyTags(reading)
  const mended = tags.length > 0 || reading.record.p === undefined ? changedFix(basis) : undefined
  const softened = softening(basis.record, mended)
  if (tags.length > 0) return [finding('dmarc.invalid_policy', { tags, softened }, { evidence, fix: mended })]
  const out: Finding[] = []
  if (reading.record.p === undefined) out.push(finding('dmarc.missing_policy', { softened }, { evidence, fix: mended }))
  out.push(...strengthFindings(applied, context))
  // That the policy which applies to this name is the weaker one is told as such.
  const isTold = policies !== undefined && applied.inherited && weaker(policies[applied.tag], policies.p)
  if (
    policies &&
    !isTold &&
    governsBelow(facts, applied) &&
    (weaker(policies.sp, policies.p) || weaker(policies.np, policies.p))
  )
    out.push(finding('dmarc.subdomains_weaker', { ...policies }, { evidence }))
  if (reading.record.rua.length === 0 && !hasNoMail(context)) {
    // One that is published, but not recognized by receivers.
    const unread = basis.record.rua.length > 0
    const fix = canReport(applied, context) ? changedFix(reported(basis)) : undefined
    out.push(finding('dmarc.no_rua', { unread }, { evidence, fix }))
  }
  return out
}

/** Reports are proposed only for the domain itself, if it accepts mail: nobody asked about a domain above. */
const canReport = (applied: Applied, { takes }: Mail): boolean => takes !== false && !applied.inherited

/** A policy that requests little. The plan raises it, stage by stage. */
function strengthFindings(applied: Applied, context: Mail): Finding[] {
  const { effective, policy, text: evidence } = applied
  if (applied.reading.record.testing && policy !== undefined && policy !== 'none')
    return [finding('dmarc.testing', { policy, effective: effective! }, { evidence })]
  if (effective === 'quarantine') return [finding('dmarc.policy_quarantine', {}, { evidence })]
  if (effective !== 'none') return []
  const unread = applied.reading.record.p === undefined
  const { canPass, silent } = context
  const args = {
    ...{ tag: writtenTag(applied), unread, canPass, silent },
    ...(applied.inherited && { from: applied.domain }),
  }
  return [finding('dmarc.policy_none', args, { evidence })]
}

/** The findings about the walk and about other readings of the same records. */
export function readingFindings(facts: DmarcFacts, applied: Applied): Finding[] {
  const out: Finding[] = []
  // What the names below it are, the owner of the record must say: no record is proposed.
  if (applied.reading.record.psd === 'y' && publicSuffix(applied.domain) !== applied.domain)
    out.push(finding('dmarc.psd_misused', { domain: applied.domain }, { evidence: applied.text }))
  const gap = facts.walk.steps.find((step) => step.decision === 'unanswered')
  if (gap) out.push(finding('dmarc.walk_gap', { name: gap.name, reason: gap.reason ?? '' }))
  if (facts.legacy) {
    const { foundAt = '', policy = '', pct = 100, organizationalDomain } = facts.legacy
    const now = facts.walk.organizationalDomain ?? ''
    const effective = applied.effective ?? ''
    const isOneOrganization = now === '' || organizationalDomain === now
    // `dmarc.pct_partial` says what a share alone changes.
    const isShareOnly = foundAt === applied.domain && policy === effective && isOneOrganization
    const args = { foundAt, policy, pct, organizationalDomain, now, effective }
    if (!isShareOnly) out.push(finding('dmarc.legacy_differs', args))
  }
  return out
}

/** Maximum number of report destinations that are reported individually. */
const MAX_DESTINATIONS_TOLD = 10

/** The findings about report destinations (RFC 9989 §4.7 rua and ruf, RFC 9990 §4). */
export function reportFindings(facts: DmarcFacts, applied: Applied, basis: Basis, context: Mail): Finding[] {
  const all = [...facts.rua, ...facts.ruf]
  const hosts = [...new Map(all.flatMap((uri) => (uri.host ? [[uri.host, uri] as const] : []))).values()]
  const of = (authorization: Destination['authorization']): Destination[] =>
    hosts.filter((uri) => uri.authorization === authorization).slice(0, MAX_DESTINATIONS_TOLD)
  const invalid = all.filter((uri) => uri.problem !== undefined).slice(0, MAX_DESTINATIONS_TOLD)
  const schemes = all
    .filter((uri) => uri.problem === undefined && uri.scheme !== 'mailto')
    .slice(0, MAX_DESTINATIONS_TOLD)
  // About a host without authorization there is no further finding; a domain that accepts no mail cannot receive its
  // own reports.
  const takesNone = hosts.filter(
    (uri) =>
      uri.authorization !== 'unauthorized' &&
      (uri.takesMail === false ||
        (uri.takesMail !== undefined && uri.host === facts.domain && context.takes === false)),
  )
  // In place of hosts that take no mail, and if none is left, an address at the domain.
  const isDead = ({ host }: { readonly host?: string }): boolean => takesNone.some((one) => one.host === host)
  const { rua, ruf } = basis.record
  const record = { ...basis.record, rua: rua.filter((uri) => !isDead(uri)), ruf: ruf.filter((uri) => !isDead(uri)) }
  const elsewhere = canReport(applied, context) ? { fix: changedFix(reported({ ...basis, record })) } : {}
  return [
    ...invalid.map((uri) =>
      finding(
        'dmarc.report_uri',
        { uri: printable(uri.uri, 120), problem: uri.problem ?? '' },
        { evidence: applied.text, fix: changedFix(basis) },
      ),
    ),
    ...schemes.map((uri) => {
      const isAlone = canReport(applied, context) && !facts.rua.some(arrives)
      const mailboxes = basis.record.rua.filter(({ scheme }) => scheme === 'mailto')
      const fix = isAlone
        ? { fix: changedFix(reported({ ...basis, record: { ...basis.record, rua: mailboxes } })) }
        : {}
      return finding('dmarc.report_scheme', { uri: printable(uri.uri, 120), scheme: uri.scheme }, fix)
    }),
    // Of a host to which no mail goes, consent is not asked: nobody delivers reports in another way.
    ...of('unauthorized')
      .filter(({ host }) => all.some((uri) => uri.host === host && uri.scheme === 'mailto'))
      .flatMap((uri) => unauthorized(uri, { facts, applied, basis, context })),
    ...takesNone.slice(0, MAX_DESTINATIONS_TOLD).map((uri) => {
      const reason = uri.takesMail === false ? (uri.reason ?? '') : destinationProblem('no_mail')
      const isOwn = uri.host === facts.domain && context.takes === false
      const cause = isOwn ? deadMailHosts(context) : undefined
      const unreachable = finding(
        'dmarc.rua_unreachable',
        { host: uri.host!, reason },
        { evidence: uri.uri, ...(isOwn && cause === undefined ? { fix: changedFix(basis) } : isOwn ? {} : elsewhere) },
      )
      return { ...unreachable, ...(cause !== undefined && { follows: cause }) }
    }),
    ...of('unknown').map((uri) => finding('dmarc.report_unknown', { host: uri.host!, reason: uri.reason ?? '' })),
    ...(hosts.length > MAX_DESTINATIONS
      ? [finding('dmarc.report_limit', { hosts: hosts.length, limit: MAX_DESTINATIONS })]
      : []),
  ]
}

/** Whether reports come to a destination. */
const arrives = ({ problem, scheme, authorization, takesMail }: Destination): boolean =>
  !problem &&
  scheme === 'mailto' &&
  (authorization === 'internal' || authorization === 'authorized') &&
  takesMail !== false

/**
 * A destination that has not agreed to the reports. For a mailbox at a public provider nobody can agree: an address of
 * the domain's own is put before it, and where there is one nothing is missing.
 */
function unauthorized(
  uri: Destination,
  { facts, applied, basis, context }: { facts: DmarcFacts; applied: Applied; basis: Basis; context: Mail },
): Finding[] {
  const args = { host: uri.host!, domain: applied.domain, reason: uri.reason ?? '', takesNone: context.takes === false }
  if (!isPopular(uri.host!)) {
    // null: nobody knows whether there is a mailbox at all.
    const fix = uri.takesMail === false || uri.takesMail === null ? {} : { fix: authorizationFix(applied, uri) }
    return [finding('dmarc.report_unauthorized', args, { evidence: uri.uri, ...fix })]
  }
  if (facts.rua.some(arrives)) return []
  const fix = canReport(applied, context) ? { fix: changedFix(reported(basis, true)) } : {}
  return [finding('dmarc.report_unauthorized', { ...args, isPublic: true }, { evidence: uri.uri, ...fix })]
}
