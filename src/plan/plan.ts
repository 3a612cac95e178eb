import type { PlanAnswer, PlanRecord, PlanStep } from '../answers/plan.ts'
import type { DnsRecord } from '../checks/check.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import { CHECK_KEYS, type CheckKey } from '../checks/run.ts'
import { seenObjection, seenStepUp } from '../checks/seen-fixes.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import type { Domain } from '../names/domain.ts'
import type { OverlayChange, OverlayRecord } from '../net/dns/overlay.ts'
import { parseRecord, presentationOf } from '../net/dns/record-text.ts'
import { textKind } from '../net/dns/text-kind.ts'
import {
  ABOUT_REJECT,
  isRaise,
  isRefusing,
  isStageBefore,
  REPORTED_DAYS,
  refusingRecord,
  WAITS,
} from './dmarc-stages.ts'
import { assumedKey, correctedPolicy, type Laid, type Look, type Looks } from './look.ts'
import { type Found, objectionTo, RANK, rankOf } from './trial.ts'
import { keyTitle, titleOf } from './words.ts'

/** Maximum number of records and stages that are tried for one plan. */
const MAX_TRIALS = 30
/** Maximum number of times that all checks are gone through: a step may make another one possible. */
const MAX_PASSES = 3
/** The TTL of records to publish, seconds. */
const TTL = 3_600

/** A step before its records are presented. */
export type Draft = Pick<PlanStep, 'title' | 'by' | 'instructions' | 'file' | 'wait' | 'optional' | 'assumed'> & {
  readonly findings: readonly string[]
  /** Records of this domain, or to be published by others. */
  readonly changes: readonly OverlayChange[]
  /** What is laid over in addition: facts that no record of the domain makes true. */
  readonly facts?: Laid
}
type Done = Draft & { readonly after: Look }

export type Plan = Pick<PlanAnswer, 'score' | 'grade' | 'steps' | 'end' | 'left'>

/**
 * The steps from `start` to the best that records can reach, in order, each tried together with all before it; `seeds`
 * are laid first. A step is taken if it resolves its finding and does no harm (docs/score.md, "A fix does no harm"). At
 * most 30 records are tried.
 */
export async function makePlan(
  start: Look,
  { domain, nowMs, seen }: { readonly domain: Domain; readonly nowMs: number; readonly seen?: SeenMail },
  looks: Looks,
  seeds: readonly Draft[] = [],
): Promise<Plan> {
  const plan = new Planner(start, domain, nowMs, looks, seen)
  for (const seed of seeds) await plan.take(seed)
  if (start.context.role !== 'no_such_domain' || seeds.length > 0) await plan.run()
  return plan.presented()
}

class Planner {
  private look: Look
  private laid: Laid = { changes: [] }
  private steps: Done[] = []
  private trials = 0
  /** Why a finding has no step, by its id. */
  private readonly objections = new Map<string, string>()
  /** Records that were tried in this pass. */
  private tried = new Set<string>()

  private readonly start: Look
  private readonly domain: Domain
  private readonly nowMs: number
  private readonly looks: Looks
  private readonly seen: SeenMail | undefined

  constructor(start: Look, domain: Domain, nowMs: number, looks: Looks, seen: SeenMail | undefined) {
    this.seen = seen
    this.start = start
    this.domain = domain
    this.nowMs = nowMs
    this.looks = looks
    this.look = start
  }

