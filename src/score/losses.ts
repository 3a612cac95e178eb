import { COMPONENTS, WEIGHTS } from '../answers/weights.ts'
import type { Barrier, OpenBarrier, Role } from '../checks/context.ts'
import type {
  DkimScoreInput,
  DmarcScoreInput,
  FindingId,
  Loss,
  MxScoreInput,
  PtrScoreAddress,
  PtrScoreInput,
  SpfScoreInput,
} from './score-types.ts'

/** Units per point: twice the least common multiple of the numbers 1 to 10. */
export const UNIT = 5_040

/** Whether DMARC acts on failures, so that a soft `~all` does no harm; null: not known. */
const enforces = (dmarc: DmarcScoreInput): boolean | null =>
  dmarc.state === 'unknown' ? null : dmarc.state === 'record' && dmarc.effective !== 'none'

/**
 * The deductions for SPF. A soft `all` costs less if DMARC acts on failures; if that is not known, the better case
 * counts and both are in the range.
 */
export function spfLosses(spf: SpfScoreInput, dmarc: DmarcScoreInput, role: Role): Loss[] {
  const { left, off } = WEIGHTS.spf
  if (spf.state === 'unknown') return [half('spf')]
  if (spf.state === 'none' && (role === 'no_mail' || role === 'parked'))
    return [lost(COMPONENTS.spf - left.none_at_web_name, spf.finding)]
  if (spf.state === 'permerror' && spf.isOpen)
    return [
      lost(COMPONENTS.spf - left.permerror, spf.finding),
      perhaps(left.permerror - left.everybody, 'spf.part_unknown'),
    ]
  if (spf.state !== 'record') return [lost(COMPONENTS.spf - left[spf.state], spf.finding)]
  const finding = spf.allFinding ?? null
  if (spf.all === '+') return [lost(COMPONENTS.spf - left.everybody, finding)]
  const losses: Loss[] = []
  if (spf.all === '?' || spf.all === 'none') losses.push(...allLosses('neutral_all', finding, enforces(dmarc)))
  if (spf.all === '~') losses.push(...allLosses('soft_all', finding, enforces(dmarc)))
  const wide = spf.veryWide === undefined ? 'wide' : 'very_wide'
  const widest = spf.veryWide ?? spf.wide
  if (widest !== undefined) losses.push(lost(off[wide], widest))
  for (const fault of ['ptr', 'equals_sign', 'dead_term', 'long', 'untidy'] as const)
    if (spf[fault] !== undefined) losses.push(lost(off[fault], spf[fault]))
  if (spf.provider) losses.push(providerLoss(spf.provider))
  if (spf.mayBeTaken && spf.dead_term === undefined) losses.push(perhaps(off.dead_term, 'spf.include_takeover'))
  return losses
}

/** The deduction for a mailbox provider that does not pass. */
function providerLoss({ finding, grade, least, most }: MissingByGrade): Loss {
  const points = { none: 0, ...WEIGHTS.spf.off_provider_missing }
  const isKnown = least === most
  return {
    finding,
    kind: isKnown ? 'deduction' : 'unknown',
    ...{ units: points[grade] * UNIT, leastUnits: points[least] * UNIT, mostUnits: points[most] * UNIT },
  }
}
type MissingByGrade = NonNullable<Extract<SpfScoreInput, { state: 'record' }>['provider']>

function allLosses(all: 'neutral_all' | 'soft_all', finding: FindingId | null, isEnforced: boolean | null): Loss[] {
  const enforced = WEIGHTS.spf.off_where_dmarc_enforces[all]
  const otherwise = WEIGHTS.spf.off[all]
  if (isEnforced !== null) return [lost(isEnforced ? enforced : otherwise, finding)]
  return [lost(enforced, finding), perhaps(otherwise - enforced, finding)]
}

export function dkimLosses(dkim: DkimScoreInput): Loss[] {
  const { left, off } = WEIGHTS.dkim
  if (dkim.state === 'unknown') return [half('dkim', dkim.finding)]
  if (dkim.state !== 'found') return [lost(COMPONENTS.dkim - left[dkim.state], dkim.finding)]
  const losses: Loss[] = []
  // A selector without an answer may have a better key.
  const some = dkim.isOpen ? perhaps : lost
  const rsaBits = dkim.keys.filter((key) => key.type === 'rsa').map((key) => key.bits)
  if (rsaBits.length === 0) losses.push(some(off.ed25519_only, dkim.ed25519OnlyFinding))
  else if (Math.max(...rsaBits) < 2048) losses.push(some(off.short_rsa, dkim.shortRsaFinding))
  if (dkim.keys.every((key) => key.testing)) losses.push(some(off.testing, dkim.testingFinding))
  return losses
}

