import type { PlanAnswer } from '../answers/plan.ts'
import type { DnsRecord } from '../checks/check.ts'
import { type CheckKey, isHarmless } from '../checks/run.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import { meansSenders } from '../checks/spf/index.ts'
import type { OverlayChange, OverlayRecord } from '../net/dns/overlay.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import { governs, resolved } from './compare.ts'
import { changesOf, type Done, type Draft, mergedStep, withDraft } from './draft.ts'
import { STAGE_FINDINGS } from './ladder.ts'
import { leftOf } from './left.ts'
import { recordIn } from './others.ts'
import { gradeIn, presentSteps } from './present-steps.ts'
import { setKey } from './records.ts'
import {
  type Change,
  isWildcardAlias,
  obstacleTo,
  type Snapshot,
  type Subject,
  textsAt,
  tryChange,
} from './snapshot.ts'
import type { Found } from './trial.ts'
import { aliasFirst, keptBelow, SILENT_ORGANIZATION, stoppedAt } from './words.ts'

/** Maximum number of changes that are tried for one plan. */
const MAX_TRIALS = 40
const NOTHING: Change = { records: [] }

export type Plan = Pick<PlanAnswer, 'steps' | 'end' | 'left' | 'choice' | 'organization'>
type Pushed = { readonly before?: Snapshot; readonly leads?: boolean }

/** The steps of a plan that have been taken so far, and the domain after them. */
export class Steps {
  /** The domain after the steps. */
  now: Snapshot
  /** What the steps publish. */
  laid = NOTHING
  /** Why a finding has no step, by its id. */
  readonly objections = new Map<string, string>()
  readonly subject: Subject
  readonly domain: string
  readonly start: Snapshot
  /** What reports say about the domain's mail, if there are any. */
  readonly seen: SeenMail | undefined
  taken: readonly Done[] = []
  /** What was tried in this pass. */
  private tried = new Set<string>()
  private trials = 0
  /** The first step whose measure is out of date. */
  private stale = Number.POSITIVE_INFINITY

  constructor(subject: Subject, start: Snapshot, seen: SeenMail | undefined) {
    this.subject = subject
    this.domain = subject.domain
    this.start = start
    this.seen = seen
    this.now = start
  }

  /** Begins to go through all checks once more: what was tried may be tried again. */
  beginPass(): void {
    this.tried = new Set()
  }

  /** Whether something was not tried in this pass; then it counts as tried. */
  isFirstTry(values: readonly unknown[]): boolean {
    const text = JSON.stringify(values)
    const isFirst = !this.tried.has(text)
    this.tried.add(text)
    return isFirst
  }

  /** Takes a step without judging it. */
  async take(draft: Draft): Promise<void> {
    const laid = withDraft(this.laid, draft)
    const after = await tryChange(this.subject, this.now, laid, changesOf(draft))
    this.push({ ...draft, after }, laid)
  }

  /** The domain with a change, unless too much was tried already. */
  async trial(before: Snapshot, laid: Change, changed: readonly OverlayChange[]): Promise<Snapshot | undefined> {
    if (++this.trials > MAX_TRIALS) return undefined
    return tryChange(this.subject, before, laid, changed)
  }

  /** The findings of a check after the steps. */
  findings(key: CheckKey): Found[] {
    return (this.now.outcomes[key]?.findings ?? []).map((finding) => ({ key, finding }))
  }

  /** Names below the domain as which mail passes by reports, if its record governs them. */
  below(): readonly string[] {
    return governs(this.domain, this.start) ? (this.seen?.subdomains ?? []) : []
  }

  /** Whether nothing is sent as the name, also not by a service that signs with a key of the domain. */
  isSilent(): boolean {
    const { context, facts } = this.now
    if (context.role === 'no_mail') return true
    if (!context.silent) return false
    // A record that let everybody pass, or could not be read, may have had senders, whatever stands in its place.
    const { spf } = this.start.facts
    const isNew = !(spf instanceof Error) && spf.records.length + spf.similar.length === 0
    const isDeclared =
      !(facts.spf instanceof Error) && facts.spf.reading?.declaredNonSender === true && !this.hasNamedSenders()
    return this.start.context.sends === false || (this.start.context.sends !== true && (isNew || isDeclared))
  }

  /** Whether the SPF record of today was meant for senders, also one that no receiver can evaluate. */
  private hasNamedSenders(): boolean {
    const { spf } = this.start.facts
    return !(spf instanceof Error) && meansSenders(spf)
  }

  /** What to know about names below a domain without mail before it rejects everything. */
  beforeSilence(): readonly string[] {
    if (!governs(this.domain, this.now)) return []
    const below = this.below()
    return below.length > 0 ? [keptBelow(below)] : [SILENT_ORGANIZATION]
  }

