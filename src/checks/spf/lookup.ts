import { atMost } from '../../base/at-most.ts'
import type { Problem } from '../../base/problem.ts'
import type { Domain } from '../../names/domain.ts'
import { ip } from '../../names/ip.ts'
import { type Answer, DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { isPasted } from '../pasted.ts'
import { type Ask, askOnce, checkedName, presentationOf } from './ask.ts'
import { expandName } from './expand.ts'
import { SPF_VERSION } from './mend.ts'
import { isSpf, MAX_RECORD, parseSpf, tooLong } from './parse.ts'
import { spfNote } from './problems.ts'
import { readTree, type SpfReading } from './reading.ts'
import { MAX_LOOKUPS, MAX_MX_NAMES } from './run.ts'
import { type FreeTerm, lookupFree } from './takeover.ts'
import {
  allOf,
  asksDns,
  type Directive,
  formatDirective,
  formatMacroString,
  type MacroString,
  reachable,
  type SpfRecord,
} from './terms.ts'
import type { Found, NodeState, SpfNode, SpfTerm } from './tree.ts'
import { lookupProvider, type UnnamedProvider } from './unnamed.ts'

/** Maximum number of records read per include tree: more than three times the lookup limit, enough for any tree. */
const MAX_RECORDS = 40
/** Maximum nesting of the records: to a deeper one a client needs more than the ten lookups. */
const MAX_LEVELS = 11
/**
 * Maximum number of queries for `a`, `mx` and `exists` terms per tree, without those for the addresses of MX hosts; an
 * `a` whose addresses matter takes two.
 */
const MAX_HOST_QUESTIONS = 30
/** Maximum number of MX hosts per tree whose addresses are queried. */
const MAX_EXCHANGES = 12
const AT_ONCE = 20
/** Maximum number of TXT records shown that look like SPF but are not. */
const MAX_SIMILAR = 5

/** The DNS records of a domain's SPF. */
export type SpfLookup = {
  readonly domain: Domain
  /** False: NXDOMAIN. */
  readonly exists: boolean
  /** The name to which the domain itself is an alias (CNAME). */
  readonly alias?: string
  /** The TXT records that are SPF records, sorted, because the DNS returns them in any order. */
  readonly records: readonly string[]
  /** TXT records that seem to be meant as SPF but are not (RFC 7208 §4.5). */
  readonly similar: readonly string[]
  /** The include tree, if there is a record. */
  readonly tree?: SpfNode
  /** The terms whose names anybody could register; absent without a tree. */
  readonly free?: readonly FreeTerm[]
  /** Why it is not known whether a name can be registered. */
  readonly freeUnknown?: Problem
  /** The mailbox provider of the MX hosts, if the tree does not name it. */
  readonly unnamed?: UnnamedProvider
  /** Which bound of the reading was reached. */
  readonly limit?: Limit
}
type Limit = 'records' | 'levels' | 'hosts'

/** The DNS records, and their evaluation. `reading` is present if `tree` is. */
export type SpfFacts = SpfLookup & { readonly reading?: SpfReading }

/**
 * Reads a domain's SPF record and everything that it includes, level by level: one round of queries per level and at
 * most two more. At most 40 records on 11 levels, 30 queries about hosts, 24 about those of MX records and 5 about registrable
 * domains; the same again for the record of the mailbox provider of the MX hosts, if it is not named. Rejects with DnsError only if the domain's own TXT records have no answer; a query below without an answer
 * is `unknown` in the tree.
 */
export async function lookupSpf(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<SpfFacts> {
  const ask = askOnce(ctx)
  const answer = await ask(domain, 'TXT')
  const records = answer.records.filter(isSpf).sort()
  const similar = answer.records.filter((text) => !isSpf(text) && isSimilar(text)).slice(0, MAX_SIMILAR)
  const alias = answer.cname.at(-1)
  const exists = answer.kind !== 'nxdomain'
  const found = { domain, exists, ...(alias !== undefined && { alias }), records, similar }
  if (records.length === 0) return found
  const mx = settled(ask(domain, 'MX')) // the MX check asks the same
  const { root, limit } = await lookupTree(ask, draftNode(domain, records, { path: [], before: 0 }))
  await closeLoops(ask, root)
  const treeAt = async (name: string): Promise<SpfNode> => {
    const { records: texts } = await ask(name, 'TXT')
    return (await lookupTree(ask, draftNode(name, texts.filter(isSpf).sort(), { path: [], before: 0 }))).root
  }
  const [{ free, unknown }, unnamed] = await Promise.all([
    lookupFree(ask, root),
    lookupProvider(await mx, root, treeAt),
  ])
  const open = unknown === undefined ? {} : { freeUnknown: unknown }
  return {
    ...found,
    tree: root,
    ...(limit === undefined ? {} : { limit }),
    free,
    ...open,
    ...(unnamed && { unnamed }),
    reading: readTree(root),
  }
}

/** Maximum number of includes with macros that are asked for a loop. */
const MAX_LOOPS = 3
/** Values of macros that stand for any sender: two addresses and mailboxes that nothing names. */
const ANYBODY = [
  { ip: ip('198.51.100.77'), local: 'mailsonde-a', helo: 'mailsonde-a.invalid', validated: 'unknown', unixSeconds: 1 },
  { ip: ip('203.0.113.191'), local: 'mailsonde-b', helo: 'mailsonde-b.invalid', validated: 'unknown', unixSeconds: 2 },
]

/**
 * Includes whose names depend on the message, and which lead to the record itself whatever the macros expand to (a
 * wildcard with the same record): two questions each, at most 3 includes of the domain's own record.
 */
async function closeLoops(ask: Ask, root: Draft): Promise<void> {
  const text = root.records[0]
  const open = root.terms.filter(({ leads, state }) => leads && state === 'macro').slice(0, MAX_LOOPS)
  for (const term of open) {
    const target = targetOf(term, root.record)
    const names = ANYBODY.map(
      (values) => target && expandName(target, { ...values, domain: root.domain, senderDomain: root.domain }),
    )
    const answers = await Promise.all(names.map((name) => name && asked(ask(presentationOf(name), 'TXT'))))
    const isSame = answers.every(
      (answer) => answer && !(answer instanceof DnsError) && answer.records.filter(isSpf).join() === text,
    )
    if (!isSame || names[0] === undefined) continue
    term.state = 'found'
    term.node = { domain: names[0], state: 'loop', records: [], terms: [], path: [root.domain], before: 1 }
  }
}

const targetOf = ({ directive }: TermDraft, record: SpfRecord | undefined): MacroString | undefined =>
  directive && 'domain' in directive.mechanism ? directive.mechanism.domain : record?.redirect

/** White space, quotes and invisible characters may precede it. */
const isSimilar = (text: string): boolean =>
  isPasted(text, SPF_VERSION) || /^["'\\\s\u200b-\u200f\u2018-\u201f]{0,10}(?:v\s?=\s?spf|spf2\.0|spf1)/i.test(text)

type Budget = { records: number; hosts: number; limit?: Limit }

async function lookupTree(ask: Ask, root: Draft): Promise<{ root: Draft; limit?: Limit }> {
  const budget: Budget = { records: MAX_RECORDS - 1, hosts: MAX_HOST_QUESTIONS }
  const hosts: Promise<Follow>[] = []
  let level: readonly Draft[] = [root]
  while (level.length > 0) {
    const terms = level.flatMap((node) => node.terms.map((term, i) => ({ node, term, lookups: node.before + i + 1 })))
    const wave = terms.filter(({ node, term, lookups }) => isAsked(term, lookups, node, budget))
    for (const { term, lookups } of wave) {
      if (term.leads) continue
      const host = lookupHosts(ask, term, lookups <= MAX_LOOKUPS)
      host.catch(() => {}) // awaited after the tree
      hosts.push(host)
    }
    const leading = wave.filter(({ term }) => term.leads)
    level = await atMost(AT_ONCE, leading, ({ node, term, lookups }) =>
      follow(ask, term, { path: [...node.path, node.domain], before: lookups }),
    )
  }
  // What follows from the answers about hosts comes after the tree, in the order of the terms.
  const exchanges = { exchanges: MAX_EXCHANGES }
  const next = (await Promise.all(hosts)).map((follow) => follow?.(exchanges))
  await Promise.all(next)
  return { root, ...(budget.limit === undefined ? {} : { limit: budget.limit }) }
}

/** Whether a term is queried: it has a name, and the budget of its kind is not used up. */
function isAsked(term: TermDraft, lookups: number, { path }: Draft, budget: Budget): boolean {
  if (term.state !== 'not_asked' || term.name === undefined || term.directive?.mechanism.kind === 'ptr') return false
  if (term.leads && path.length + 1 >= MAX_LEVELS) {
    budget.limit ??= 'levels'
    return false
  }
  const kind = term.leads ? 'records' : 'hosts'
  const questions = term.directive?.mechanism.kind === 'a' && lookups <= MAX_LOOKUPS ? 2 : 1
  budget[kind] -= questions
  if (budget[kind] >= 0) return true
  budget.limit ??= kind
  return false
}

async function follow(ask: Ask, term: TermDraft, place: Place): Promise<Draft> {
  const name = term.name!
  if (place.path.some((above) => above.toLowerCase() === name.toLowerCase())) {
    term.state = 'found'
    return (term.node = { domain: name, state: 'loop', records: [], terms: [], ...place })
  }
  try {
    const answer = await ask(name, 'TXT')
    term.state = answer.kind === 'found' ? 'found' : 'void'
    noteGone(term, answer)
    return (term.node = draftNode(name, answer.records.filter(isSpf).sort(), place))
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    term.state = error.reason === 'invalid_name' ? 'malformed' : 'unknown'
    term.reason = error.problem
    return (term.node = unanswered(name, term.state, error.problem, place))
  }
}

/** Number of `mx` hosts whose addresses may still be queried. Shared by the terms of a tree. */
type HostBudget = { exchanges: number }
/** The queries that follow from the first answer about a host, if any do. */
type Follow = ((budget: HostBudget) => Promise<void>) | undefined

/**
 * Queries what an `a`, `mx` or `exists` term finds. `reached`: a client can get to it within ten lookups, so its
 * addresses of both families matter; of another term only whether its lookup is void. An `a` finds something if its
 * name has an address of either family, because a client may use either.
 */
async function lookupHosts(ask: Ask, term: TermDraft, reached: boolean): Promise<Follow> {
  switch (term.directive!.mechanism.kind) {
    case 'mx':
      return lookupExchanges(ask, term, reached)
    case 'a':
      return reached ? lookupBoth(ask, term) : lookupEither(ask, term)
    default:
      return lookupExists(ask, term)
  }
}

async function lookupBoth(ask: Ask, term: TermDraft): Promise<undefined> {
  const [a, aaaa] = await Promise.all([asked(ask(term.name!, 'A')), asked(ask(term.name!, 'AAAA'))])
  const found = { ip4: foundIn(a), ip6: foundIn(aaaa) }
  term.found = found
  if (failedAs(term, a)) return undefined
  noteGone(term, a)
  if (found.ip4.kind === 'found' || found.ip6.kind === 'found') term.state = 'found'
  else if (!failedAs(term, aaaa)) term.state = 'void'
  return undefined
}

/** AAAA is queried only if there is no A. */
async function lookupEither(ask: Ask, term: TermDraft): Promise<Follow> {
  const a = await asked(ask(term.name!, 'A'))
  if (failedAs(term, a)) return undefined
  term.state = a.kind === 'found' ? 'found' : 'void'
  if (a.kind !== 'nodata') return undefined
  return async () => {
    const aaaa = await asked(ask(term.name!, 'AAAA'))
    if (!failedAs(term, aaaa) && aaaa.kind === 'found') term.state = 'found'
  }
}

/** RFC 7208 §5.7: A, for clients of either family. */
async function lookupExists(ask: Ask, term: TermDraft): Promise<undefined> {
  const a = await asked(ask(term.name!, 'A'))
  if (failedAs(term, a)) return undefined
  noteGone(term, a)
  term.state = a.kind === 'found' ? 'found' : 'void'
  const found: Found = { kind: term.state, addresses: [] }
  term.found = { ip4: found, ip6: found }
  return undefined
}

async function lookupExchanges(ask: Ask, term: TermDraft, reached: boolean): Promise<Follow> {
  const mx = await asked(ask(term.name!, 'MX'))
  if (failedAs(term, mx)) return undefined
  noteGone(term, mx)
  term.state = mx.kind === 'found' ? 'found' : 'void'
  term.exchanges = mx.records.length
  if (!reached || mx.records.length > MAX_MX_NAMES) return undefined
  const names = mx.records.map(({ exchange }) => exchange).filter((exchange) => exchange !== '') // RFC 7505: null MX
  const { state } = term
  return async (budget) => {
    const wanted = names.slice(0, budget.exchanges)
    budget.exchanges -= wanted.length
    const [ip4, ip6] = await Promise.all(
      (['A', 'AAAA'] as const).map((type) => Promise.all(wanted.map((name) => asked(ask(name, type))))),
    )
    const all = wanted.length === names.length
    term.found = { ip4: together(state, ip4!, all), ip6: together(state, ip6!, all) }
  }
}

/** The known addresses of the hosts of an `mx`. */
function together(kind: Found['kind'], answers: readonly (Answer<'A' | 'AAAA'> | DnsError)[], all: boolean): Found {
  const failed = answers.find((answer) => answer instanceof DnsError)
  const addresses = answers.flatMap((answer) => foundIn(answer).addresses)
  if (failed) return { kind, addresses, partial: true, reason: failed.problem }
  return { kind, addresses, ...(all ? {} : { partial: true }) }
}

function foundIn(answer: Answer<'A' | 'AAAA'> | DnsError): Found {
  if (answer instanceof DnsError) return { kind: 'unknown', addresses: [], reason: answer.problem }
  return { kind: answer.kind === 'found' ? 'found' : 'void', addresses: answer.records }
}

async function asked<T>(answer: Promise<T>): Promise<T | DnsError> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof DnsError) return error
    throw error
  }
}

