import type { CheckInput, DnsRecord, Finding, Outcome } from '../checks/check.ts'
import { harmOf } from '../checks/harmless.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import {
  CHECK_KEYS,
  type CheckKey,
  type CheckPart,
  type FactSets,
  type JudgedChecks,
  type Judgements,
  judgeFacts,
  lookupFacts,
  lookupFix,
  type Outcomes,
  rememberedJudgements,
} from '../checks/run.ts'
import { seenObjection, seenStepUp } from '../checks/seen-fixes.ts'
import type { SeenMail } from '../checks/seen-mail.ts'
import { lookupMailHosts } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import { registrableDomain } from '../names/suffix.ts'
import { overlay } from '../net/dns/overlay.ts'
import { parseRecord } from '../net/dns/record-text.ts'
import { DnsError, type RecordType, type Resolve, settled } from '../net/dns/resolver.ts'
import { insteadOf, isBetter, rankOf, type Trial } from '../plan/trial.ts'
import type { Score } from '../score/score.ts'
import { pointsOf, scoreOf } from '../score/score-inputs.ts'
import type { Ctx } from '../world.ts'
import type { Repeatable } from './context.ts'

/**
 * The judgement of all checks about a domain; `judgements`: what they said before the fixes were tried, and with each.
 */
export type Judged = JudgedChecks & {
  readonly facts: FactSets
  readonly score: Score
  readonly judgements: Judgements
}

/**
 * Looks up the facts of all checks (`onPart` is called as each ends), judges them once with the context of all, tries
 * every fix before it is offered, and computes the score. Never rejects because of a remote server.
 */
export async function judgeDomain(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  input: CheckInput,
  onPart?: (part: CheckPart) => void,
): Promise<Judged> {
  const facts = await firstFacts(ctx, domain, input, onPart)
  const judgements = rememberedJudgements()
  const judged = judgeFacts(facts, judgements)
  const score = scoreOf(judged)
  const outcomes = await withTriedFixes(ctx, { domain, input, facts, judged, score, judgements })
  return { ...judged, facts, outcomes, score, judgements }
}

/**
 * The facts of all checks; their queries, and those of whatever follows in this context, are limited by the number of
 * mail hosts.
 */
export function firstFacts(
  ctx: Repeatable<Ctx>,
  domain: Domain,
  input: CheckInput,
  onPart?: (part: CheckPart) => void,
): Promise<FactSets> {
  ctx.permit(mailAddresses(ctx, domain))
  return lookupFacts(ctx.anew(), domain, input, onPart)
}

/** The number of addresses of the mail hosts, by queries that the MX check shares; none if they have no answer. */
async function mailAddresses(ctx: Ctx, domain: Domain): Promise<number> {
  const mail = await settled(lookupMailHosts(ctx, domain))
  return mail instanceof Error ? 0 : new Set(mail.hosts.flatMap(({ addresses }) => addresses)).size
}

/** The checks that the points of a trial depend on. */
const SCORED = ['spf', 'dkim', 'dmarc', 'mx', 'ptr'] as const

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
 * The outcomes with only those fixes that help. Each fix is laid over the DNS; the facts that depend on it are looked
 * up again, with most answers already cached, and judged with the resulting context. A fix is kept if its finding is
 * gone, no more severe one took its place (nor one of its severity if the check fails), and the check did not become
 * unknown. It must also do no harm, and not be published at a name whose records come from an alias or a wildcard. Of a
 * finding with a `next`, the record for now must resolve another finding, and `next` after it this one. `gain` is the
 * score with the fix minus the score without. At most 10 records are tried, those of the most severe findings first.
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

/**
 * The source of the domain's records, if a fix at the name itself or below it would remove them ({@link lenderOf});
 * looked up only if there is such a fix.
 */
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

/**
 * Lays records over the DNS and judges the domain with them, the same ones once; undefined for a record that cannot be
 * read, and beyond the tenth.
 */
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
      if (ctx.isSpent()) answer.catch(note)
      return answer
    }
    const asking = { ctx: { ...again, resolve: overlay(resolve, laid) }, domain, input }
    const found = await lookupFix(facts, { key, changes: laid }, asking)
    // What could not be looked up cannot be compared.
    return isCutOff ? undefined : { facts: found, ...judgeFacts(found, judgements, [...new Set([key, ...SCORED])]) }
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
  if (!isBetter({ key, finding }, before, after, finding.next !== undefined)) {
    const repair = insteadOf(finding, after)
    return repair === undefined ? {} : { repair }
  }
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

const TYPES: readonly RecordType[] = ['A', 'AAAA', 'MX', 'TXT']

/** The source of a name's records, if they are not its own: a record published at the name would remove all of them. */
type Lender = { readonly kind: 'alias' | 'wildcard'; readonly name: string }

/**
 * The target of `domain` if it is an alias (no other record may exist beside a CNAME, RFC 1034 §3.6.2), or the wildcard
 * that provides its records (RFC 4592 §2.2.1); undefined if the records are its own. A wildcard is detected by a
 * made-up name beside the domain with the same records; a registrable domain has none above it. At most 8 queries, two
 * if there is no wildcard. Rejects with DnsError if one has no answer.
 */
export async function lenderOf(
  { resolve, signal, random }: Pick<Ctx, 'resolve' | 'signal' | 'random'>,
  domain: Domain,
): Promise<Lender | undefined> {
  const [target] = (await resolve(domain, 'TXT', signal)).cname
  if (target !== undefined) return { kind: 'alias', name: target }
  if ((registrableDomain(domain) ?? domain) === domain) return undefined
  const parent = domain.slice(domain.indexOf('.') + 1)
  const letters = Array.from({ length: 20 }, () => String.fromCharCode(97 + Math.floor(random() * 26)))
  const madeUp = `${letters.join('')}.${parent}`
  if ((await resolve(madeUp, 'A', signal)).kind === 'nxdomain') return undefined
  const isSame = await Promise.all(
    TYPES.map(async (type) => {
      const [own, other] = await Promise.all([resolve(domain, type, signal), resolve(madeUp, type, signal)])
      return shown(own) === shown(other)
    }),
  )
  return isSame.every(Boolean) ? { kind: 'wildcard', name: `*.${parent}` } : undefined
}

const shown = ({ records }: { readonly records: readonly unknown[] }): string =>
  JSON.stringify(records.map((record) => JSON.stringify(record)).sort())

/**
 * Whether a record at `name` would remove the records that `domain` gets from elsewhere: at the name itself, and below
 * one that exists only by a wildcard (RFC 4592 §2.2.2).
 */
export const takesRecords = ({ kind }: Lender, domain: Domain, name: string): boolean =>
  name === domain || (kind === 'wildcard' && isWithin(name, domain))

export const isWithin = (name: string, domain: Domain): boolean => name === domain || name.endsWith(`.${domain}`)

/** What to do in place of publishing a record at a name whose records come from elsewhere. */
export const repairBeside = ({ kind, name }: Lender, { rtype, value }: DnsRecord): string =>
  kind === 'alias'
    ? `The name is an alias (CNAME) of ${name}, and an alias cannot have other records (RFC 1034 §3.6.2). If ${name} is yours, publish ${rtype} ${value} there. Otherwise replace the alias with the addresses of its target, and publish the record at the same name.`
    : `The name gets its records from the wildcard ${name}; a record at the name itself or below it hides all of them (RFC 4592 §2.2.1). Publish ${rtype} ${value} together with all records that the wildcard gives the name now.`
