import type { CheckInput, DnsRecord, Finding, Outcome } from '../checks/check.ts'
import { harmOf } from '../checks/harmless.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import {
  CHECK_KEYS,
  type CheckKey,
  type FactSets,
  type JudgedChecks,
  type Judgements,
  judgeFacts,
  lookupAgain,
  type Outcomes,
} from '../checks/run.ts'
import { seenObjection, seenStepUp } from '../checks/seen-fixes.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import { overLimits } from '../checks/spf/index.ts'
import type { Domain } from '../names/domain.ts'
import { overlay } from '../net/dns/overlay.ts'
import { parseRecord } from '../net/dns/record-text.ts'
import { DnsError, type Resolve } from '../net/dns/resolver.ts'
import { isBetter, rankOf, type Trial } from '../plan/trial.ts'
import { pointsOf } from '../report/inputs.ts'
import type { Score } from '../report/score.ts'
import type { Ctx } from '../world.ts'
import { isWithin, type Lender, lenderOf, repairBeside, takesRecords } from './borrowed-name.ts'
import type { Repeatable } from './context.ts'

/** Maximum number of different records that are tried per domain; findings with further ones get no fix. */
const MAX_TRIED = 10

type Setting = {
  readonly domain: Domain
  readonly input: CheckInput
  readonly facts: FactSets
  readonly judged: JudgedChecks
  readonly score: Score
  /** What the checks said before, for the facts that a fix leaves as they are. */
  readonly judgements?: Judgements
}
type Offer = { readonly key: CheckKey; readonly finding: Finding; readonly fix: DnsRecord }
/** The result for a finding: the fix with its gain, or why there is none. */
type Result = { readonly gain: number; readonly next: boolean; readonly seen?: string } | { readonly repair?: string }

/**
 * The outcomes with only those fixes that help. Each fix is laid over the DNS; the facts that depend on it are looked up again, with most answers already
 * cached, and judged with the resulting context. A fix is kept if its finding is gone, no more severe one took its place (nor one of its severity if the check
 * fails), and the check did not become unknown. It must also do no harm, and not be published at a name whose records come from an alias or a wildcard. Of a
 * finding with a `next`, the record for now must resolve another finding, and `next` after it this one. `gain` is the score with the fix minus the score
 * without. At most 10 records are tried, those of the most severe findings first.
 */
export async function withTriedFixes(ctx: Repeatable<Ctx>, setting: Setting): Promise<Outcomes> {
  const { outcomes } = setting.judged
  const found = CHECK_KEYS.flatMap((key) =>
    (outcomes[key]?.findings ?? []).flatMap((finding) => (finding.fix ? [{ key, finding, fix: finding.fix }] : [])),
  ).sort((a, b) => rankOf(b) - rankOf(a))
  if (found.length === 0) return outcomes
  const lender = await lenderAt(ctx, setting.domain, found)
  const results = new Map<Finding, Result>()
  const seen = await setting.input.seen?.()
  const lay = layer(ctx, setting)
  await Promise.all(
    found.map(async (offer) => {
      const isBorrowed = lender !== undefined && isBorrowedAt(lender, setting.domain, offer.fix)
      results.set(offer.finding, isBorrowed ? borrowed(lender, offer.fix) : await tried(setting, offer, lay, seen))
    }),
  )
  const kept = CHECK_KEYS.flatMap((key) => {
    const outcome = outcomes[key]
    return outcome ? [[key, withResults(key, outcome, results)]] : []
  })
  return Object.fromEntries(kept) as Outcomes
}

/** The source of the domain's records, if a fix at the name itself or below it would remove them ({@link lenderOf}); looked up only if there is such a fix. */
async function lenderAt(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  found: readonly { readonly fix: DnsRecord }[],
): Promise<Lender | DnsError | undefined> {
  if (!found.some(({ fix }) => isWithin(fix.name, domain))) return undefined
  return lenderOf(ctx.anew(), domain).catch((error: unknown) => {
    if (error instanceof DnsError) return error
    throw error
  })
}

const isBorrowedAt = (lender: Lender | DnsError, domain: Domain, { name }: DnsRecord): boolean =>
  lender instanceof DnsError ? name === domain : takesRecords(lender, domain, name)