/** The deductions for DMARC, by the policy in force. */
export function dmarcLosses(dmarc: DmarcScoreInput): Loss[] {
  const { left, policy, off, rua, subdomains } = WEIGHTS.dmarc
  if (dmarc.state === 'unknown') return [half('dmarc')]
  if (dmarc.state !== 'record') return [lost(COMPONENTS.dmarc - left[dmarc.state], dmarc.finding)]
  const losses: Loss[] = [lost(policy.reject - policy[dmarc.effective], dmarc.policyFinding)]
  if (dmarc.pct !== undefined) losses.push(lost(dmarc.pct === 0 ? off.pct_0 : off.pct_partial, dmarc.pctFinding))
  if (dmarc.rua === false) losses.push(lost(rua, dmarc.ruaFinding))
  if (dmarc.rua === null) losses.push(perhaps(rua, dmarc.ruaFinding))
  if (dmarc.subdomainsWeaker) losses.push(lost(subdomains, dmarc.subdomainsFinding))
  return losses
}

/** The deductions for the mail hosts. */
export function mxLosses(mx: MxScoreInput): Loss[] {
  const { left, off } = WEIGHTS.mx
  const notPublic = lost(off.not_public, 'mx.not_public')
  if (mx.state === 'unknown') return [half('mx')]
  if (mx.state === 'null') return []
  if (mx.state === 'none') return [lost(COMPONENTS.mx - left.none, 'mx.none')]
  if (mx.state === 'implicit')
    return [
      lost(COMPONENTS.mx - left.implicit, 'mx.implicit'),
      ...(mx.notPublic ? [notPublic] : []),
      ...(mx.isOpen && !mx.notPublic ? [perhaps(off.not_public, 'mx.family_unknown')] : []),
      ...barrierLosses(mx),
    ]
  if (mx.none !== undefined) return [lost(COMPONENTS.mx - left.none_resolvable, mx.none)]
  const losses: Loss[] = []
  const unresolvable = Math.min(off.unresolvable_at_most, mx.unresolvable * off.each_unresolvable)
  const open = Math.min(off.unresolvable_at_most - unresolvable, mx.unknown * off.each_unresolvable)
  if (mx.nullBesideOthers) losses.push(lost(off.null_beside_others, 'mx.null_beside_others'))
  if (mx.deadBest) losses.push((mx.deadBest.isOpen ? perhaps : lost)(off.best_take_none, mx.deadBest.finding))
  if (unresolvable > 0) losses.push(lost(unresolvable, mx.unresolvableFinding))
  if (open > 0) losses.push(perhaps(open, 'mx.host_unknown'))
  if (mx.cname) losses.push(lost(off.cname, 'mx.cname'))
  if (mx.notPublic) losses.push(notPublic)
  if (mx.singleAddress) losses.push(lost(off.single_address, 'mx.single_address'))
  if (mx.isOpen) losses.push(perhaps(openHostLoss(mx), 'mx.family_unknown'))
  return [...losses, ...barrierLosses(mx)]
}

/**
 * What addresses without an answer may cost: an address that is not public, an alias, or that there is no other
 * address.
 */
function openHostLoss({ notPublic, cname, unknown, isAlone }: Extract<MxScoreInput, { state: 'explicit' }>): number {
  const { off } = WEIGHTS.mx
  return (
    (notPublic ? 0 : off.not_public) + (cname || unknown === 0 ? 0 : off.cname) + (isAlone ? off.single_address : 0)
  )
}

/** The deduction if some senders cannot deliver; if that could not be determined, the deduction in the worst case. */
const barrierLosses = ({
  barriers,
  openBarriers = [],
}: {
  readonly barriers: readonly Barrier[]
  readonly openBarriers?: readonly OpenBarrier[]
}): Loss[] => [
  ...barriers.map(barrierLoss),
  ...(openBarriers.includes('refusal') ? [perhaps(WEIGHTS.mx.off.refused_at_all, 'mta_sts.policy_unknown')] : []),
  ...(openBarriers.includes('ipv6_only') ? [perhaps(WEIGHTS.mx.off.ipv6_only, 'mx.family_unknown')] : []),
]

/** The deduction if some senders cannot deliver. */
function barrierLoss({ kind, finding, all }: Barrier): Loss {
  const { off } = WEIGHTS.mx
  return lost(kind === 'ipv6_only' ? off.ipv6_only : all ? off.refused_at_all : off.refused_at_some, finding)
}

/**
 * The deductions for PTR names: each address its share. If a mail host may have more addresses, the known ones count,
 * and the range covers whatever the others may be.
 */
