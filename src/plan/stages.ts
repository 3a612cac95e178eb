import { publicSuffix } from '../names/suffix.ts'
import type { OverlayRecord } from '../net/dns/overlay.ts'
import { agreedHosts } from './agreed.ts'
import { governs, ownLevel, ownPolicyOf } from './compare.ts'
import { type Draft, withChanges } from './draft.ts'
import { nextStage, ownRecord, STAGE_FINDINGS, type Stage } from './ladder.ts'
import { hasReports, hasUsableKey } from './others.ts'
import { seenObjection, seenStepUp } from './seen-fixes.ts'
import { obstacleTo, type Snapshot } from './snapshot.ts'
import type { Steps } from './steps.ts'
import {
  ABOUT_REJECT,
  coveredAbove,
  GOVERNS_OTHERS,
  KEY_WITHOUT_SENDER,
  nothingSends,
  SPF_FIRST,
  SPF_UNKNOWN,
  stageTitle,
  stageWhy,
  waitWords,
} from './words.ts'

/** Maximum number of stages of DMARC. */
const MAX_STAGES = 6
/** Days with reports, of 28, that stand for the month of a stage: reports come a day or two late. */
const REPORTED_DAYS = 26

/**
 * The stages of DMARC: those that are needed, or also the optional ones. Resolves to whether a further one may follow.
 */
export async function takeStages(steps: Steps, isOptional: boolean): Promise<boolean> {
  await ownPolicy(steps, isOptional)
  for (let i = 0; i < MAX_STAGES; i++) {
    const { dmarc } = steps.now.facts
    if (dmarc instanceof Error) return false
    const isSilent = steps.isSilent()
    const input = {
      isSilent,
      governs: governs(steps.domain, steps.now),
      keepsBelow: steps.below().length > 0,
      isWaiting: steps.lastAt(`_dmarc.${steps.domain}`)?.wait !== undefined,
    }
    if (governsOthers(steps)) return false
    const stage = nextStage(dmarc, input)
    if (!stage) return false
    if (stage.optional && !isOptional) return true
    if (!(await takeStage(steps, stage, isSilent && stage.kind !== 'subdomains'))) return false
  }
  return false
}

/** Whether the record of the name governs names of others: of a public suffix, or one that says so (`psd=y`). */
function governsOthers(steps: Steps): boolean {
  const { dmarc } = steps.now.facts
  if (dmarc instanceof Error || !dmarc.applied || dmarc.applied.inherited) return false
  if (dmarc.applied.reading.record.psd !== 'y' && publicSuffix(steps.domain) !== steps.domain) return false
  for (const { finding } of steps.findings('dmarc'))
    if (Object.values(STAGE_FINDINGS).flat().includes(finding.id)) steps.objections.set(finding.id, GOVERNS_OTHERS)
  return true
}

/**
 * A record of its own for a name below an organization: for one that sends nothing, at once; for one that sends, whose
 * mail the organization's plan covers, an optional stage (`isOptional`).
 */
async function ownPolicy(steps: Steps, isOptional: boolean): Promise<void> {
  const { facts, context } = steps.now
  const { dmarc } = facts
  if (dmarc instanceof Error || !dmarc.applied?.inherited || dmarc.applied.broken) return
  const isSilent = steps.isSilent()
  if (isSilent === isOptional || (!isSilent && (!context.canPass || context.role === 'return_path'))) return
  const policy = ownLevel(dmarc, isSilent)
  if (policy === undefined || (policy === 'reject' && !isSilent && !hasUsableKey(facts.dkim))) return
  const { record } = dmarc.applied.reading
  const organization = dmarc.applied.domain
  // Below a public suffix the name is an organization of its own.
  if (!isSilent && record.psd === 'y') return
  // Whether a record can stand there is asked first: few queries may be left.
  await obstacleTo(steps.subject, { name: `_dmarc.${steps.domain}`, rtype: 'TXT', value: undefined })
  const agreed = await agreedHosts(steps.subject, record, organization)
  const isKept = (host: string | undefined): boolean => host !== undefined && agreed.has(host)
  const fix = { name: `_dmarc.${steps.domain}`, rtype: 'TXT', value: ownRecord(record, policy, isKept) }
  const change: OverlayRecord = { name: fix.name, type: 'TXT', data: fix.value }
  const place = await steps.placeOf(fix, change)
  const ids = steps.findings('dmarc').map(({ finding: { id } }) => id)
  if (typeof place === 'string') {
    if (isSilent) for (const id of ids) steps.objections.set(id, place)
    return
  }
  const laid = withChanges(steps.laid, place)
  const after = await steps.trial(steps.now, laid, place)
  if (!after) return
  const { seen } = steps
  if (!isSilent && seen && seenObjection({ key: 'dmarc', before: steps.now, after }, seen) !== undefined) return
  const title = stageTitle({ kind: policy, policy })
  const scope = `The record takes the place of that of ${organization} for this name alone; names below it are not covered.`
  const own = {
    title: `${title} for this name alone`,
    why: scope,
    optional: true,
    before: [coveredAbove(organization)],
    wait: waitWords({ kind: policy, policy }, { canReport: hasReports(steps.now), isNext: true, today: 'none' }),
  } as const
  const silent = {
    title,
    why: `Nothing is sent as ${steps.domain}. ${scope}`,
    before: context.role === 'no_mail' ? [nothingSends(steps.domain)] : [],
  } as const
  steps.push({ ...(isSilent ? silent : own), by: 'dns', findings: ids, changes: place, after }, laid)
}

