import type { DnsRecord } from '../checks/check.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import type { CheckKey } from '../checks/run.ts'
import { isWithin } from '../names/domain.ts'
import type { OverlayChange, OverlayRecord } from '../net/dns/overlay.ts'
import { isSteep, ownPolicyOf, waitsForSpf } from './compare.ts'
import { type Done, type Draft, mergedStep, withChanges } from './draft.ts'
import { recordIn } from './others.ts'
import type { Change, Snapshot } from './snapshot.ts'
import type { Steps } from './steps.ts'
import { type Found, objectionTo, RANK, rankOf } from './trial.ts'
import { AFTER_OTHERS, nothingSends, OWN_MAIL_HOST, reportsElsewhere, SPF_WAIT, STEEP, titleOf } from './words.ts'

/** Maximum number of faults of one record that are mended together. */
const MAX_FAULTS = 3

/** A finding of a check with the record that it proposes. */
type Proposed = Found & { readonly fix: DnsRecord; readonly change: OverlayRecord }
/** A record laid over the domain. */
type Mended = {
  readonly fix: DnsRecord
  readonly place: readonly OverlayChange[]
  readonly tried: Change
  readonly after: Snapshot
  /** Why it is not offered. */
  readonly why: string | undefined
}

/** Which findings of a check propose a record now. */
export type Turn = {
  /** The lowest severity. */
  readonly least?: 'low' | 'medium'
  readonly turn?: 'first' | 'late' | 'optional'
}

/**
 * Takes the records that the findings of a check propose, as one step. `optional`: those that gain nothing. `late`: an SPF
 * record that passes fewer while a DMARC policy is enforced, which waits, and comes after DKIM.
 */
export async function takeFixes(
  steps: Steps,
  key: CheckKey,
  { least = 'low', turn = 'first' }: Turn = {},
): Promise<void> {
  // An own record without what is to be moved is only measured: none is proposed on top of it.
  if (key === 'spf' && steps.taken.some(({ facts }) => facts?.records.some(({ name }) => name === steps.domain))) {
    for (const { finding } of proposals(steps, key, steps.now)) steps.objections.set(finding.id, AFTER_OTHERS)
    return
  }
  let step: Done | undefined
  let laid = steps.laid
  const first = steps.now
  for (let found = nextFix(steps, key, least, turn); found; found = nextFix(steps, key, least, turn)) {
    const { finding } = found
    const before = step?.after ?? steps.now
    const mended = await mend(steps, found, before, laid)
    if (!mended) break
    if (typeof mended === 'string') {
      steps.objections.set(finding.id, mended)
      continue
    }
    const { fix, place, tried, after, why } = mended
    if (why === undefined && key === 'spf' && turn === 'first' && waitsForSpf(before, after)) continue
    const gain = after.score.score - before.score.score
    // What gains nothing is offered after the way.
    if (why !== undefined) steps.objections.set(finding.id, why)
    else if (turn === 'optional' || gain > 0 || step || rankOf(found) > RANK.low || key === 'dmarc') {
      laid = tried
      step = { ...mergedStep(step, draftOf(steps, found, fix, place)), after }
      steps.now = after // the next finding is that of the record just laid
    }
  }
  if (!step) return
  const waits = key === 'spf' && turn === 'late' && waitsForSpf(first, step.after)
  const draft = {
    ...step,
    ...(turn === 'optional' && { optional: true as const }),
    ...(waits && { wait: SPF_WAIT }),
    ...(waits && steps.taken.some(({ title }) => title === step.title) && { title: 'Narrow the SPF record' }),
  }
  if (await steps.isHarmlessWhenMerged(key, draft)) return steps.push(draft, laid, { before: first })
  for (const id of step.findings) steps.objections.set(id, AFTER_OTHERS)
  steps.now = first
}

/**
 * A record that a finding proposes, laid over the domain, and why it is not taken. One that leaves another fault of the
 * same record is mended further: all faults of one record go together. A text says why it cannot stand at its name;
 * undefined: too much was tried.
 */