export function ptrLosses(ptr: PtrScoreInput): Loss[] {
  if (ptr.state === 'unknown') return [half('ptr')]
  if (ptr.state === 'not_applicable') return []
  if (ptr.state === 'none') return [lost(COMPONENTS.ptr, 'ptr.no_address')]
  const addresses = ptr.addresses.slice(0, WEIGHTS.ptr.addresses)
  const { certain, candidates } = ptr
  if (candidates !== undefined) return anyOf(addresses, candidates, ptr.isMore === true)
  const share = (loss: Loss, at: number): Loss => {
    const own = shareOf(loss, addresses.length)
    return certain === undefined ? own : { ...leastShareOf(loss, at < certain), units: own.units }
  }
  const losses = addresses.flatMap((one, at) => addressLosses(one).map((loss) => share(loss, at)))
  return together(certain === undefined ? losses : [...losses, perhaps(unknownShare(certain), null)])
}

/**
 * The deductions where it is not known which addresses send: those that are judged, none in the best case, and the
 * worst candidate alone in the worst.
 */
function anyOf(addresses: readonly PtrScoreAddress[], candidates: readonly PtrScoreAddress[], isMore: boolean): Loss[] {
  const open = (loss: Loss): Loss => ({ ...shareOf(loss, addresses.length), leastUnits: 0, mostUnits: 0 })
  const own = addresses.flatMap((one) => addressLosses(one).map(open))
  const most = candidates.map((one) => addressLosses(one).reduce((sum, { mostUnits }) => sum + mostUnits, 0))
  const worst = isMore ? COMPONENTS.ptr : Math.max(0, ...most) / UNIT
  return together([...own, perhaps(worst, 'spf.part_unknown')])
}

/**
 * The deduction for unknown addresses in the worst case: they fill all places except the first `certain`, and none has
 * a PTR record.
 */
const unknownShare = (certain: number): number =>
  (COMPONENTS.ptr * (WEIGHTS.ptr.addresses - certain)) / WEIGHTS.ptr.addresses

/** The deduction for an address if as many others as possible are judged; nothing if these may take its place. */
const leastShareOf = (loss: Loss, isCertain: boolean): Loss =>
  isCertain ? shareOf(loss, WEIGHTS.ptr.addresses) : { ...loss, units: 0, leastUnits: 0, mostUnits: 0 }

function addressLosses(one: PtrScoreAddress): Loss[] {
  const { address, off } = WEIGHTS.ptr
  if (one.hasPtr === null) return [half('ptr', 'ptr.not_asked')]
  if (!one.hasPtr) return [lost(COMPONENTS.ptr - address.none, 'ptr.missing')]
  const losses: Loss[] = []
  const unconfirmed = address.confirmed - address.unconfirmed
  if (one.confirmed === false) losses.push(lost(unconfirmed, 'ptr.not_confirmed'))
  if (one.confirmed === null) losses.push(perhaps(unconfirmed, 'ptr.confirmation_unknown'))
  if (one.generic) losses.push(lost(off.generic, 'ptr.generic'))
  if (one.names > 1) losses.push(lost(off.several_names, one.names > 10 ? 'ptr.many_names' : 'ptr.several_names'))
  return losses
}

function lost(points: number, finding: FindingId | null | undefined): Loss {
  const units = points * UNIT
  return { finding: finding ?? null, kind: 'deduction', units, leastUnits: units, mostUnits: units }
}

/** A deduction that could not be decided: not taken, but both cases are in the range. */
const perhaps = (points: number, finding: FindingId | null | undefined): Loss => ({
  finding: finding ?? null,
  kind: 'unknown',
  units: 0,
  leastUnits: 0,
  mostUnits: points * UNIT,
})

/** A component that could not be determined: half of it. */
function half(component: keyof typeof COMPONENTS, finding?: FindingId): Loss {
  const units = COMPONENTS[component] * UNIT
  return { finding: finding ?? null, kind: 'unknown', units: units / 2, leastUnits: 0, mostUnits: units }
}

const shareOf = (loss: Loss, count: number): Loss => ({
  ...loss,
  units: loss.units / count,
  leastUnits: loss.leastUnits / count,
  mostUnits: loss.mostUnits / count,
})

/** One loss per finding, so that ten addresses with the same fault are one row. */
function together(losses: readonly Loss[]): Loss[] {
  const sums = new Map<string, Loss>()
  for (const loss of losses) {
    const key = `${loss.kind} ${loss.finding}`
    const sum = sums.get(key)
    const plus = (reading: 'units' | 'leastUnits' | 'mostUnits'): number => (sum?.[reading] ?? 0) + loss[reading]
    sums.set(key, { ...loss, units: plus('units'), leastUnits: plus('leastUnits'), mostUnits: plus('mostUnits') })
  }
  return [...sums.values()]
}