/** Takes one stage; false if it would harm or cannot be tried. */
async function takeStage(steps: Steps, stage: Stage, isSilent: boolean): Promise<boolean> {
  const { context, facts, score } = steps.now
  const name = `_dmarc.${steps.domain}`
  const finding = steps.findings('dmarc').find(({ finding: { id } }) => STAGE_FINDINGS[stage.kind].includes(id))
  const refuse = (why: string): false => {
    if (finding) steps.objections.set(finding.finding.id, why)
    return false
  }
  if (!isSilent && facts.spf instanceof Error) return refuse(SPF_UNKNOWN)
  if (!isSilent && !context.canPass)
    return refuse(
      'Not yet: none of the domain\u2019s own mail can pass a stricter policy. Repair SPF or set up DKIM first.',
    )
  if (stage.policy === 'reject' && !isSilent) {
    if (!hasUsableKey(facts.dkim)) return false
    const isMended = !steps.taken.some((step) => step.assumed && step.findings.some((id) => id.startsWith('spf.')))
    if (!isMended || (!(facts.spf instanceof Error) && (facts.spf.reading?.permerrors ?? []).length > 0))
      return refuse(SPF_FIRST)
  }
  const place = await steps.placeOf(
    { name, rtype: 'TXT', value: stage.value },
    { name, type: 'TXT', data: stage.value },
  )
  if (typeof place === 'string') return refuse(place)
  const laid = withChanges(steps.laid, place)
  const after = await steps.trial(steps.now, laid, place)
  if (!after) return false
  const { seen } = steps
  const why = seen ? seenObjection({ key: 'dmarc', before: steps.now, after }, seen) : undefined
  if (why !== undefined) return refuse(`Not yet: ${why}`)
  if (stage.optional && after.score.score < score.score) return false
  const waiting = isSilent || stage.kind === 'missing' ? {} : waitFor(steps, stage, after)
  const { instructions: seenWords } = waiting
  const isRefusing = stage.policy === 'reject' && stage.kind !== 'missing' && !isSilent
  const instructions = isRefusing ? [ABOUT_REJECT, seenWords].join(' ').trim() : seenWords
  steps.push(
    {
      title: stageTitle(stage),
      by: 'dns',
      findings: finding ? [finding.finding.id] : [],
      changes: place,
      why: stageWhy(
        stage,
        facts.dmarc instanceof Error ? undefined : facts.dmarc.applied?.reading.record,
        governs(steps.domain, steps.now),
        steps.below(),
      ),
      ...(waiting.wait !== undefined && { wait: waiting.wait }),
      ...(instructions !== undefined && { instructions }),
      ...(isSilent && { before: steps.beforeSilence() }),
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
function waitFor(steps: Steps, stage: Stage, after: Snapshot): Pick<Draft, 'wait' | 'instructions'> {
  const { seen } = steps
  const told = seen && seenStepUp({ before: steps.now, after }, seen)
  const isSeen = hasReports(steps.start) || !hasReports(steps.now)
  const isNext =
    isSeen && !steps.taken.some(({ changes }) => changes.some(({ name }) => name === `_dmarc.${steps.domain}`))
  const today = ownPolicyOf(steps.now) ?? 'none'
  const wait = waitWords(stage, { canReport: hasReports(steps.now), isNext, today })
  if (!told) return { wait }
  return isNext && told.days >= REPORTED_DAYS ? { instructions: told.words } : { wait: `${wait} ${told.words}` }
}