  async run(): Promise<void> {
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const before = this.laid
      this.tried = new Set()
      await this.fixes('mx')
      await this.policyFile()
      await this.fixes('mta_sts', 'medium')
      await this.fixes('spf')
      await this.fixes('dmarc')
      await this.authorizations()
      await this.fixes('dkim')
      await this.providerKey()
      await this.brokenKeys()
      await this.addresses()
      if (this.laid === before) break
    }
    await this.stages()
    for (const key of CHECK_KEYS) await this.fixes(key, 'low', true)
    await this.rejectStage()
  }

  /** Takes a step without judging it. */
  async take(draft: Draft): Promise<void> {
    const laid = withDraft(this.laid, draft)
    this.push({ ...draft, after: await this.looks.again(this.look, laid, changesOf(draft)) }, laid)
  }

  /** The records that the findings of a check propose, as one step. `optional`: those that gain nothing. */
  private async fixes(key: CheckKey, least: 'low' | 'medium' = 'low', optional = false): Promise<void> {
    let step: Done | undefined
    let laid = this.laid
    const first = this.look
    for (let found = this.nextFix(key, least); found; found = this.nextFix(key, least)) {
      const { finding, fix, change } = found
      const objection = await this.looks.obstacle(fix)
      if (objection !== undefined) {
        this.objections.set(finding.id, objection)
        continue
      }
      const before = step?.after ?? this.look
      const tried = withChanges(laid, [change])
      const after = await this.again(before, tried, [change])
      if (!after) break
      const why = objectionTo(found, fix, before, after, this.seen)
      const gain = after.score.score - before.score.score
      // What gains nothing is offered after the way.
      if (why !== undefined) this.objections.set(finding.id, why)
      else if (optional || gain > 0 || step || rankOf(found) > RANK.low || key === 'dmarc') {
        laid = tried
        step = { ...mergedStep(step, this.draftOf(found, fix, change)), after }
        this.look = after // the next finding is that of the record just laid
      }
    }
    if (step) this.push(optional ? { ...step, optional: true } : step, laid, first)
  }

  /** The most severe finding of a check with a record that was not tried yet. */
  private nextFix(
    key: CheckKey,
    least: 'low' | 'medium',
  ): (Found & { readonly fix: DnsRecord; readonly change: OverlayRecord }) | undefined {
    const found = this.findings(key)
      .filter(({ finding }) => finding.fix !== undefined)
      .toSorted((a, b) => rankOf(b) - rankOf(a))
    for (const one of found) {
      const fix = one.finding.fix!
      const tried = JSON.stringify([one.finding.id, fix])
      if (rankOf(one) < RANK[least] || this.tried.has(tried) || !this.isOwn(fix.name)) continue
      if (key === 'dmarc' && isRaise(fix.value, this.look) && this.look.context.role !== 'parked') continue
      this.tried.add(tried)
      const change = parseRecord({ name: `${fix.name}.`, type: fix.rtype, value: fix.value }, this.domain)
      if (change.ok) return { ...one, fix, change: change.value }
    }
    return undefined
  }

  private isOwn = (name: string): boolean => name === this.domain || name.endsWith(`.${this.domain}`)

  private findings(key: CheckKey): Found[] {
    return (this.look.outcomes[key]?.findings ?? []).map((finding) => ({ key, finding }))
  }

  private draftOf(found: Found, fix: DnsRecord, change: OverlayRecord): Draft {
    const { key, finding } = found
    const isNew = finding.evidence === undefined
    const instructions = finding.id === 'mx.implicit' ? this.otherWay() : undefined
    return {
      title: titleOf(key, finding.id, fix, isNew),
      by: 'dns',
      findings: [finding.id],
      changes: [change],
      ...(instructions !== undefined && { instructions }),
    }
  }

  /** What to publish instead of all steps, for a domain with an address only, which may be no more than a website. */
  private otherWay(): string | undefined {
    if (!this.findings('spf').some(({ finding: { id, args } }) => id === 'spf.no_record' && args?.both))
      return undefined
    const { domain } = this
    return `If the domain neither sends nor accepts mail, publish these three records instead, and nothing else of the plan: MX "0 ." and TXT "v=spf1 -all" at ${domain}, and TXT "v=DMARC1; p=reject" at _dmarc.${domain}.`
  }

  /** A look, unless too much was tried already. */
  private async again(before: Look, laid: Laid, changed: readonly OverlayChange[]): Promise<Look | undefined> {
    if (++this.trials > MAX_TRIALS) return undefined
    return this.looks.again(before, laid, changed)
  }

  /** An MTA-STS policy that excludes mail hosts, or that senders cannot use. */
  private async policyFile(): Promise<void> {
    const { mta_sts: facts } = this.look.facts
    const hosts = this.look.context.mail?.hosts.map(({ exchange }) => exchange) ?? []
    const found = this.findings('mta_sts').find(({ finding: { id } }) => POLICY_FAULTS.has(id))
    if (!found || facts instanceof Error || hosts.length === 0) return
    const file = correctedPolicy(facts, hosts)
    const id = new Date(this.nowMs).toISOString().replace(/\D/g, '').slice(0, 14)
    const change: OverlayRecord = { name: `_mta-sts.${this.domain}`, type: 'TXT', data: `v=STSv1; id=${id}` }
    await this.tryAssumed(found, {
      title: 'Correct the MTA-STS policy',
      by: 'web server',
      instructions: `Publish the policy at ${file.url} first, then the record with the new id: senders fetch the policy again when the id changes (RFC 8461 §3.1).`,
      file,
      changes: [change],
      facts: { changes: [], policy: file },
    })
  }

  /** A DKIM key, which only the provider of the mail can create. */
  private async providerKey(): Promise<void> {
    const { dkim: facts } = this.look.facts
    const found = this.findings('dkim').find(({ finding: { id } }) => NEEDS_KEY.has(id))
    if (!found || facts instanceof Error) return
    const selector = facts.providers.find(({ selectors }) => selectors.length > 0)?.selectors[0] ?? 'default'
    const { repair } = presentFinding(registry.dkim.table, found.finding)
    await this.tryAssumed(found, {
      title: keyTitle(found.finding.id),
      by: 'mail provider',
      ...(repair === undefined ? {} : { instructions: repair }),
      changes: [],
      facts: { changes: [assumedKey(this.domain, selector)] },
    })
  }

  /** Keys that cannot be used, once there is another: an empty key says that it is revoked (RFC 6376 §3.6.1). */
  private async brokenKeys(): Promise<void> {
    const { dkim: facts } = this.look.facts
    const found = this.findings('dkim').find(({ finding: { id, fix } }) => id === 'dkim.broken_key' && !fix)
    if (!found || facts instanceof Error || !hasUsableKey(facts)) return
    const broken = facts.keys.filter(({ key, cname }) => key.state === 'broken' && cname.length === 0)
    if (broken.length === 0) return
    const changes = broken.map(({ name }): OverlayRecord => ({ name, type: 'TXT', data: 'v=DKIM1; p=' }))
    const title = broken.length === 1 ? 'Revoke the unusable DKIM key' : 'Revoke the unusable DKIM keys'
    await this.tryAssumed(found, { title, by: 'dns', changes })
  }

  /** The PTR records of the domain's own addresses, which belong to whoever provides these. */
  private async addresses(): Promise<void> {
    const found = this.findings('ptr').filter(({ finding }) => finding.fix?.rtype === 'PTR')
    const changes = found.flatMap(({ finding: { fix } }) => {
      const change = parseRecord({ name: `${fix!.name}.`, type: 'PTR', value: fix!.value }, this.domain)
      return change.ok ? [change.value] : []
    })
    const distinct = [...new Map(changes.map((change) => [change.name, change])).values()]
    if (distinct.length === 0) return
    await this.tryAssumed(
      found[0]!,
      {
        title: distinct.length === 1 ? 'Set the PTR record' : 'Set the PTR records',
        by: 'address owner',
        instructions: `Ask whoever provides the ${distinct.length === 1 ? 'address' : 'addresses'} (the hosting provider or the network) to set ${distinct.length === 1 ? 'this record' : 'these records'}: reverse zones are not part of this domain.`,
        changes: distinct,
      },
      found.map(({ finding }) => finding.id),
    )
  }

  /** The consent of report receivers elsewhere (RFC 9990 §4). */
  private async authorizations(): Promise<void> {
    for (const found of this.findings('dmarc')) {
      const { fix, id } = found.finding
      if (!fix || this.isOwn(fix.name) || id !== 'dmarc.report_unauthorized') continue
      const change = parseRecord({ name: `${fix.name}.`, type: fix.rtype, value: fix.value }, this.domain)
      if (!change.ok) continue
      await this.tryAssumed(found, {
        title: 'Get the consent of the report receiver',
        by: 'report receiver',
        instructions: 'Whoever runs that domain publishes this record, otherwise receivers send it no reports.',
        changes: [change.value],
      })
    }
  }

  /** A step that is not a record of this domain: taken if it gains points or resolves its finding. */
  private async tryAssumed(found: Found, draft: Omit<Draft, 'findings'>, ids = [found.finding.id]): Promise<void> {
    const tried = JSON.stringify([draft.title, draft.changes])
    if (this.tried.has(tried)) return
    this.tried.add(tried)
    for (const { name, type, data } of changesOf(draft)) {
      const value = data === undefined ? '' : presentationOf(type, data)
      const objection = await this.looks.obstacle({ name, rtype: type, value })
      if (objection !== undefined) return void this.objections.set(found.finding.id, objection)
    }
    const laid = withDraft(this.laid, draft)
    const after = await this.again(this.look, laid, changesOf(draft))
    if (!after) return
    const gain = after.score.score - this.look.score.score
    const count = ({ outcomes }: Look): number =>
      outcomes[found.key]?.findings.filter(({ id }) => id === found.finding.id).length ?? 0
    if (gain <= 0 && !(count(after) < count(this.look) && rankOf(found) > RANK.low)) return
    const done = { ...draft, findings: [...new Set(ids)], after }
    this.push(draft.by === 'dns' ? done : { ...done, assumed: true }, laid)
  }

  /** The policy of DMARC one step up; at once for a domain that sends nothing. */
  private async stages(): Promise<void> {
    const raises = this.findings('dmarc').flatMap(({ key, finding }) => {
      const { fix } = finding
      return fix && this.isOwn(fix.name) && isRaise(fix.value, this.look) ? [{ key, finding, fix }] : []
    })
    const [found] = raises.toSorted((a, b) => rankOf(b) - rankOf(a))
    if (!found) return
    const { fix } = found
    const objection = await this.looks.obstacle(fix)
    if (objection !== undefined) return void this.objections.set(found.finding.id, objection)
    const sendsNothing = this.look.context.sends === false
    const value = sendsNothing ? (refusingRecord(fix.value) ?? fix.value) : fix.value
    const change: OverlayRecord = { name: fix.name, type: 'TXT', data: value }
    const laid = withChanges(this.laid, [change])
    const after = await this.again(this.look, laid, [change])
    if (!after) return
    const why = sendsNothing ? undefined : objectionTo(found, fix, this.look, after, this.seen)
    if (why !== undefined) return void this.objections.set(found.finding.id, why)
    const isReject = !sendsNothing && isRefusing(value)
    if (isReject && !hasUsableKey(after.facts.dkim)) return
    this.push(
      {
        title: titleOf('dmarc', found.finding.id, { ...fix, value }, false),
        by: 'dns',
        findings: [found.finding.id],
        changes: [change],
        ...(sendsNothing ? {} : this.waitFor(isReject ? 'reject' : 'quarantine', after)),
        ...(isReject && { optional: true, instructions: aboutReject(this.waitFor('reject', after)) }),
        after,
      },
      laid,
    )
  }

  /**
   * `p=reject`, for a domain that sends: optional, and only with a usable DKIM key, because forwarding breaks SPF (RFC
   * 9989 §7.4).
   */
  private async rejectStage(): Promise<void> {
    const { context, facts } = this.look
    if (context.sends === false || !hasUsableKey(facts.dkim) || facts.dmarc instanceof Error) return
    const { applied } = facts.dmarc
    if (!applied || applied.inherited || applied.effective !== 'quarantine') return
    const value = refusingRecord(applied.text)
    if (value === undefined) return
    const change: OverlayRecord = { name: `_dmarc.${this.domain}`, type: 'TXT', data: value }
    const laid = withChanges(this.laid, [change])
    const after = await this.again(this.look, laid, [change])
    if (!after || after.score.score <= this.look.score.score) return
    const why = this.seen && seenObjection({ key: 'dmarc', before: this.look, after }, this.seen)
    if (why !== undefined) return void this.objections.set('dmarc.policy_quarantine', `Not yet: ${why}`)
    this.push(
      {
        title: 'DMARC: reject',
        by: 'dns',
        findings: ['dmarc.policy_quarantine'],
        changes: [change],
        ...this.waitFor('reject', after),
        instructions: aboutReject(this.waitFor('reject', after)),
        optional: true,
        after,
      },
      laid,
    )
  }

  /**
   * What to wait for before a stage: nothing once reports of four weeks say that it harms no sender of the domain, while
   * the stage before it is published.
   */
  private waitFor(stage: keyof typeof WAITS, after: Look): Pick<Draft, 'wait' | 'instructions'> {
    const told = this.seen && seenStepUp({ before: this.look, after }, this.seen)
    if (!told) return { wait: WAITS[stage] }
    const isNext = isStageBefore(stage, this.start)
    return isNext && told.days >= REPORTED_DAYS
      ? { instructions: told.words }
      : { wait: `${WAITS[stage]} ${told.words}` }
  }

  /** Adds a step; one that changes the same records as an earlier one is merged into it, unless it has to wait. */
  private push(draft: Done, laid: Laid, before: Look = this.look): void {
    const step = { ...draft, findings: resolved(before, draft) }
    const sets = new Set(step.changes.map(setKey))
    const same = this.steps.findIndex(
      (one) => !one.wait && !step.wait && one.changes.some((change) => sets.has(setKey(change))),
    )
    this.laid = laid
    this.look = step.after
    if (same < 0) return void this.steps.push(step)
    const merged = { ...mergedStep(this.steps[same], step), after: this.steps[same]!.after }
    this.steps = this.steps.with(same, merged)
    this.stale = Math.min(this.stale, same)
  }
  /** The first step whose measure is out of date. */
  private stale = Number.POSITIVE_INFINITY

  /** Measures the steps again from the first that was changed later. */
  private async measured(): Promise<readonly Done[]> {
    if (this.stale === Number.POSITIVE_INFINITY) return this.steps
    let laid: Laid = { changes: [] }
    let look = this.start
    const steps: Done[] = []
    for (const [i, step] of this.steps.entries()) {
      laid = withDraft(laid, step)
      look = i < this.stale ? step.after : await this.looks.again(look, laid, changesOf(step))
      steps.push({ ...step, after: look })
    }
    return steps
  }

  async presented(): Promise<Plan> {
    const steps = await this.measured()
    const needed = steps.filter(({ optional }) => !optional)
    const end = needed.at(-1)?.after ?? this.start
    const shown: PlanStep[] = []
    let before: readonly OverlayChange[] = []
    for (const { after, changes, facts: _facts, ...step } of [...needed, ...steps.filter((one) => one.optional)]) {
      const records = await recordsOf(this.looks, before, changes)
      before = layOver(before, changes)
      shown.push({ ...step, findings: [...step.findings], records, ...after.score })
    }
    return { ...this.start.score, steps: shown, end: end.score, left: this.left(end, steps) }
  }

  /**
   * The findings of severity low and above that remain at the end, those whose step is withheld, and the checks that could not be made.
   */
  private left(end: Look, steps: readonly Done[]): Plan['left'] {
    const told = new Set(steps.flatMap(({ findings }) => findings))
    return CHECK_KEYS.flatMap((key) => {
      const outcome = end.outcomes[key]
      if (!outcome) return []
      const found = outcome.findings.map((finding) => ({ key, finding }))
      const open = outcome.status === 'unknown' ? [{ finding: key, why: `Not known: ${outcome.reason.text}.` }] : []
      const rest = found
        .filter((one) => !told.has(one.finding.id) && (rankOf(one) >= RANK.low || this.objections.has(one.finding.id)))
        .map((one) => ({ finding: one.finding.id, why: this.whyLeft(one) }))
      return [...open, ...new Map(rest.map((one) => [one.finding, one])).values()]
    })
  }

  private whyLeft(found: Found): string {
    const { key, finding } = found
    const { repair, title } = presentFinding(registry[key].table, finding)
    const { fix } = finding
    if (fix && !this.isOwn(fix.name) && fix.rtype !== 'PTR')
      return `The record belongs to another domain (${fix.name}): make the plan of that domain.`
    return this.objections.get(finding.id) ?? repair ?? `${title}: there is no record to publish for it.`
  }
}

