import { isSame } from '../base/json.ts'
import { once } from '../base/share-work.ts'
import { lookupMailHosts, type MailHosts } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import { altersAnswers, type OverlayChange } from '../net/dns/overlay.ts'
import { type Answer, DnsError, type RecordType, type Resolve, settled } from '../net/dns/resolver.ts'
import { FetchError } from '../net/fetch.ts'
import { DialError } from '../net/smtp/dial.ts'
import type { Ctx } from '../world.ts'
import {
  type Check,
  type CheckInput,
  type FindingTable,
  type LookupFailure,
  notApplicable,
  type Outcome,
} from './check.ts'
import { CONTEXT_FIELDS, type DomainContext, UNKNOWN_CONTEXT } from './context.ts'
import { contextOf } from './domain-context.ts'
import { severityOf } from './finding.ts'
import { roleProblem } from './problems.ts'
import type { PartName } from './questions.ts'
import * as registry from './registry.ts'
import { namedAddresses } from './spf/index.ts'

type Registry = typeof registry
export type CheckKey = keyof Registry
type FactsOf<C> = C extends Check<infer Facts> ? Facts : never
type FactsBy = { readonly [K in CheckKey]: FactsOf<Registry[K]> }
type OptionalKey = {
  [K in CheckKey]: Registry[K] extends { readonly when: unknown } ? K : never
}[CheckKey]
/** A value for each registered check; optional ones may be missing. */
type ByCheck<Values extends { readonly [K in CheckKey]: unknown }> = {
  readonly [K in Exclude<CheckKey, OptionalKey>]: Values[K]
} & { readonly [K in OptionalKey]?: Values[K] }
/** The result of the lookups, or why one has no answer. */
export type FactSets = ByCheck<{ readonly [K in CheckKey]: FactsBy[K] | LookupFailure }>
export type Outcomes = ByCheck<{ readonly [K in CheckKey]: Outcome<FactsBy[K]> }>

const CHECKS: { readonly [K in CheckKey]: Check<FactsBy[K]> } = registry
export const CHECK_KEYS = Object.keys(registry) as readonly CheckKey[]

/** A domain as all checks together judge it. */
export type JudgedChecks = {
  readonly context: DomainContext
  readonly outcomes: Outcomes
  /**
   * Each reading of what has no answer, the context's own first, with what the checks say then; absent if the role is
   * certain.
   */
  readonly readings?: readonly Reading[]
}
type Reading = { readonly context: DomainContext; readonly outcomes: Outcomes }

/**
 * The result of one check before the others are done: its own fields, and whether it has an answer at all. It is judged
 * when all results are available.
 */
export type CheckPart = {
  readonly check: CheckKey
  readonly answered: boolean
} & Readonly<Record<string, unknown>>

/**
 * The facts of every check, all lookups at once, optional ones only on request. Never rejects with a {@link
 * LookupFailure}: that is data. `onPart` is called with each check as its lookup ends.
 */
export async function lookupFacts(
  ctx: Ctx,
  domain: Domain,
  input: CheckInput,
  onPart?: (part: CheckPart) => void,
): Promise<FactSets> {
  const keys = CHECK_KEYS.filter((key) => CHECKS[key].when?.(input) ?? true)
  const found = await lookupEach(keys, lookupOne('spf', ctx, domain, input), { ctx, domain, input }, onPart)
  return found as FactSets // one entry for each key that is not optional
}

/** A context in which to look up, and the subject. */
export type Asking = { readonly ctx: Ctx; readonly domain: Domain; readonly input: CheckInput }

/** The facts of these checks, with SPF as it was looked up; `onPart` is called with each as its lookup ends. */
async function lookupEach(
  keys: readonly CheckKey[],
  spf: Promise<FactSets['spf']>,
  { ctx, domain, input }: Asking,
  onPart?: (part: CheckPart) => void,
): Promise<Partial<FactSets>> {
  const known = { ...input, namedSenders: async () => namedIn(await spf) }
  const hosts = sharedHosts(ctx, domain)
  const found = await Promise.all(
    keys.map(async (key) => {
      const facts = await (key === 'spf' ? spf : lookupOne(key, ctx, domain, known, hosts))
      onPart?.(partOf(key, facts))
      return [key, facts] as const
    }),
  )
  return Object.fromEntries(found)
}

/**
 * The facts with those of `keys` looked up again that the changes may alter, and the PTR names if SPF names other
 * senders. `ctx` answers as if the changes were published. Facts that come out equal are the same objects as before.
 * Never rejects with a {@link LookupFailure}.
 */
