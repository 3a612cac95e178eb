import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import { CHECK_KEYS, type CheckKey } from '../checks/run.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import { organizationOf, registration, validation, waysOf } from './choice.ts'
import { isInherited } from './compare.ts'
import { changesOf, type Draft, withDraft } from './draft.ts'
import { type Turn, takeFixes } from './fixes.ts'
import {
  brokenKeys,
  consents,
  deadHosts,
  keylessSelectors,
  mailboxKey,
  missingPolicy,
  type OthersWork,
  pointers,
  policyFile,
  policyForTesting,
  providerKey,
  spfBelow,
  tlsaWithoutTls,
  type Work,
  writtenAliases,
} from './others.ts'
import { hidesAddresses, obstacleTo, type Snapshot, type Subject } from './snapshot.ts'
import { takeStages } from './stages.ts'
import { type Plan, Steps } from './steps.ts'
import { RANK, rankOf } from './trial.ts'
import { NO_MAIL_CHOICE } from './words.ts'

/** Maximum number of times that all checks are gone through: a step may make another one possible. */
const MAX_PASSES = 3

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
    const steps = new Steps(subject, start, options.seen)
    for (const seed of first) await steps.take(seed)
    if (isWhole) await takeAll(steps)
    return steps.presented()
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

/** Takes the steps of all checks, in the order in which they are to be published. */
async function takeAll(steps: Steps): Promise<void> {
  const fixes = (key: CheckKey, turn?: Turn) => takeFixes(steps, key, turn)
  const others = (work: OthersWork, isOptional = false) => takeOthers(steps, work, isOptional)
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = steps.laid
    steps.beginPass()
    await fixes('mx')
    await others(deadHosts)
    await others(policyFile)
    await others(policyForTesting)
    await fixes('dane', { least: 'medium' })
    await others(tlsaWithoutTls)
    await fixes('spf')
    await others(spfBelow)
    await fixes('dkim')
    await others(writtenAliases)
    await others(keylessSelectors)
    await others(providerKey)
    await others(brokenKeys)
    await fixes('spf', { turn: 'late' })
    await others(pointers)
    await fixes('dmarc')
    await others(consents)
    await fixes('mta_sts', { least: 'medium' })
    if (steps.laid === before) break
  }
  const isMore = await takeStages(steps, false)
  for (const key of CHECK_KEYS) await fixes(key, { turn: 'optional' })
  await others(deadHosts, true)
  await others(missingPolicy, true)
  await others(mailboxKey, true)
  if (isMore || isInherited(steps.now)) await takeStages(steps, true)
}

/** What somebody else has to do, as the domain is now. */
async function takeOthers(steps: Steps, work: OthersWork, isOptional: boolean): Promise<void> {
  for (const one of work(steps.now, steps.domain)) await tryAssumed(steps, one, isOptional)
}

/** A step that is not a record of this domain: taken if it gains points or resolves its finding. */
async function tryAssumed(
  steps: Steps,
  { found, draft, ids = [found.finding.id] }: Work,
  isOptional: boolean,
): Promise<void> {
  if (!steps.isFirstTry([draft.title, draft.changes, isOptional])) return
  for (const { name, type, data } of changesOf(draft)) {
    // A value that only stands for what somebody else will make is not shown.
    const value = data !== undefined && draft.changes.length > 0 ? presentationOf(type, data) : undefined
    const objection = await obstacleTo(steps.subject, { name, rtype: type, value })
    if (objection !== undefined)
      return void steps.objections.set(found.finding.id, [draft.instructions, objection].join(' ').trim())
  }
  if (await hidesAddresses(steps.subject, draft.changes)) return
  const laid = withDraft(steps.laid, draft)
  const after = await steps.trial(steps.now, laid, changesOf(draft))
  if (!after) return
  const gain = after.score.score - steps.now.score.score
  if (gain < 0) return
  const count = ({ outcomes }: Snapshot): number =>
    outcomes[found.key]?.findings.filter(({ id }) => id === found.finding.id).length ?? 0
  if (gain <= 0 && !(count(after) < count(steps.now) && (isOptional || rankOf(found) > RANK.low))) return
  const why = presentFinding(registry[found.key].table, found.finding).title
  const done = { ...draft, why, findings: [...new Set(ids)], after, ...(isOptional && { optional: true as const }) }
  steps.push(draft.by === 'dns' ? done : { ...done, assumed: true }, laid)
}