const aboutReject = ({ instructions }: Pick<Draft, 'instructions'>): string =>
  instructions === undefined ? ABOUT_REJECT : `${ABOUT_REJECT} ${instructions}`

/** Findings for which the policy file must change. */
const POLICY_FAULTS: ReadonlySet<string> = new Set([
  'mta_sts.uncovered_mx',
  'mta_sts.uncovered_mx_testing',
  'mta_sts.policy_status',
  'mta_sts.policy_type',
  'mta_sts.policy_syntax',
])
/** Findings that a new key resolves. */
const NEEDS_KEY: ReadonlySet<string> = new Set([
  'dkim.proven_absent',
  'dkim.none_found',
  'dkim.only_revoked',
  'dkim.short_key',
  'dkim.ed25519_only',
])

/** The findings of severity low and more that a step resolves; where there are none, those that it was made for. */
function resolved(before: Look, { after, findings }: Done): readonly string[] {
  const idsIn = ({ outcomes }: Look, least: number): readonly string[] =>
    CHECK_KEYS.flatMap((key) =>
      (outcomes[key]?.findings ?? []).flatMap((finding) => (rankOf({ key, finding }) >= least ? [finding.id] : [])),
    )
  const still = new Set(idsIn(after, RANK.info))
  const gone = [...new Set(idsIn(before, RANK.low))].filter((id) => !still.has(id))
  return gone.length > 0 ? gone : findings
}