/** Records the name that does not exist, if so. */
function noteGone(term: TermDraft, { kind, cname }: Answer): void {
  if (kind === 'nxdomain') term.gone = cname.at(-1) ?? term.name!
}

/** Whether there was no answer, which the term then records. */
function failedAs<T extends object>(term: TermDraft, answer: T | DnsError): answer is DnsError {
  if (!(answer instanceof DnsError)) return false
  term.state = (answer.reason === 'invalid_name' ? 'malformed' : 'unknown') satisfies SpfTerm['state']
  term.reason = answer.problem
  return true
}

/** A node while the tree is being read: its terms are filled in as answers arrive. */
export type Draft = Omit<SpfNode, 'terms'> & {
  readonly terms: readonly TermDraft[]
  /** The names above it. */
  readonly path: readonly string[]
  /** The minimum number of lookups of a client that gets here (RFC 7208 §4.6.4). */
  readonly before: number
}
type TermDraft = {
  readonly text: string
  readonly directive?: Directive
  readonly name?: string
  /** An include or a redirect. */
  readonly leads: boolean
  state: SpfTerm['state']
  reason?: Problem
  node?: Draft
  gone?: string
  exchanges?: number
  found?: NonNullable<SpfTerm['found']>
}

/** Maximum number of terms kept per record of those that cost a lookup; the limit of the standard is ten. */
const MAX_TERMS = 64

