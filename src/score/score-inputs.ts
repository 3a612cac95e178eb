import type { Outcome } from '../checks/check.ts'
import type { DomainContext } from '../checks/context.ts'
import type { DkimFacts } from '../checks/dkim/index.ts'
import { type DmarcFacts, publishedPolicyOf } from '../checks/dmarc/index.ts'
import { deliveryOf, hostState, type MxFacts } from '../checks/mx/index.ts'
import { judgedStates, type PtrFacts } from '../checks/ptr/index.ts'
import type { JudgedChecks } from '../checks/run.ts'
import { isAliased, judgeProvider, type SpfFacts, type SpfReading } from '../checks/spf/index.ts'
import { hostError } from '../mailhosts/mailhosts.ts'
import { type Score, scoreWithin } from './score.ts'
import type {
  DkimScoreInput,
  DmarcScoreInput,
  FindingId,
  MxScoreInput,
  PtrScoreInput,
  ScoreInputs,
  SpfScoreInput,
} from './score-types.ts'

/** What the score needs of the SPF check. */
export function fromSpf(
  outcome: Outcome<SpfFacts>,
  context: Pick<DomainContext, 'role' | 'mailboxes' | 'enforces'>,
): SpfScoreInput {
  if (!outcome.facts) return { state: 'unknown' }
  const { reading } = outcome.facts
  // No record can stand beside an alias, and what stands at its end is not the name's own.
  if (isAliased(outcome.facts, context) && (reading ? isKnown(reading) : context.role === 'no_mail'))
    return { state: 'record', all: '-' }
  if (!reading)
    return {
      state: 'none',
      finding: firstOf(outcome, ['spf.no_domain', 'spf.no_record_web', 'spf.no_record']) ?? 'spf.not_spf',
    }
  const { everybody } = reading.extent
  const isOpen = reading.unknown.length > 0
  if (reading.permerrors.length > 0 && !everybody)
    return { state: 'permerror', finding: firstOf(outcome, PERMERROR) ?? 'spf.syntax', ...(isOpen && { isOpen }) }
  if (isOpen && !everybody) return { state: 'unknown' }
  if (reading.passesNobody?.names && !everybody)
    return { state: 'names_nobody', finding: firstOf(outcome, NAMES_NOBODY) ?? 'spf.names_nobody' }
  const has = (id: FindingId): boolean => firstOf(outcome, [id]) !== undefined
  const { tree } = outcome.facts
  const missing = tree && judgeProvider(outcome.facts, tree, reading, context)
  return {
    state: 'record',
    ...(missing && { provider: { ...missing, finding: missing.finding?.id ?? null } }),
    // A record that lets everybody pass, by any terms, is equivalent to `+all`.
    all: everybody ? '+' : (reading.all ?? (has('spf.no_all') ? 'none' : 'unread')),
    ...told('allFinding', firstOf(outcome, ALL)),
    ...told('ptr', firstOf(outcome, ['spf.ptr'])),
    ...told('equals_sign', firstOf(outcome, ['spf.equals_sign'])),
    // A name that anybody could register is gone too.
    ...(outcome.facts.freeUnknown && { mayBeTaken: true }),
    ...told('dead_term', firstOf(outcome, ['spf.dead_term', 'spf.include_takeover'])),
    ...told('veryWide', firstOf(outcome, ['spf.very_many_addresses'])),
    ...told('wide', firstOf(outcome, ['spf.many_addresses'])),
    ...told('long', firstOf(outcome, ['spf.very_long', 'spf.long'])),
    ...told('untidy', firstOf(outcome, ['spf.after_all', 'spf.duplicate_include'])),
  }
}

const isKnown = ({ extent, unknown }: SpfReading): boolean => !extent.everybody && unknown.length === 0

/** What the score needs of the MX check. */
export function fromMx(
  outcome: Outcome<MxFacts>,
  { barriers, openBarriers, tls }: Pick<DomainContext, 'barriers' | 'openBarriers' | 'tls'>,
): MxScoreInput {
  const has = (id: FindingId): boolean => outcome.findings.some((finding) => finding.id === id)
  const mail = outcome.facts?.mail
  // If some hosts are known, the others cost what each of them may cost.
  const isPartly = mail?.hosts.some((host) => hostState(host, tls) === 'works') === true && !has('mx.not_public')
  if (!mail || (outcome.status === 'unknown' && !isPartly)) return { state: 'unknown' }
  if (mail.kind === 'none') return { state: 'none' }
  if (mail.kind === 'null' || outcome.status === 'not_applicable') return { state: 'null' }
  const isOpen = mail.hosts.some((host) => hostError(host) !== undefined)
  const open = { ...(isOpen && { isOpen }), barriers, openBarriers }
  if (mail.kind === 'implicit') return { state: 'implicit', notPublic: has('mx.not_public'), ...open }
  const { none, best, unresolvable, open: unknown } = deliveryOf(mail.hosts, tls)
  return {
    state: 'explicit',
    ...(none && { none }),
    nullBesideOthers: has('mx.null_beside_others'),
    ...(best && best.all !== false && { deadBest: { finding: best.finding, isOpen: best.all === null } }),
    unresolvable: unresolvable.length,
    ...told('unresolvableFinding', firstOf(outcome, ['mx.takeover', 'mx.unresolvable', 'mx.missing_dot'])),
    unknown,
    cname: has('mx.cname'),
    notPublic: has('mx.not_public'),
    singleAddress: has('mx.single_address'),
    ...(isOpen && { isAlone: new Set(mail.hosts.flatMap(({ addresses }) => addresses)).size < 2 }),
    ...open,
  }
}