const hasUsableKey = (facts: Look['facts']['dkim']): boolean =>
  !(facts instanceof Error) && facts.keys.some(({ key }) => key.state === 'usable')

const mergedStep = (step: Draft | undefined, other: Draft): Draft =>
  step
    ? {
        ...step,
        findings: [...new Set([...step.findings, ...other.findings])],
        changes: layOver(step.changes, other.changes),
      }
    : other

/** A name and type, and the kind of a TXT: what a record stands in place of. */
const setKey = ({ name, type, data }: OverlayChange): string =>
  `${name} ${type} ${type === 'TXT' && typeof data === 'string' ? textKind(name, data) : ''}`

/** Changes over others: those of the same set replace them. */
function layOver(below: readonly OverlayChange[], changes: readonly OverlayChange[]): readonly OverlayChange[] {
  const sets = new Set(changes.map(setKey))
  return [...below.filter((change) => !sets.has(setKey(change))), ...changes]
}
const withChanges = (laid: Laid, changes: readonly OverlayChange[]): Laid => ({
  ...laid,
  changes: layOver(laid.changes, changes),
})
const withDraft = (laid: Laid, { changes, facts }: Pick<Draft, 'changes' | 'facts'>): Laid => ({
  ...withChanges(laid, [...changes, ...(facts?.changes ?? [])]),
  ...(facts?.policy && { policy: facts.policy }),
})
const changesOf = ({ changes, facts }: Pick<Draft, 'changes' | 'facts'>): readonly OverlayChange[] => [
  ...changes,
  ...(facts?.changes ?? []),
]

