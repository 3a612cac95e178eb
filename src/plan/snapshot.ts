import type { Grade } from '../answers/weights.ts'
import type { CheckInput, Severity } from '../checks/check.ts'
import { severityOf } from '../checks/finding.ts'
import * as registry from '../checks/registry.ts'
import type { Repeatable } from '../checks/repeatable.ts'
import {
  CHECK_KEYS,
  type CheckKey,
  type CheckPart,
  type FactSets,
  type JudgedChecks,
  type Judgements,
  judgeFacts,
  lookupChecks,
  lookupFacts,
  lookupOne,
  rememberedJudgements,
} from '../checks/run.ts'
import { type Domain, isWithin } from '../names/domain.ts'
import { registrableDomain } from '../names/suffix.ts'
import { type OverlayChange, overlay } from '../net/dns/overlay.ts'
import { presentationOf } from '../net/dns/record-text.ts'
import { DnsError, type RecordType, settled } from '../net/dns/resolver.ts'
import { hasOneKind, textKind } from '../net/dns/text-kind.ts'
import type { Fetch } from '../net/fetch.ts'
import { gradeBecause, gradeOf, type Score } from '../score/score.ts'
import { scoreOf } from '../score/score-inputs.ts'
import type { Ctx } from '../world.ts'
import { lenderOf, mayBeLent, repairBeside, takesRecords } from './lender.ts'

/** A domain as it is judged: the facts of all checks, the context of all, what each check says, and the score. */
export type Snapshot = JudgedChecks & {
  readonly facts: FactSets
  /** Something was left out that a check of its own may ask. */
  readonly isCut?: true
  readonly score: Score & {
    readonly grade: Grade | null
    /** The finding that keeps the grade below the points. */
    readonly because: { readonly finding: string; readonly severity: Severity } | null
  }
}

/** What is treated as done: changes of the DNS, and the text of an MTA-STS policy. */
export type Change = {
  readonly records: readonly OverlayChange[]
  readonly policy?: { readonly url: string; readonly text: string }
}

/** The subject of a check, and how it is looked up again. */
export type Subject = {
  readonly ctx: Repeatable<Ctx>
  readonly domain: Domain
  readonly input: CheckInput
  /** What the checks said, for the facts that a change leaves as they are; absent: nothing is tried. */
  readonly judgements?: Judgements
}

/** `isTried`: changes will be tried. */
export const subjectOf = (ctx: Repeatable<Ctx>, domain: Domain, input: CheckInput, isTried = true): Subject => ({
  ...{ ctx, domain, input },
  ...(isTried && { judgements: rememberedJudgements() }),
})

/**
 * Looks up the facts of all checks (`onPart` is called as each ends) and judges them. The queries, and those of the
 * changes that are tried later, are limited by the number of mail hosts. Never rejects because of a remote server.
 */
export async function lookUp(subject: Subject, onPart?: (part: CheckPart) => void): Promise<Snapshot> {
  const { ctx, domain, input } = subject
  return snapshotOf(await lookupFacts(ctx.anew(), domain, input, onPart), subject.judgements)
}

/**
 * Judges facts once, with the context of all; pure. `mostUnknown`: how many points may at most be counted that are not
 * known; absent: all.
 */
export function snapshotOf(
  facts: FactSets,
  judgements?: Judgements,
  mostUnknown: number = Number.POSITIVE_INFINITY,
): Snapshot {
  const judged = judgeFacts(facts, judgements)
  const found = scoreOf(judged)
  const score = { ...found, score: Math.min(found.score, (found.scoreMin ?? found.score) + mostUnknown) }
  const findings = CHECK_KEYS.flatMap((key) =>
    (judged.outcomes[key]?.findings ?? []).map((finding) => ({
      id: finding.id,
      severity: severityOf(registry[key].table, finding),
    })),
  )
  const grade = gradeOf({ score: score.score, least: score.scoreMin, most: score.scoreMax }, findings)
  const because = gradeBecause({ score: score.score, grade }, findings, score.breakdown)
  return { ...judged, facts, score: { ...score, grade, because } }
}

/**
 * The domain with `change` laid over its DNS; `changed` are the records in which it differs from `before`. Only the
 * lookups that they can alter are repeated, through the answers that the check already has; mail hosts and name servers
 * are not contacted again. Never rejects because of a remote server.
 */
export async function tryChange(
  { ctx, domain, input, judgements }: Subject,
  before: Snapshot,
  change: Change,
  changed: readonly OverlayChange[] = change.records,
): Promise<Snapshot> {
  await ownTurn()
  const run = ctx.anew()
  run.questions?.expect(
    changed.flatMap(({ type, data }) => ((type === 'A' || type === 'AAAA') && data !== undefined ? [data] : [])),
  )
  const world = { ...run, resolve: overlay(run.resolve, change.records), fetch: withPolicy(run.fetch, change.policy) }
  const keys = [...new Set(changed.flatMap((one) => affectedBy(one, domain)))]
  const facts = await lookupChecks(before.facts, { keys, changes: changed }, { ctx: world, domain, input })
  const isFetched = change.policy && facts.mta_sts === before.facts.mta_sts
  const policed = isFetched ? { ...facts, mta_sts: await lookupOne('mta_sts', world, domain, input) } : facts
  // What only this try could not ask may turn out badly: nothing is promised on it.
  if (!before.isCut && !run.questions?.isCut()) return snapshotOf(policed, judgements)
  const { score, scoreMin = score } = before.score
  return { ...snapshotOf(policed, judgements, score - scoreMin), isCut: true }
}