export async function lookupChecks(
  before: FactSets,
  candidates: { readonly keys: readonly CheckKey[]; readonly changes: readonly OverlayChange[] },
  { ctx, domain, input }: Asking,
): Promise<FactSets> {
  const keys = new Set(await alteredBy(before, candidates.keys, candidates.changes))
  const spf = keys.has('spf') ? await lookupOne('spf', ctx, domain, input) : before.spf
  if (spf !== before.spf && namedIn(spf).join() !== namedIn(before.spf).join()) keys.add('ptr')
  return withChanged(before, await lookupEach([...keys], Promise.resolve(spf), { ctx, domain, input }))
}

/**
 * The facts with those of `again` that are not equal; those that are stay, and depend on the queries of both lookups.
 */
async function withChanged(before: FactSets, again: Partial<FactSets>): Promise<FactSets> {
  const changed: Record<string, unknown> = {}
  for (const [key, found] of Object.entries(again)) {
    const was = before[key as CheckKey]
    if (!isSame(found, was)) changed[key] = found
    else if (was && found !== was) await addQueries(was, found)
  }
  return { ...before, ...changed }
}

/** The facts depend also on the queries of another lookup, as far as these were answered in another way. */
async function addQueries(was: object, found: object): Promise<void> {
  const [own, more] = [QUERIES.get(was), QUERIES.get(found)]
  if (!own || !more) return
  const known = new Set(await own.answers())
  const answers = await more.answers()
  const others = more.asked.filter((_, i) => !known.has(answers[i]!))
  if (others.length > 0) QUERIES.set(was, queriesOf([...own.asked, ...others]))
}

function partOf<K extends CheckKey>(key: K, found: FactsBy[K] | LookupFailure): CheckPart {
  const check: Check<FactsBy[K]> = CHECKS[key]
  const outcome = judged(check, found, UNKNOWN_CONTEXT)
  const answered = outcome.status !== 'unknown'
  const fields = { ...check.present(outcome) }
  return { ...fields, check: key, answered, ...(answered ? {} : { reason: outcome.reason.text }) }
}

/** The addresses that a usable SPF record names one by one. */
const namedIn = (spf: FactsBy['spf'] | LookupFailure): readonly Ip[] =>
  isFailure(spf) || !spf.tree || !spf.reading ? [] : namedAddresses(spf.tree, spf.reading.extent.passing)

/** The facts of one check, or why there are none. */
export async function lookupOne<K extends CheckKey>(
  key: K,
  ctx: Ctx,
  domain: Domain,
  input: CheckInput,
  hosts: SharedHosts = sharedHosts(ctx, domain),
): Promise<FactsBy[K] | LookupFailure> {
  const { resolve, asked } = noting(ctx, key === 'starttls' ? 'mx' : key)
  let needsHosts = false
  const mailHosts = (): Promise<MailHosts> => {
    needsHosts = true
    return hosts.found()
  }
  const parts = PARTS_OF[key] ?? [key]
  ctx.questions?.start(...parts)
  const looking = CHECKS[key].lookup({ ...ctx, resolve }, domain, { ...input, mailHosts })
  const found = await orFailure<FactsBy[K]>(looking.finally(() => ctx.questions?.end(...parts)))
  if (typeof found === 'object' && found !== null && !isFailure(found))
    QUERIES.set(found, queriesOf(needsHosts ? [...asked, ...hosts.asked] : asked))
  return found
}

/** The mail hosts of the domain, which several checks need, and the queries for them. */
type SharedHosts = { readonly found: () => Promise<MailHosts>; readonly asked: readonly Asked[] }
function sharedHosts(ctx: Ctx, domain: Domain): SharedHosts {
  const { resolve, asked } = noting(ctx, 'mx')
  return { asked, found: once(() => lookupMailHosts({ resolve, signal: ctx.signal }, domain)) }
}

/** The resolver for a part of the queries, and what it was asked. */
function noting(ctx: Ctx, part: PartName): { readonly resolve: Resolve; readonly asked: Asked[] } {
  const asked: Asked[] = []
  const options = ctx.questions && { part }
  const resolve: Resolve = (name, type, signal, own) => {
    const answer = ctx.resolve(name, type, signal, own ? { ...options, ...own } : options)
    asked.push({ name, type, answer })
    return answer
  }
  return { resolve, asked }
}

/** The parts of the queries of a check, if not one of its name; STARTTLS asks what MX asks. */
const PARTS_OF: Readonly<Partial<Record<CheckKey, readonly PartName[]>>> = {
  dmarc: ['dmarc', 'consents'],
  ptr: ['ptr', 'senders'],
  dkim: ['dkim', 'guessed'],
  starttls: [],
}

