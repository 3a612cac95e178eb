import type { PlanAnswer } from '../answers/plan.ts'
import type { DnsRecord } from '../checks/check.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import { CHECK_KEYS, type CheckKey } from '../checks/run.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import { isWithin } from '../names/domain.ts'
import { publicSuffix } from '../names/suffix.ts'
import type { OverlayChange, OverlayRecord } from '../net/dns/overlay.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import { agreedHosts } from './agreed.ts'
import { organizationOf, registration, validation, waysOf } from './choice.ts'
import { governs, isInherited, isSteep, ownLevel, ownPolicyOf, resolved, waitsForSpf } from './compare.ts'
import { changesOf, type Done, type Draft, mergedStep, withChanges, withDraft } from './draft.ts'
import { nextStage, ownRecord, STAGE_FINDINGS, type Stage } from './ladder.ts'
import { leftOf } from './left.ts'
import {
  brokenKeys,
  consents,
  deadHosts,
  hasReports,
  hasUsableKey,
  keylessSelectors,
  mailboxKey,
  missingPolicy,
  type OthersWork,
  pointers,
  policyFile,
  policyForTesting,
  providerKey,
  recordIn,
  spfBelow,
  tlsaWithoutTls,
  type Work,
  writtenAliases,
} from './others.ts'
import { gradeIn, presentSteps } from './present-steps.ts'
import { setKey } from './records.ts'
import { seenObjection, seenStepUp } from './seen-fixes.ts'
import { type Change, hidesAddresses, obstacleTo, type Snapshot, type Subject, textsAt, tryChange } from './snapshot.ts'
import { type Found, objectionTo, RANK, rankOf } from './trial.ts'
import {
  ABOUT_REJECT,
  coveredAbove,
  GOVERNS_OTHERS,
  KEY_WITHOUT_SENDER,
  keptBelow,
  NO_MAIL_CHOICE,
  nothingSends,
  reportsElsewhere,
  SILENT_ORGANIZATION,
  SPF_FIRST,
  SPF_UNKNOWN,
  SPF_WAIT,
  STEEP,
  stageTitle,
  stageWhy,
  stoppedAt,
  titleOf,
  waitWords,
} from './words.ts'

const MAX_TRIALS = 40
/** Maximum number of times that all checks are gone through: a step may make another one possible. */
const MAX_PASSES = 3
/** Maximum number of faults of one record that are mended together. */
const MAX_FAULTS = 3
/** Maximum number of stages of DMARC. */
const MAX_STAGES = 6
/** Days with reports, of 28, that stand for the month of a stage: reports come a day or two late. */
const REPORTED_DAYS = 26

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

export type Plan = Pick<PlanAnswer, 'steps' | 'end' | 'left' | 'choice' | 'organization'>
type Pushed = { readonly before?: Snapshot; readonly leads?: boolean }
type PlanOptions = { readonly seen?: SeenMail | undefined }

/**
 * The steps from `start` to the best that records can reach, in order, each tried together with all before it; `seeds`
 * are laid first. What stops mail comes first, then SPF and DKIM, then the stages of DMARC, then what is optional. A
 * step is taken if it resolves its finding and does no harm (docs/score.md, "A fix does no harm"). Nothing is published
 * above the name that was asked. At most 40 changes are tried. Never rejects because of a remote server.
 */