/**
 * The score's input from the PTR check: each address that sends as the domain, even if one of them leaves the whole
 * unknown.
 */
export function fromPtr(outcome: Outcome<PtrFacts>): PtrScoreInput {
  if (outcome.status === 'not_applicable') return { state: 'not_applicable' }
  if (!outcome.facts) return { state: 'unknown' }
  const { judged, candidates, isMore, open } = outcome.facts
  if (judged === undefined) return { state: outcome.status === 'unknown' ? 'unknown' : 'none' }
  const addresses = judgedStates(judged)
  // Only addresses for which others are responsible send as the domain.
  if (addresses.length === 0) return { state: candidates ? 'unknown' : 'not_applicable' }
  if (candidates)
    return { state: 'addresses', addresses, candidates: judgedStates(candidates), ...(isMore && { isMore }) }
  return { state: 'addresses', addresses, ...(open && { certain: open.certain }) }
}

/** What the score needs of the DMARC check. */
export function fromDmarc(outcome: Outcome<DmarcFacts>): DmarcScoreInput {
  if (!outcome.facts) return { state: 'unknown' }
  const published = publishedPolicyOf(outcome.facts)
  if (published.kind !== 'policy') {
    if (published.kind === 'unknown') return { state: 'unknown' }
    if (published.kind === 'none') return { state: 'none', finding: firstOf(outcome, ABSENT) ?? 'dmarc.no_record' }
    return { state: 'unusable', finding: firstOf(outcome, UNUSABLE) ?? 'dmarc.malformed' }
  }
  return {
    state: 'record',
    effective: published.effective,
    rua: published.reporting,
    subdomainsWeaker: !published.subdomainsCovered,
    ...told('policyFinding', firstOf(outcome, WEAK_POLICY)),
    // RFC 9989 removed pct, but receivers of RFC 7489 apply a value below 100 (§6.3).
    ...(published.share < 100 && published.effective !== 'none' ? { pct: published.share } : {}),
    ...told('pctFinding', firstOf(outcome, ['dmarc.pct_partial'])),
    ...told('ruaFinding', firstOf(outcome, WITHOUT_REPORTS)),
    ...told('subdomainsFinding', firstOf(outcome, ['dmarc.subdomains_weaker', ...WEAK_POLICY])),
  }
}

const PERMERROR = [
  'spf.many_records',
  'spf.syntax',
  'spf.too_long',
  'spf.loop',
  'spf.include_without_record',
  'spf.include_broken',
  'spf.too_many_lookups',
  'spf.too_many_void_lookups',
  'spf.too_many_mx',
] as const
const NAMES_NOBODY = [
  'spf.names_nobody',
  'spf.include_takeover',
  'spf.two_in_one',
  'spf.joined_terms',
  'spf.odd_name',
  'spf.doubled_name',
] as const
const ALL = ['spf.plus_all', 'spf.everybody', 'spf.neutral_all', 'spf.softfail', 'spf.no_all'] as const
const ABSENT = ['dmarc.misplaced', 'dmarc.doubled_name', 'dmarc.no_record_parked'] as const
const UNUSABLE = ['dmarc.duplicate_tag', 'dmarc.unusable_policy', 'dmarc.several_records', 'dmarc.malformed'] as const
const WEAK_POLICY = [
  'dmarc.testing',
  'dmarc.policy_none',
  'dmarc.policy_quarantine',
  'dmarc.invalid_policy',
  'dmarc.missing_policy',
] as const
const WITHOUT_REPORTS = [
  'dmarc.no_rua',
  'dmarc.rua_unreachable',
  'dmarc.report_unauthorized',
  'dmarc.rua_unreachable',
  'dmarc.report_unknown',
  'dmarc.report_uri',
  'dmarc.report_scheme',
] as const

/** The first of these findings, in the order given, that the check has. */
const firstOf = (outcome: Outcome<unknown>, ids: readonly FindingId[]): FindingId | undefined =>
  ids.find((id) => outcome.findings.some((finding) => finding.id === id))

/** A field that is omitted if it has no value. */
const told = <K extends string>(key: K, id: FindingId | undefined): { readonly [_ in K]?: FindingId } =>
  id === undefined ? {} : ({ [key]: id } as { readonly [_ in K]: FindingId })

/** What the score needs of the DKIM check. */
export function fromDkim(outcome: Outcome<DkimFacts>): DkimScoreInput {
  const { facts } = outcome
  if (!facts) return { state: 'unknown' }
  if (facts.discovery === 'proven_absent' && outcome.status !== 'unknown')
    return { state: 'absent', finding: firstOf(outcome, ['dkim.doubled_name']) ?? 'dkim.proven_absent' }
  if (facts.discovery !== 'found') {
    const told = ['dkim.not_asked', 'dkim.parent_key', 'dkim.none_found', 'dkim.dangling']
    return { state: 'unknown', finding: firstOf(outcome, told) ?? 'dkim.not_asked' }
  }
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

/** What the score needs of all checks. */
export const scoreInputs = ({ context, outcomes }: Pick<JudgedChecks, 'context' | 'outcomes'>): ScoreInputs => ({
  role: context.role,
  ...(context.reverse && { reverse: true }),
  spf: fromSpf(outcomes.spf, context),
  dkim: fromDkim(outcomes.dkim),
  dmarc: fromDmarc(outcomes.dmarc),
  mx: fromMx(outcomes.mx, context),
  ptr: fromPtr(outcomes.ptr),
})

/** The score of a domain as all checks judge it, with the range of all roles that it may have. */
export const scoreOf = (judged: JudgedChecks): Score =>
  scoreWithin((judged.readings ?? [judged]).map((reading) => scoreInputs(reading)))