/**
 * Why a record cannot be published at its name: the name's records come from an alias or a wildcard, or that is not
 * known. Undefined: it can.
 */
export async function obstacleTo(
  { ctx, domain }: Subject,
  record: { readonly name: string; readonly rtype: string; readonly value: string | undefined },
): Promise<string | undefined> {
  // A registrable domain lives from no wildcard: beside its alias no record can stand, and below it any.
  if (!isWithin(record.name, domain) || (record.name !== domain && registrableDomain(domain) === domain))
    return undefined
  try {
    const lender = await lenderOf(ctx.anew(), domain)
    return lender && takesRecords(lender, domain, record.name) ? repairBeside(lender, domain, record) : undefined
  } catch (error) {
    if (error instanceof DnsError && error.reason === 'too_many_questions') return mayBeLent(domain)
    if (error instanceof DnsError) return `Whether a record can stand at ${domain} is not known: ${error.message}.`
    throw error
  }
}

/** Whether addresses would take the place of others at their name, which some other use may need, or may do so. */
export async function hidesAddresses({ ctx }: Subject, changes: readonly OverlayChange[]): Promise<boolean> {
  for (const { name, type, data } of changes) {
    if ((type !== 'A' && type !== 'AAAA') || data === undefined) continue
    const answer = await settled(ctx.resolve(name, type, ctx.signal))
    if (answer instanceof DnsError || (answer.kind === 'found' && !answer.records.includes(data as never))) return true
  }
  return false
}

/** The values of a name and type as published, in presentation format; or why they are not known. */
export type Published = { readonly values: readonly string[] } | { readonly unknown: string }

/** What is published at a name and type. The records of an alias are those of its target, and not the name's. */
export async function publishedAt({ ctx }: Subject, now: Snapshot, name: string, type: RecordType): Promise<Published> {
  if (now.outcomes.ns.findings.some(({ id }) => id === 'ns.differs'))
    return { unknown: 'the name servers of the domain give different answers' }
  const answer = await settled(ctx.resolve(name, type, ctx.signal))
  if (answer instanceof DnsError) return { unknown: answer.message }
  if (answer.cname.length > 0 && type !== 'CNAME') return { values: [] }
  const values = answer.records.map((data) => presentationOf(type, data))
  return { values: (await isOfWildcard(ctx, name, type, values)) ? [] : values }
}

/** Whether the alias at a name is that of a wildcard: a made-up name beside it has it too. Undefined: not known. */
export async function isWildcardAlias({ ctx }: Subject, name: string, target: string): Promise<boolean | undefined> {
  const other = await settled(ctx.resolve(nameBeside(name), 'TXT', ctx.signal))
  return other instanceof DnsError ? undefined : other.cname[0] === target
}

const nameBeside = (name: string): string => `mailsonde-made-up${name.slice(name.indexOf('.'))}`

/** Whether texts at a name for records of one kind are those of a wildcard: a made-up name beside it has them too. */
async function isOfWildcard(
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  name: string,
  type: RecordType,
  values: readonly string[],
): Promise<boolean> {
  if (type !== 'TXT' || !hasOneKind(name) || values.length === 0) return false
  const other = await settled(ctx.resolve(nameBeside(name), type, ctx.signal))
  // What stands at a name for records of another kind is a wildcard's, as far as that is not known.
  if (other instanceof DnsError) return values.every((text) => textKind('', text) !== textKind(name, text))
  return other.records.some((data) => values.includes(presentationOf(type, data)))
}

/**
 * Resolves in a turn of the event loop in which no other plan tries anything: however many plans are made, whoever asks
 * something else waits for one trial.
 */
const ownTurn = (): Promise<void> => (lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve))))
let lastTurn: Promise<void> = Promise.resolve()

/** The policy file as if it were published. */
const withPolicy =
  (fetch: Fetch, policy: Change['policy']): Fetch =>
  async (url, signal, options) =>
    policy && String(url) === policy.url
      ? { status: 200, contentType: 'text/plain', body: Buffer.from(policy.text), url: policy.url }
      : fetch(url, signal, options)

const ALL_MAIL: readonly CheckKey[] = ['spf', 'mx', 'ptr', 'dkim', 'dmarc', 'mta_sts', 'tls_rpt', 'dane', 'bimi']

/** The checks whose facts a change can alter. The TLS of mail hosts and the name servers stay as they were seen. */
function affectedBy({ name, type }: OverlayChange, domain: Domain): readonly CheckKey[] {
  const place = PLACES.find(([pattern]) => pattern.test(name))
  if (place) return place[1]
  return name === domain && type === 'TXT' ? ['spf', 'ptr', 'dkim', 'dmarc'] : ALL_MAIL
}

const PLACES: readonly (readonly [RegExp, readonly CheckKey[]])[] = [
  [/^_dmarc\.|\._report\._dmarc\./, ['dmarc', 'bimi']],
  [/\._domainkey\./, ['dkim']],
  [/^_mta-sts\./, ['mta_sts']],
  [/^_smtp\._tls\./, ['tls_rpt']],
  [/\._bimi\./, ['bimi']],
  [/\.(?:in-addr|ip6)\.arpa$/, ['ptr']],
]

/** The removal of the texts at a name, beside which no alias can stand. */
export async function textsAt({ ctx }: Subject, name: string): Promise<readonly OverlayChange[]> {
  const answer = await settled(ctx.resolve(name, 'TXT', ctx.signal))
  if (answer instanceof DnsError || answer.cname.length > 0) return []
  return answer.records.map((data) => ({ name, type: 'TXT', remove: true, data }))
}