export async function planOf(
  subject: Subject,
  start: Snapshot,
  options: PlanOptions = {},
  seeds: readonly Draft[] = [],
): Promise<Plan> {
  const make = async (first: readonly Draft[], isWhole: boolean): Promise<Plan> => {
    const planner = new Planner(subject, start, options)
    for (const seed of first) await planner.take(seed)
    if (isWhole) await planner.run()
    return planner.presented()
  }
  if (start.context.reverse && seeds.length === 0) return make([], false)
  const exists = start.context.role !== 'no_such_domain'
  const urgent = exists ? validation(start) : start.context.above === undefined ? registration() : undefined
  const ways = seeds.length === 0 ? waysOf(subject.domain, start, options.seen?.subdomains) : undefined
  const first = [...(urgent ? [urgent] : []), ...seeds, ...(ways?.mail ?? [])]
  const whole = await make(first, exists || seeds.length > 0)
  if (!ways) return { ...whole, ...organizationOf(subject.domain, start) }
  const none = await make(ways.none, false)
  const option = (title: string, { steps, end }: Plan) => ({ title, steps, end })
  return {
    ...whole,
    steps: none.steps,
    end: none.end,
    left: none.left,
    choice: {
      question: NO_MAIL_CHOICE.question,
      options: [option(NO_MAIL_CHOICE.no, none), option(NO_MAIL_CHOICE.yes, whole)],
    },
  }
}

class Planner {
  private now: Snapshot
  private laid: Change = { records: [] }
  private steps: Done[] = []
  private trials = 0
  /** Why a finding has no step, by its id. */
  private readonly objections = new Map<string, string>()
  /** Records that were tried in this pass. */
  private tried = new Set<string>()
  /** The first step whose measure is out of date. */
  private stale = Number.POSITIVE_INFINITY

  private readonly subject: Subject
  private readonly domain: string
  private readonly start: Snapshot
  private readonly options: PlanOptions

  constructor(subject: Subject, start: Snapshot, options: PlanOptions) {
    this.subject = subject
    this.domain = subject.domain
    this.start = start
    this.options = options
    this.now = start
  }