type Asked = { readonly name: string; readonly type: RecordType; readonly answer: Promise<Answer> }
/** The queries of a lookup, and their answers, which are looked at again for each fix that is tried. */
type Queries = {
  readonly asked: readonly Asked[]
  readonly answers: () => Promise<readonly (Answer | DnsError)[]>
}
const queriesOf = (asked: readonly Asked[]): Queries => ({
  asked,
  answers: once(() => Promise.all(asked.map(({ answer }) => settled(answer)))),
})
/** The queries of the lookup from which facts come: with the same answers the facts are the same. */
const QUERIES = new WeakMap<object, Queries>()

/**
 * Those of `keys` whose facts the changes may alter: a query of their lookup is answered differently, or they have no
 * facts.
 */
async function alteredBy(
  facts: FactSets,
  keys: readonly CheckKey[],
  changes: readonly OverlayChange[],
): Promise<readonly CheckKey[]> {
  const alters = altersAnswers(changes)
  const isAltered = async (key: CheckKey): Promise<boolean> => {
    const found = facts[key]
    const queries = found && QUERIES.get(found)
    if (!queries) return true
    const { asked } = queries
    const answers = await queries.answers()
    return answers.some((answer, i) => alters(asked[i]!.name, asked[i]!.type, answer))
  }
  const altered = await Promise.all(keys.map(isAltered))
  return keys.filter((_, i) => altered[i])
}

/**
 * Judges every fact set once, with the resulting context. With `known`, a check whose facts are the same object, and
 * for which all is equal that its judge read of the context, keeps its outcome.
 */
export function judgeFacts(facts: FactSets, known?: Judgements): JudgedChecks {
  const context = contextOf(facts)
  if (context.otherRoles.length === 0) return { context, outcomes: judgeAll(facts, context, known) }
  const remembered = known ?? rememberedJudgements() // most readings differ for few checks
  const readings = readingsOf(context).map((one) => ({ context: one, outcomes: judgeAll(facts, one, remembered) }))
  const outcomes = CHECK_KEYS.flatMap((key) => {
    const [own, ...others] = readings.map((one): Outcome<unknown> | undefined => one.outcomes[key])
    return own ? [[key, sameInAll([own, ...others.map((one) => one!)], context)] as const] : []
  })
  return { context, outcomes: Object.fromEntries(outcomes) as unknown as Outcomes, readings }
}

function judgeAll(facts: FactSets, context: DomainContext, known: Judgements | undefined): Outcomes {
  const keys = CHECK_KEYS.filter((key) => facts[key] !== undefined)
  const outcomes = Object.fromEntries(
    keys.map((key) => [key, known?.(key, facts, context) ?? judgeOne(key, facts, context)]),
  )
  return outcomes as Outcomes // one entry for each fact set
}

export type Judgements = (key: CheckKey, facts: FactSets, context: DomainContext) => Outcome<unknown>

/** Judges each check at most once for the same facts and an equal context, as far as its judge reads it. */
export function rememberedJudgements(): Judgements {
  const judgements = new Map<CheckKey, Judgement[]>()
  return (key, facts, context) => {
    const known = judgements.get(key) ?? []
    const same = known.find(
      ({ of, read }) => of === facts[key] && read.every(([field, was]) => isSame(was, context[field])),
    )
    if (same) return same.outcome
    const fields = new Set<keyof DomainContext>()
    const outcome = judgeOne(key, facts, watched(context, fields))
    const read = [...fields].map((field) => [field, context[field]] as const)
    judgements.set(key, [...known, { of: facts[key], read, outcome }])
    return outcome
  }
}

type Judgement = {
  readonly of: unknown
  readonly read: readonly (readonly [field: keyof DomainContext, value: unknown])[]
  readonly outcome: Outcome<unknown>
}

/** The context, with a note of each field that is read; a Proxy takes several times as long. */
const watched = (context: DomainContext, fields: Set<keyof DomainContext>): DomainContext =>
  Object.create(WATCHED, { context: { value: context }, fields: { value: fields } })
const WATCHED = Object.defineProperties(
  {},
  Object.fromEntries(
    CONTEXT_FIELDS.map((field) => [
      field,
      {
        get(this: { readonly context: DomainContext; readonly fields: Set<string> }) {
          this.fields.add(field)
          return this.context[field]
        },
      },
    ]),
  ),
)

const readingsOf = ({ otherRoles, noMail, ...rest }: DomainContext): readonly [DomainContext, ...DomainContext[]] => [
  { ...rest, ...(noMail && { noMail }), otherRoles: [] },
  ...otherRoles.map((other) => ({ ...rest, ...other, otherRoles: [] })),
]

/** The checks that apply to a reverse zone; that of MX says what it is. */
const OF_ZONE: ReadonlySet<CheckKey> = new Set(['mx', 'ns', 'soa', 'dnssec'])