/** The state of the changed sets after a step; `before` are the changes of the steps before it. */
async function recordsOf(
  looks: Looks,
  before: readonly OverlayChange[],
  changes: readonly OverlayChange[],
): Promise<PlanRecord[]> {
  const sets = Map.groupBy(changes, setKey)
  const shown = [...sets].map(async ([key, values]): Promise<PlanRecord[]> => {
    const { name, type } = values[0]!
    const kind = (text: string): string => (type === 'TXT' ? textKind(name, text) : '')
    const own = kind(String(values[0]!.data))
    const found = await looks.published(name, type)
    const published = 'values' in found ? found.values : []
    const earlier = before.filter((change) => setKey(change) === key)
    const was = earlier.length > 0 ? textsOf(earlier) : published.filter((text) => kind(text) === own)
    const is = textsOf(values)
    const gone = was.filter((text) => !is.includes(text))
    const beside = type === 'TXT' ? published.filter((text) => kind(text) !== own) : []
    const first = is.find((text) => !was.includes(text))
    const rows = is.map((value) => ({
      action: was.includes(value)
        ? ('keep' as const)
        : value === first && gone.length > 0
          ? ('replace' as const)
          : ('add' as const),
      value,
      was: value === first ? [...gone] : [],
    }))
    // What goes stands with the first new value, or alone where none is new.
    const removed = first === undefined ? gone.map((value) => ({ action: 'remove' as const, value, was: [value] })) : []
    return [...rows, ...removed].map(({ action, value, was }) => ({
      action,
      name,
      type,
      ttl: TTL,
      value,
      was,
      ...(beside.length > 0 && { beside }),
      ...('unknown' in found && { beside_unknown: found.unknown }),
    }))
  })
  return (await Promise.all(shown)).flat()
}

const textsOf = (changes: readonly OverlayChange[]): readonly string[] =>
  changes.flatMap((change) => ('remove' in change ? [] : [presentationOf(change.type, change.data)]))