async function mend(
  steps: Steps,
  found: Proposed,
  before: Snapshot,
  laid: Change,
): Promise<Mended | string | undefined> {
  let next: Pick<Proposed, 'fix' | 'change'> | undefined = found
  let first: Mended | undefined
  for (let i = 0; next && i < MAX_FAULTS; i++) {
    const { fix, change }: Pick<Proposed, 'fix' | 'change'> = next
    const place = await steps.placeOf(fix, change)
    if (typeof place === 'string') return first ?? place
    const tried = withChanges(laid, place)
    const after = await steps.trial(before, tried, place)
    if (!after) return first
    const isTooSteep = found.key === 'dmarc' && isSteep(before, after) && !steps.isSilent()
    const why = isTooSteep ? STEEP : objectionTo(found, fix, before, after, steps.seen)
    const mended = { fix, place, tried, after, why }
    if (why === undefined) return mended
    first ??= mended
    next = proposals(steps, found.key, after).find(
      (one) => one.fix.name === fix.name && one.fix.rtype === fix.rtype && one.fix.value !== fix.value,
    )
  }
  return first
}

/** The findings of a check with a record to publish, the most severe first. */
function proposals(steps: Steps, key: CheckKey, { outcomes }: Pick<Snapshot, 'outcomes'>): readonly Proposed[] {
  return (outcomes[key]?.findings ?? [])
    .map((finding) => ({ key, finding }))
    .toSorted((a, b) => rankOf(b) - rankOf(a))
    .flatMap((found): Proposed[] => {
      const fix = found.finding.fix && keeping(steps, found.finding.fix)
      const [change] = fix && isWithin(fix.name, steps.domain) ? recordIn(fix, steps.domain) : []
      return fix && change ? [{ ...found, fix, change }] : []
    })
}

/** The first record of a domain without mail asks nothing of mail that passes as names below it. */
function keeping(steps: Steps, fix: DnsRecord): DnsRecord {
  const isFirst = fix.name === `_dmarc.${steps.domain}` && ownPolicyOf(steps.now) === undefined
  if (!isFirst || steps.below().length === 0) return fix
  return { ...fix, value: fix.value.replace(/^(v=DMARC1; p=reject)(?!; sp=)/, '$1; sp=none') }
}

/** The most severe finding of a check with a record that was not tried yet. */
function nextFix(steps: Steps, key: CheckKey, least: 'low' | 'medium', turn: string): Proposed | undefined {
  // What a web name needs not, no step declares.
  if (key === 'mx' && steps.start.context.role === 'no_mail') return undefined
  for (const one of proposals(steps, key, steps.now)) {
    if (key === 'spf' && steps.start.context.role === 'no_mail' && turn !== 'optional') continue
    // Aliases of selectors are one step, of which the provider has a part.
    if (key === 'dkim' && one.fix.rtype === 'CNAME') continue
    if (rankOf(one) >= RANK[least] && steps.isFirstTry([one.finding.id, one.fix, turn])) return one
  }
  return undefined
}

function draftOf(steps: Steps, { key, finding }: Found, fix: DnsRecord, changes: readonly OverlayChange[]): Draft {
  return {
    title: titleOf(key, finding.id, fix, { isNew: finding.evidence === undefined, today: ownPolicyOf(steps.now) }),
    by: 'dns',
    findings: [finding.id],
    changes,
    why: presentFinding(registry[key].table, finding).title,
    before: beforeFix(steps, finding.id, fix),
  }
}

/** What to know before the record of a finding is published. */
function beforeFix(steps: Steps, id: string, { name, value }: DnsRecord): readonly string[] {
  const isWeb = steps.start.context.role === 'no_mail'
  if (id.startsWith('spf.no_record') && value === 'v=spf1 -all') return [nothingSends(steps.domain)]
  if (id === 'mx.implicit') return [OWN_MAIL_HOST]
  if (name !== `_dmarc.${steps.domain}`) return []
  if (isWeb && steps.isSilent()) return [nothingSends(steps.domain)]
  if (steps.isSilent()) return steps.beforeSilence()
  return value.includes('rua=') || steps.now.context.takes !== false ? [] : [reportsElsewhere(steps.domain)]
}