/** The outcome of one check. A lookup without an answer is `unknown` with the reason. */
function judgeOne<K extends CheckKey>(
  key: K,
  facts: { readonly [_ in K]?: FactsBy[K] | LookupFailure },
  context: DomainContext,
): Outcome<FactsBy[K]> {
  const found: FactsBy[K] | LookupFailure | undefined = facts[key]
  if (found === undefined) throw new Error(`the check ${key} was not run`)
  const check: Check<FactsBy[K]> = CHECKS[key]
  // For a name that does not exist, one check reports it and the others have nothing to judge.
  const judge: Judge<FactsBy[K]>['judge'] = (own, as) =>
    (as.role === 'no_such_domain' && key !== 'mx') || (as.reverse && !OF_ZONE.has(key))
      ? notApplicable(own, as)
      : check.judge(own, as)
  return atMostMedium(check.table, judged({ judge }, found, context), context)
}

/** What is missing at a name without mail of its own is never grave. */
function atMostMedium<Facts>(table: FindingTable, outcome: Outcome<Facts>, { role }: DomainContext): Outcome<Facts> {
  if (role !== 'no_mail') return outcome
  const findings = outcome.findings.map((finding) =>
    ['high', 'critical'].includes(severityOf(table, finding)) ? { ...finding, severity: 'medium' as const } : finding,
  )
  return { ...outcome, findings }
}

/**
 * Whether the facts after a fix of one check leave the domain's mail unharmed; facts that could not be looked up before
 * are not compared.
 */
export function isHarmless<K extends CheckKey>(
  key: K,
  before: { readonly [_ in K]?: FactsBy[K] | LookupFailure },
  after: { readonly [_ in K]?: FactsBy[K] | LookupFailure },
  context: DomainContext,
): boolean {
  const check: Check<FactsBy[K]> = CHECKS[key]
  const [was, is]: readonly (FactsBy[K] | LookupFailure | undefined)[] = [before[key], after[key]]
  if (!check.isHarmless || was === undefined || isFailure(was)) return true
  return is !== undefined && !isFailure(is) && check.isHarmless(was, is, context)
}

/** Looks up and judges one check, with the context of SPF, MX and DMARC. */
export async function runInContext<K extends CheckKey>(
  key: K,
  ctx: Ctx,
  domain: Domain,
  input: CheckInput = {},
): Promise<Outcome<FactsBy[K]>> {
  const asked = lookupOne('spf', ctx, domain, input)
  const [found, spf, mx, dmarc] = await Promise.all([
    lookupOne(key, ctx, domain, { ...input, namedSenders: async () => namedIn(await asked) }),
    asked,
    lookupOne('mx', ctx, domain, input),
    lookupOne('dmarc', ctx, domain, input),
  ])
  return judged(CHECKS[key], found, contextOf({ spf, mx, dmarc }))
}

type Judge<Facts> = Pick<Check<Facts>, 'judge'>
/**
 * If the role is not certain, only what is the same in every possible one is said: otherwise the status is `unknown`,
 * with the findings of every role.
 */
function judged<Facts>(check: Judge<Facts>, found: Facts | LookupFailure, context: DomainContext): Outcome<Facts> {
  if (isFailure(found)) return { status: 'unknown', reason: found.problem, findings: [] }
  if (context.otherRoles.length === 0) return check.judge(found, context)
  const [own, ...others] = readingsOf(context)
  return sameInAll([check.judge(found, own), ...others.map((one) => check.judge(found, one))], context)
}

/** What an outcome says in every reading of the context. */
function sameInAll<Facts>(
  [outcome, ...others]: readonly [Outcome<Facts>, ...Outcome<Facts>[]],
  context: Pick<DomainContext, 'because'>,
): Outcome<Facts> {
  if (outcome.status === 'unknown') return outcome
  const inAll = (id: string): boolean => others.every(({ findings }) => findings.some((finding) => finding.id === id))
  const findings = outcome.findings.filter(({ id }) => inAll(id))
  if (others.every(({ status }) => status === outcome.status)) return { ...outcome, findings }
  return {
    status: 'unknown',
    reason: roleProblem('not_certain', { why: context.because }),
    facts: outcome.facts,
    findings,
  }
}

/** The only place where a query without an answer becomes data. Any other error is a bug and rejects. */
async function orFailure<Facts>(lookup: Promise<Facts>): Promise<Facts | LookupFailure> {
  try {
    return await lookup
  } catch (error) {
    if (isFailure(error)) return error
    throw error
  }
}

const isFailure = (found: unknown): found is LookupFailure =>
  found instanceof DnsError || found instanceof DialError || found instanceof FetchError