/** The position of a node in its tree. */
export type Place = Pick<Draft, 'path' | 'before'>

/** The node of a name whose TXT records were read; its terms are not queried yet. */
function draftNode(domain: string, records: readonly string[], place: Place): Draft {
  const node = { domain, records, terms: [], ...place }
  if (records.length === 0) return { ...node, state: 'none' }
  if (records.length > 1) return { ...node, state: 'several' } // RFC 7208 §4.5
  const text = records[0]!
  if (text.length > MAX_RECORD) return { ...node, state: 'too_long', problem: tooLong(text) }
  const record = parseSpf(text)
  if (!record.ok) return { ...node, state: 'syntax', problem: record.problem, at: record.at ?? 0 }
  const { terms, leftOut } = termsOf(record.value, domain, place.path[0] ?? domain)
  return { ...node, state: 'record', record: record.value, terms, ...(leftOut > 0 ? { termsLeftOut: leftOut } : {}) }
}

/** The node of a name that could not be read. */
export const unanswered = (domain: string, state: NodeState, reason: Problem, place: Place): Draft => ({
  domain,
  state,
  reason,
  records: [],
  terms: [],
  ...place,
})

function termsOf(record: SpfRecord, domain: string, root: string): { terms: TermDraft[]; leftOut: number } {
  const asking = reachable(record).filter(({ mechanism }) => asksDns(mechanism))
  const terms: TermDraft[] = asking.slice(0, MAX_TERMS).map((directive) => {
    const { mechanism } = directive
    const target = 'domain' in mechanism ? mechanism.domain : undefined
    const leads = mechanism.kind === 'include'
    return { text: formatDirective(directive), directive, leads, ...named(target, leads, domain, root) }
  })
  if (record.redirect && !allOf(record)) {
    const text = `redirect=${formatMacroString(record.redirect)}`
    terms.push({ text, leads: true, ...named(record.redirect, true, domain, root) })
  }
  return { terms, leftOut: Math.max(0, asking.length - MAX_TERMS) }
}

/**
 * The name that a term queries. `%{d}` is the record's domain and `%{o}` the first domain of the reading; the other
 * macros depend on the message.
 */
function named(
  target: MacroString | undefined,
  leads: boolean,
  domain: string,
  root: string,
): Pick<TermDraft, 'name' | 'state' | 'reason'> {
  const name = target ? expandName(target, { domain, senderDomain: root }) : domain
  if (name === undefined) return { state: 'macro' }
  if (leads && checkedName(name) === undefined) return { name, state: 'malformed', reason: spfNote('name') }
  return { name: presentationOf(name), state: 'not_asked' }
}