  async run(): Promise<void> {
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const before = this.laid
      this.tried = new Set()
      await this.fixes('mx')
      await this.others(deadHosts)
      await this.others(policyFile)
      await this.others(policyForTesting)
      await this.fixes('dane', 'medium')
      await this.others(tlsaWithoutTls)
      await this.fixes('spf')
      await this.others(spfBelow)
      await this.fixes('dkim')
      await this.others(writtenAliases)
      await this.others(keylessSelectors)
      await this.others(providerKey)
      await this.others(brokenKeys)
      await this.fixes('spf', 'low', 'late')
      await this.others(pointers)
      await this.fixes('dmarc')
      await this.others(consents)
      await this.fixes('mta_sts', 'medium')
      if (this.laid === before) break
    }
    const isMore = await this.stages(false)
    for (const key of CHECK_KEYS) await this.fixes(key, 'low', 'optional')
    await this.others(deadHosts, true)
    await this.others(missingPolicy, true)
    await this.others(mailboxKey, true)
    if (isMore || isInherited(this.now)) await this.stages(true)
  }

  /** Takes a step without judging it. */
  async take(draft: Draft): Promise<void> {
    const laid = withDraft(this.laid, draft)
    const after = await tryChange(this.subject, this.now, laid, changesOf(draft))
    this.push({ ...draft, after }, laid)
  }

  /**
   * The records that the findings of a check propose, as one step. `optional`: those that gain nothing. `late`: an SPF
   * record that passes fewer while a DMARC policy is enforced, which waits, and comes after DKIM.
   */
  private async fixes(
    key: CheckKey,
    least: 'low' | 'medium' = 'low',
    turn: 'first' | 'late' | 'optional' = 'first',
  ): Promise<void> {
    let step: Done | undefined
    let laid = this.laid
    const first = this.now
    for (let found = this.nextFix(key, least, turn); found; found = this.nextFix(key, least, turn)) {
      const { finding } = found
      const before = step?.after ?? this.now
      const mended = await this.mended(found, before, laid)
      if (!mended) break
      if (typeof mended === 'string') {
        this.objections.set(finding.id, mended)
        continue
      }
      const { fix, place, tried, after, why } = mended
      if (why === undefined && key === 'spf' && turn === 'first' && waitsForSpf(before, after)) continue
      const gain = after.score.score - before.score.score
      // What gains nothing is offered after the way.
      if (why !== undefined) this.objections.set(finding.id, why)
      else if (turn === 'optional' || gain > 0 || step || rankOf(found) > RANK.low || key === 'dmarc') {
        laid = tried
        step = { ...mergedStep(step, this.draftOf(found, fix, place)), after }
        this.now = after // the next finding is that of the record just laid
      }
    }
    if (!step) return
    const waits = key === 'spf' && turn === 'late' && waitsForSpf(first, step.after)
    this.push({ ...step, ...(turn === 'optional' && { optional: true }), ...(waits && { wait: SPF_WAIT }) }, laid, {
      before: first,
    })
  }

  /**
   * A record that a finding proposes, laid over the domain, and why it is not taken. One that leaves another fault of the
   * same record is mended further: all faults of one record go together. A text says why it cannot stand at its name;
   * undefined: too much was tried.
   */
  private async mended(found: Proposed, before: Snapshot, laid: Change): Promise<Mended | string | undefined> {
    let next: Pick<Proposed, 'fix' | 'change'> | undefined = found
    let first: Mended | undefined
    for (let i = 0; next && i < MAX_FAULTS; i++) {
      const { fix, change }: Pick<Proposed, 'fix' | 'change'> = next
      const place = await this.placeOf(fix, change)
      if (typeof place === 'string') return first ?? place
      const tried = withChanges(laid, place)
      const after = await this.trial(before, tried, place)
      if (!after) return first
      const isTooSteep = found.key === 'dmarc' && isSteep(before, after) && !this.isSilent()
      const why = isTooSteep ? STEEP : objectionTo(found, fix, before, after, this.options.seen)
      const mended = { fix, place, tried, after, why }
      if (why === undefined) return mended
      first ??= mended
      next = this.proposals(found.key, after).find(
        (one) => one.fix.name === fix.name && one.fix.rtype === fix.rtype && one.fix.value !== fix.value,
      )
    }
    return first
  }

  /** The findings of a check with a record to publish, the most severe first. */
  private proposals(key: CheckKey, { outcomes }: Pick<Snapshot, 'outcomes'>): readonly Proposed[] {
    return (outcomes[key]?.findings ?? [])
      .map((finding) => ({ key, finding }))
      .toSorted((a, b) => rankOf(b) - rankOf(a))
      .flatMap((found): Proposed[] => {
        const fix = found.finding.fix && this.keeping(found.finding.fix)
        const [change] = fix && this.isOwn(fix.name) ? recordIn(fix, this.domain) : []
        return fix && change ? [{ ...found, fix, change }] : []
      })
  }

  /** Names below the domain as which mail passes by reports, if its record governs them. */
  private readonly below = (): readonly string[] =>
    governs(this.domain, this.start) ? (this.options.seen?.subdomains ?? []) : []

  /** The first record of a domain without mail asks nothing of mail that passes as names below it. */
  private keeping(fix: DnsRecord): DnsRecord {
    const isFirst = fix.name === `_dmarc.${this.domain}` && ownPolicyOf(this.now) === undefined
    if (!isFirst || this.below().length === 0) return fix
    return { ...fix, value: fix.value.replace(/^(v=DMARC1; p=reject)(?!; sp=)/, '$1; sp=none') }
  }

  /** The most severe finding of a check with a record that was not tried yet. */
  private nextFix(key: CheckKey, least: 'low' | 'medium', turn: string): Proposed | undefined {
    // What a web name needs not, no step declares.
    if (key === 'mx' && this.start.context.role === 'no_mail') return undefined
    for (const one of this.proposals(key, this.now)) {
      if (key === 'spf' && this.start.context.role === 'no_mail' && turn !== 'optional') continue
      const tried = JSON.stringify([one.finding.id, one.fix, turn])
      if (rankOf(one) < RANK[least] || this.tried.has(tried)) continue
      this.tried.add(tried)
      return one
    }
    return undefined
  }

  private isOwn = (name: string): boolean => isWithin(name, this.domain)

  private findings(key: CheckKey): Found[] {
    return (this.now.outcomes[key]?.findings ?? []).map((finding) => ({ key, finding }))
  }

  /**
   * The changes that publish a record: beside an alias that leads nowhere its removal (RFC 1034 §3.6.2). A text says why
   * the record cannot stand at its name.
   */
  private async placeOf(fix: DnsRecord, change: OverlayRecord): Promise<readonly OverlayChange[] | string> {
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
    if (answer.kind === 'found')
      return `${fix.name} is an alias (CNAME) of ${target}: the record can be changed only there.`
    return [{ name: fix.name, type: 'CNAME', remove: true, data: target }, ...whole]
  }

  /** Whether a step removes the alias at a name. */
  private readonly isFreed = (name: string): boolean =>
    this.laid.records.some((one) => one.type === 'CNAME' && one.name === name && 'remove' in one)

  private draftOf({ key, finding }: Found, fix: DnsRecord, changes: readonly OverlayChange[]): Draft {
    return {
      title: titleOf(key, finding.id, fix, { isNew: finding.evidence === undefined, today: ownPolicyOf(this.now) }),
      by: 'dns',
      findings: [finding.id],
      changes,
      why: presentFinding(registry[key].table, finding).title,
      before: this.beforeFix(finding.id, fix),
    }
  }

  /** Whether an MX host of today has an address: no mail comes in by way of one that has none. */
  private readonly takesMail = (host: string): boolean =>
    this.start.context.mail?.hosts.some(({ exchange, addresses }) => exchange === host && addresses.length > 0) ?? true

  /** What to know before the record of a finding is published. */
  private beforeFix(id: string, { name, value }: DnsRecord): readonly string[] {
    const isWeb = this.start.context.role === 'no_mail'
    if (isWeb && id.startsWith('spf.no_record')) return [nothingSends(this.domain)]
    if (name !== `_dmarc.${this.domain}`) return []
    if (isWeb && this.isSilent()) return [nothingSends(this.domain)]
    if (this.isSilent()) return this.beforeSilence()
    return value.includes('rua=') || this.now.context.takes !== false ? [] : [reportsElsewhere(this.domain)]
  }

  /** What to know about names below a domain without mail before it rejects everything. */
  private beforeSilence(): readonly string[] {
    if (!governs(this.domain, this.now)) return []
    const below = this.below()
    return below.length > 0 ? [keptBelow(below)] : [SILENT_ORGANIZATION]
  }

  /** The domain with a change, unless too much was tried already. */
  private async trial(
    before: Snapshot,
    laid: Change,
    changed: readonly OverlayChange[],
  ): Promise<Snapshot | undefined> {
    if (++this.trials > MAX_TRIALS) return undefined
    return tryChange(this.subject, before, laid, changed)
  }

  /** What somebody else has to do, as the domain is now. */
  private async others(work: OthersWork, isOptional = false): Promise<void> {
    for (const one of work(this.now, this.domain)) await this.tryAssumed(one, isOptional)
  }

  /** A step that is not a record of this domain: taken if it gains points or resolves its finding. */
  private async tryAssumed({ found, draft, ids = [found.finding.id] }: Work, isOptional: boolean): Promise<void> {
    const tried = JSON.stringify([draft.title, draft.changes, isOptional])
    if (this.tried.has(tried)) return
    this.tried.add(tried)
    for (const { name, type, data } of changesOf(draft)) {
      // A value that only stands for what somebody else will make is not shown.
      const value = data !== undefined && draft.changes.length > 0 ? presentationOf(type, data) : undefined
      const objection = await obstacleTo(this.subject, { name, rtype: type, value })
      if (objection !== undefined)
        return void this.objections.set(found.finding.id, [draft.instructions, objection].join(' ').trim())
    }
    if (await hidesAddresses(this.subject, draft.changes)) return
    const laid = withDraft(this.laid, draft)
    const after = await this.trial(this.now, laid, changesOf(draft))
    if (!after) return
    const gain = after.score.score - this.now.score.score
    if (gain < 0) return
    const count = ({ outcomes }: Snapshot): number =>
      outcomes[found.key]?.findings.filter(({ id }) => id === found.finding.id).length ?? 0
    if (gain <= 0 && !(count(after) < count(this.now) && (isOptional || rankOf(found) > RANK.low))) return
    const why = presentFinding(registry[found.key].table, found.finding).title
    const done = { ...draft, why, findings: [...new Set(ids)], after, ...(isOptional && { optional: true as const }) }
    this.push(draft.by === 'dns' ? done : { ...done, assumed: true }, laid)
  }

  /**
   * The stages of DMARC: those that are needed, or also the optional ones. Resolves to whether a further one may follow.
   */
  private async stages(isOptional: boolean): Promise<boolean> {
    await this.ownPolicy(isOptional)
    for (let i = 0; i < MAX_STAGES; i++) {
      const { dmarc } = this.now.facts
      if (dmarc instanceof Error) return false
      const isSilent = this.isSilent()
      const input = { isSilent, governs: governs(this.domain, this.now), keepsBelow: this.below().length > 0 }
      if (this.governsOthers()) return false
      const stage = nextStage(dmarc, input)
      if (!stage) return false
      if (stage.optional && !isOptional) return true
      if (!(await this.stage(stage, isSilent && stage.kind !== 'subdomains'))) return false
    }
    return false
  }

  /** Whether the record of the name governs names of others: of a public suffix, or one that says so (`psd=y`). */
  private governsOthers(): boolean {
    const { dmarc } = this.now.facts
    if (dmarc instanceof Error || !dmarc.applied || dmarc.applied.inherited) return false
    if (dmarc.applied.reading.record.psd !== 'y' && publicSuffix(this.domain) !== this.domain) return false
    for (const { finding } of this.findings('dmarc'))
      if (Object.values(STAGE_FINDINGS).flat().includes(finding.id)) this.objections.set(finding.id, GOVERNS_OTHERS)
    return true
  }

  /** Whether nothing is sent as the name, also not by a service that signs with a key of the domain. */
  private isSilent(): boolean {
    const { context, facts } = this.now
    if (context.role === 'no_mail') return true
    if (!context.silent) return false
    // A record that let everybody pass, or could not be read, may have had senders, whatever stands in its place.
    const { spf } = this.start.facts
    const isNew = !(spf instanceof Error) && spf.records.length + spf.similar.length === 0
    const isDeclared = !(facts.spf instanceof Error) && facts.spf.reading?.declaredNonSender === true
    return this.start.context.sends === false || (this.start.context.sends !== true && (isNew || isDeclared))
  }

  /**
   * A record of its own for a name below an organization: for one that sends nothing, at once; for one that sends, whose
   * mail the organization's plan covers, an optional stage (`isOptional`).
   */
  private async ownPolicy(isOptional: boolean): Promise<void> {
    const { facts, context } = this.now
    const { dmarc } = facts
    if (dmarc instanceof Error || !dmarc.applied?.inherited || dmarc.applied.broken) return
    const isSilent = this.isSilent()
    if (isSilent === isOptional || (!isSilent && (!context.canPass || context.role === 'return_path'))) return
    const policy = ownLevel(dmarc, isSilent)
    if (policy === undefined || (policy === 'reject' && !isSilent && !hasUsableKey(facts.dkim))) return
    const { record } = dmarc.applied.reading
    const organization = dmarc.applied.domain
    // Below a public suffix the name is an organization of its own.
    if (!isSilent && record.psd === 'y') return
    // Whether a record can stand there is asked first: few queries may be left.
    await obstacleTo(this.subject, { name: `_dmarc.${this.domain}`, rtype: 'TXT', value: undefined })
    const agreed = await agreedHosts(this.subject, record, organization)
    const isKept = (host: string | undefined): boolean => host !== undefined && agreed.has(host)
    const fix = { name: `_dmarc.${this.domain}`, rtype: 'TXT', value: ownRecord(record, policy, isKept) }
    const change: OverlayRecord = { name: fix.name, type: 'TXT', data: fix.value }
    const place = await this.placeOf(fix, change)
    const ids = this.findings('dmarc').map(({ finding: { id } }) => id)
    if (typeof place === 'string') {
      if (isSilent) for (const id of ids) this.objections.set(id, place)
      return
    }
    const laid = withChanges(this.laid, place)
    const after = await this.trial(this.now, laid, place)
    if (!after) return
    const { seen } = this.options
    if (!isSilent && seen && seenObjection({ key: 'dmarc', before: this.now, after }, seen) !== undefined) return
    const title = stageTitle({ kind: policy, policy })
    const scope = `The record takes the place of that of ${organization} for this name alone; names below it are not covered.`
    const own = {
      title: `${title} for this name alone`,
      why: scope,
      optional: true,
      before: [coveredAbove(organization)],
      wait: waitWords({ kind: policy, policy }, { canReport: hasReports(this.now), isNext: true, today: 'none' }),
    } as const
    const silent = {
      title,
      why: `Nothing is sent as ${this.domain}. ${scope}`,
      before: context.role === 'no_mail' ? [nothingSends(this.domain)] : [],
    } as const
    this.push({ ...(isSilent ? silent : own), by: 'dns', findings: ids, changes: place, after }, laid)
  }

  /** Takes one stage; false if it would harm or cannot be tried. */
  private async stage(stage: Stage, isSilent: boolean): Promise<boolean> {
    const { context, facts, score } = this.now
    const name = `_dmarc.${this.domain}`
    const finding = this.findings('dmarc').find(({ finding: { id } }) => STAGE_FINDINGS[stage.kind].includes(id))
    const refuse = (why: string): false => {
      if (finding) this.objections.set(finding.finding.id, why)
      return false
    }
    if (!isSilent && facts.spf instanceof Error) return refuse(SPF_UNKNOWN)
    if (!isSilent && !context.canPass)
      return refuse(
        'Not yet: none of the domain\u2019s own mail can pass a stricter policy. Repair SPF or set up DKIM first.',
      )
    if (stage.policy === 'reject' && !isSilent) {
      if (!hasUsableKey(facts.dkim)) return false
      const isMended = !this.steps.some((step) => step.assumed && step.findings.some((id) => id.startsWith('spf.')))
      if (!isMended || (!(facts.spf instanceof Error) && (facts.spf.reading?.permerrors ?? []).length > 0))
        return refuse(SPF_FIRST)
    }
    const place = await this.placeOf(
      { name, rtype: 'TXT', value: stage.value },
      { name, type: 'TXT', data: stage.value },
    )
    if (typeof place === 'string') return refuse(place)
    const laid = withChanges(this.laid, place)
    const after = await this.trial(this.now, laid, place)
    if (!after) return false
    const { seen } = this.options
    const why = seen ? seenObjection({ key: 'dmarc', before: this.now, after }, seen) : undefined
    if (why !== undefined) return refuse(`Not yet: ${why}`)
    if (stage.optional && after.score.score < score.score) return false
    const waiting = isSilent || stage.kind === 'missing' ? {} : this.waitFor(stage, after)
    const { instructions: seenWords } = waiting
    const isRefusing = stage.policy === 'reject' && stage.kind !== 'missing' && !isSilent
    const instructions = isRefusing ? [ABOUT_REJECT, seenWords].join(' ').trim() : seenWords
    this.push(
      {
        title: stageTitle(stage),
        by: 'dns',
        findings: finding ? [finding.finding.id] : [],
        changes: place,
        why: stageWhy(
          stage,
          facts.dmarc instanceof Error ? undefined : facts.dmarc.applied?.reading.record,
          governs(this.domain, this.now),
          this.below(),
        ),
        ...(waiting.wait !== undefined && { wait: waiting.wait }),
        ...(instructions !== undefined && { instructions }),
        ...(isSilent && { before: this.beforeSilence() }),
        ...(!isSilent && context.sends === false && { before: [KEY_WITHOUT_SENDER] }),
        ...(stage.optional && { optional: true as const }),
        after,
      },
      laid,
      { leads: true },
    )
    return true
  }

  /**
   * What to wait for before a stage: nothing once reports of four weeks say that it harms no sender of the domain, while
   * the stage before it is published.
   */
  private waitFor(stage: Stage, after: Snapshot): Pick<Draft, 'wait' | 'instructions'> {
    const { seen } = this.options
    const told = seen && seenStepUp({ before: this.now, after }, seen)
    const isSeen = hasReports(this.start) || !hasReports(this.now)
    const isNext =
      isSeen && !this.steps.some(({ changes }) => changes.some(({ name }) => name === `_dmarc.${this.domain}`))
    const today = ownPolicyOf(this.now) ?? 'none'
    const wait = waitWords(stage, { canReport: hasReports(this.now), isNext, today })
    if (!told) return { wait }
    return isNext && told.days >= REPORTED_DAYS ? { instructions: told.words } : { wait: `${wait} ${told.words}` }
  }

  /**
   * Adds a step; one that changes the same records as an earlier one is merged into it, unless it has to wait. `leads`:
   * the step is then called what this one is.
   */
  private push(draft: Done, laid: Change, { before = this.now, leads = false }: Pushed = {}): void {
    const step = { ...draft, findings: resolved(before, draft, this.start) }
    const sets = new Set(step.changes.map(setKey))
    const same = this.steps.findIndex(
      (one) => !one.wait && !step.wait && one.changes.some((change) => sets.has(setKey(change))),
    )
    this.laid = laid
    this.now = step.after
    if (same < 0) return void this.steps.push(step)
    const { title, why } = step
    const merged = {
      ...mergedStep(this.steps[same], step),
      ...(leads && { title, ...(why !== undefined && { why }) }),
      after: this.steps[same]!.after,
    }
    this.steps = this.steps.with(same, merged)
    this.stale = Math.min(this.stale, same)
  }

  /** Measures the steps again from the first that was changed later. */
  private async measured(): Promise<readonly Done[]> {
    if (this.stale === Number.POSITIVE_INFINITY) return this.steps
    let laid: Change = { records: [] }
    let now = this.start
    const steps: Done[] = []
    for (const [i, step] of this.steps.entries()) {
      laid = withDraft(laid, step)
      now = i < this.stale ? step.after : await tryChange(this.subject, now, laid, changesOf(step))
      steps.push({ ...step, after: now })
    }
    return steps
  }

  async presented(): Promise<Plan> {
    const steps = await this.measured()
    const needed = steps.filter(({ optional }) => !optional)
    const end = needed.at(-1)?.after ?? this.start
    const sorted = [...needed, ...steps.filter((one) => one.optional)]
    const shown = await presentSteps({ subject: this.subject, start: this.start }, sorted, this.takesMail)
    return {
      steps: shown,
      end: gradeIn(end),
      left: leftOf({ start: this.start, end, steps, domain: this.domain }, this.objectionTo),
    }
  }

  /** Why a finding has no step; undefined: nothing was tried for it. */
  private readonly objectionTo = ({ finding: { id, fix } }: Found): string | undefined => {
    const isCut = this.trials > MAX_TRIALS && (fix !== undefined || Object.values(STAGE_FINDINGS).flat().includes(id))
    return this.objections.get(id) ?? (isCut ? stoppedAt(MAX_TRIALS) : undefined)
  }
}