  /**
   * The changes that publish a record: beside an alias that leads nowhere its removal (RFC 1034 §3.6.2). A text says why
   * the record cannot stand at its name.
   */
  async placeOf(fix: DnsRecord, change: OverlayRecord): Promise<readonly OverlayChange[] | string> {
    if (this.isFreed(fix.name)) return recordIn(fix, this.domain)
    const objection = await obstacleTo(this.subject, fix)
    if (objection !== undefined) return objection
    if (change.type === 'CNAME') return [...(await textsAt(this.subject, fix.name)), change]
    const whole = [fix.value, ...(fix.beside ?? [])].flatMap((value) => recordIn({ ...fix, value }, this.domain))
    const { ctx } = this.subject
    const answer = await settled(ctx.resolve(fix.name, change.type, ctx.signal))
    if (answer instanceof DnsError) return whole
    const [target] = answer.cname
    if (target === undefined) return whole
    // A record at the name takes the place of what a wildcard gives it (RFC 4592 §2.2.1).
    const isOfWildcard = await isWildcardAlias(this.subject, fix.name, target)
    if (isOfWildcard) return whole
    if (answer.kind === 'found')
      return `${fix.name} is an alias (CNAME) of ${target}: the record can be changed only there.`
    if (isOfWildcard === undefined) return aliasFirst(fix.name, target)
    return [{ name: fix.name, type: 'CNAME', remove: true, data: target }, ...whole]
  }

  /** Whether a step removes the alias at a name. */
  private readonly isFreed = (name: string): boolean =>
    this.laid.records.some((one) => one.type === 'CNAME' && one.name === name && 'remove' in one)

  /**
   * Adds a step; one that changes the same records as an earlier one is merged into it, unless it has to wait. `leads`:
   * the step is then called what this one is.
   */
  push(draft: Done, laid: Change, { before = this.now, leads = false }: Pushed = {}): void {
    const step = { ...draft, findings: resolved(before, draft, this.start) }
    const same = this.mergesInto(step)
    this.laid = laid
    this.now = step.after
    const { title, why } = step
    if (same < 0) {
      const [first] = this.taken.some((one) => one.title === title) ? step.changes : []
      this.taken = [...this.taken, { ...step, ...(first && { title: `${title} of ${first.name}` }) }]
      return
    }
    const merged = {
      ...mergedStep(this.taken[same], step),
      ...(leads && { title, ...(why !== undefined && { why }) }),
      after: this.taken[same]!.after,
    }
    this.taken = this.taken.with(same, merged)
    this.stale = Math.min(this.stale, same)
  }

  /** The index of the step into which one is merged; -1: none. What comes after a wait is not published before it. */
  private mergesInto(step: Draft): number {
    const sets = new Set(step.changes.map(setKey))
    const last = this.taken.findLastIndex((one) => one.changes.some((change) => sets.has(setKey(change))))
    return step.wait || this.taken[last]?.wait ? -1 : last
  }

  /** The last step that changes a record at a name. */
  lastAt(name: string): Done | undefined {
    return this.taken.findLast(({ changes }) => changes.some((one) => one.name === name))
  }

  /** Measures the steps again from the first that was changed later. */
  private async measured(): Promise<readonly Done[]> {
    if (this.stale === Number.POSITIVE_INFINITY) return this.taken
    let laid = NOTHING
    let now = this.start
    const steps: Done[] = []
    for (const [i, step] of this.taken.entries()) {
      laid = withDraft(laid, step)
      now = i < this.stale ? step.after : await tryChange(this.subject, now, laid, changesOf(step))
      steps.push({ ...step, after: now })
    }
    return steps
  }

  /**
   * Whether a step does no harm in the place of the earlier one into which it is merged: what somebody else is assumed
   * to have done in between is not done there.
   */
  async isHarmlessWhenMerged(key: CheckKey, draft: Done): Promise<boolean> {
    const index = this.mergesInto(draft)
    if (index < 0 || !this.taken.slice(index).some(({ assumed }) => assumed)) return true
    const earlier = this.taken.slice(0, index).reduce(withDraft, NOTHING)
    const before = await tryChange(this.subject, this.start, earlier)
    const merged = mergedStep(this.taken[index], draft)
    const after = await tryChange(this.subject, before, withDraft(earlier, merged), changesOf(merged))
    return isHarmless(key, before.facts, after.facts, before.context)
  }

  /** The plan: what is needed, then what is optional, then why other findings have no step. */
  async presented(): Promise<Plan> {
    const steps = await this.measured()
    const needed = steps.filter(({ optional }) => !optional)
    const end = needed.at(-1)?.after ?? this.start
    const sorted = [...needed, ...steps.filter((one) => one.optional)]
    const shown = await presentSteps({ subject: this.subject, start: this.start }, sorted, this.takesMail)
    return {
      steps: shown,
      end: gradeIn(end),
      left: leftOf({ end, steps, domain: this.domain }, this.objectionTo),
    }
  }

  /** Why a finding has no step; undefined: nothing was tried for it. */
  private readonly objectionTo = ({ finding: { id, fix } }: Found): string | undefined => {
    const isCut = this.trials > MAX_TRIALS && (fix !== undefined || Object.values(STAGE_FINDINGS).flat().includes(id))
    return this.objections.get(id) ?? (isCut ? stoppedAt(MAX_TRIALS) : undefined)
  }

  /** Whether an MX host of today has an address: no mail comes in by way of one that has none. */
  private readonly takesMail = (host: string): boolean =>
    this.start.context.mail?.hosts.some(({ exchange, addresses }) => exchange === host && addresses.length > 0) ?? true
}