const borrowed = (lender: Lender | DnsError, fix: DnsRecord): Result =>
  lender instanceof DnsError ? {} : { repair: repairBeside(lender, fix) }

type Lay = (key: CheckKey, records: readonly DnsRecord[]) => Promise<Trial | undefined>

/** Lays records over the DNS and judges the domain with them, the same ones once; undefined for a record that cannot be read, and beyond the tenth. */
function layer(ctx: Repeatable<Ctx>, { domain, input, facts, judgements }: Setting): Lay {
  const trials = new Map<string, Promise<Trial | undefined>>()
  const judged = async (key: CheckKey, records: readonly DnsRecord[]): Promise<Trial | undefined> => {
    const read = records.map(({ name, rtype, value }) => parseRecord({ name: `${name}.`, type: rtype, value }, domain))
    const laid = read.flatMap((one) => (one.ok ? [one.value] : []))
    if (laid.length < records.length) return undefined
    const again = ctx.anew()
    let isCutOff = false
    const note = (error: unknown): void => {
      isCutOff ||= error instanceof DnsError && error.reason === 'too_many_questions'
    }
    const resolve: Resolve = (...question) => {
      const answer = again.resolve(...question)
      answer.catch(note)
      return answer
    }
    const found = await lookupAgain({ ...again, resolve: overlay(resolve, laid) }, domain, input, {
      facts,
      key,
      types: records.map(({ rtype }) => rtype),
    })
    // What could not be looked up cannot be compared.
    return isCutOff ? undefined : { facts: found, ...judgeFacts(found, judgements) }
  }
  return (key, records) => {
    const id = JSON.stringify([key, records])
    const known = trials.get(id)
    if (known || trials.size >= MAX_TRIED) return known ?? Promise.resolve(undefined)
    const trial = judged(key, records)
    trials.set(id, trial)
    return trial
  }
}

/** Whether a fix helps, and by how much. */
async function tried(
  { facts, judged, score }: Setting,
  { key, finding, fix }: Offer,
  lay: Lay,
  seen: SeenMail | undefined,
): Promise<Result> {
  const before: Trial = { facts, ...judged }
  const after = await lay(key, [fix])
  if (!after || harmOf({ key, fix, before, after })) return {}
  const objection = seen && seenObjection({ key, before, after }, seen)
  if (objection !== undefined) return { repair: `Not yet: ${objection}` }
  if (!isBetter({ key, finding }, before, after, finding.next !== undefined)) return refusal(finding, after)
  const gain = pointsOf(after) - score.score
  const told = seen && key === 'dmarc' ? seenStepUp({ before, after }, seen)?.words : undefined
  return {
    gain,
    next: finding.next !== undefined && (await leadsOn({ key, finding, fix: finding.next }, after, lay, seen)),
    ...(told !== undefined && { seen: told }),
  }
}

/** Whether a record may follow the fix: it resolves the finding and does no harm to what the fix left. */
async function leadsOn(
  { key, finding, fix: next }: Offer,
  now: Trial,
  lay: Lay,
  seen: SeenMail | undefined,
): Promise<boolean> {
  const then = await lay(key, [next])
  return (
    then !== undefined &&
    !harmOf({ key, fix: next, before: now, after: then, seen }) &&
    isBetter({ key, finding }, now, then)
  )
}

/** What to do in place of a record that would only replace one permerror by another. */
function refusal({ id }: Finding, { facts }: Trial): Result {
  const repair = id === 'spf.many_records' && !(facts.spf instanceof Error) ? overLimits(facts.spf) : undefined
  return repair === undefined ? {} : { repair }
}

function withResults(
  key: CheckKey,
  outcome: Outcome<unknown>,
  results: ReadonlyMap<Finding, Result>,
): Outcome<unknown> {
  const findings = outcome.findings.map((finding) => {
    const result = results.get(finding)
    if (!result) return finding
    const { fix, next, ...rest } = finding
    if (!('gain' in result)) return { ...rest, ...result }
    const kept = { ...rest, ...(fix && { fix }), ...(next && result.next ? { next } : {}), gain: result.gain }
    if (result.seen === undefined) return kept
    const { repair } = presentFinding(registry[key].table, kept)
    return { ...kept, repair: [repair, result.seen].filter((one) => one !== undefined).join(' ') }
  })
  return { ...outcome, findings }
}
