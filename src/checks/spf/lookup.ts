import { atMost } from '../../base/at-most.ts'
import type { Problem } from '../../base/problem.ts'
import type { Domain } from '../../names/domain.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { type Ask, askOnce } from './ask.ts'
import { type Draft, draftNode, type Place, type TermDraft, unanswered } from './draft.ts'
import { lookupHosts, noteGone } from './lookup-hosts.ts'
import { isSpf } from './parse.ts'
import { readTree, type SpfReading } from './reading.ts'
import { MAX_LOOKUPS } from './run.ts'
import { type FreeTerm, lookupFree } from './takeover.ts'
import type { SpfNode } from './tree.ts'

/** Maximum number of records read per include tree: more than three times the lookup limit, enough for any tree. */
const MAX_RECORDS = 40
/** Maximum number of queries for `a`, `mx` and `exists` terms per tree, without those for the addresses of MX hosts; an `a` whose addresses matter takes two. */
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
  /** Which bound of the reading was reached. */
  readonly limit?: 'records' | 'hosts'
}

/** The DNS records, and their evaluation. `reading` is present if `tree` is. */
export type SpfFacts = SpfLookup & { readonly reading?: SpfReading }

/**
 * Reads a domain's SPF record and everything that it includes, level by level: one round of queries per level and at most two more. At most 40 records, 30
 * queries about hosts, 24 about those of MX records and 5 about registrable domains. Rejects with DnsError only if the domain's own TXT records have no
 * answer; a query below without an answer is `unknown` in the tree.
 */
export async function lookupSpf(ctx: Pick<Ctx, 'resolve' | 'signal'>, domain: Domain): Promise<SpfFacts> {
  const ask = askOnce(ctx)
  const answer = await ask(domain, 'TXT')
  const records = answer.records.filter(isSpf).sort()
  const similar = answer.records.filter((text) => !isSpf(text) && isSimilar(text)).slice(0, MAX_SIMILAR)
  const found = { domain, exists: answer.kind !== 'nxdomain', records, similar }
  if (records.length === 0) return found
  const { root, limit } = await lookupTree(ask, draftNode(domain, records, { path: [], before: 0 }))
  const { free, unknown } = await lookupFree(ask, root)
  const open = unknown === undefined ? {} : { freeUnknown: unknown }
  return { ...found, tree: root, ...(limit === undefined ? {} : { limit }), free, ...open, reading: readTree(root) }
}

/** White space, quotes and invisible characters may precede it. */
const isSimilar = (text: string): boolean =>
  /^["'\\\s\u200b-\u200f\u2018-\u201f]{0,10}(?:v\s?=\s?spf|spf2\.0|spf1)/i.test(text)

type Budget = { records: number; hosts: number; limit?: 'records' | 'hosts' }

async function lookupTree(ask: Ask, root: Draft): Promise<{ root: Draft; limit?: 'records' | 'hosts' }> {
  const budget: Budget = { records: MAX_RECORDS - 1, hosts: MAX_HOST_QUESTIONS }
  const exchanges = { exchanges: MAX_EXCHANGES }
  const failures: unknown[] = []
  const hosts: Promise<unknown>[] = []
  let level: readonly Draft[] = [root]
  while (level.length > 0) {
    const terms = level.flatMap((node) => node.terms.map((term, i) => ({ node, term, lookups: node.before + i + 1 })))
    const wave = terms.filter(({ term, lookups }) => isAsked(term, lookups, budget))
    for (const { term, lookups } of wave)
      if (!term.leads)
        hosts.push(lookupHosts(ask, term, lookups <= MAX_LOOKUPS, exchanges).catch((error) => failures.push(error)))
    const leading = wave.filter(({ term }) => term.leads)
    level = await atMost(AT_ONCE, leading, ({ node, term, lookups }) =>
      follow(ask, term, { path: [...node.path, node.domain], before: lookups }),
    )
  }
  await Promise.all(hosts)
  if (failures.length > 0) throw failures[0]
  return { root, ...(budget.limit === undefined ? {} : { limit: budget.limit }) }
}

/** Whether a term is queried: it has a name, and the budget of its kind is not used up. */
function isAsked(term: TermDraft, lookups: number, budget: Budget): boolean {
  if (term.state !== 'not_asked' || term.name === undefined || term.directive?.mechanism.kind === 'ptr') return false
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
