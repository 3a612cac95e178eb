import { atMost } from '../../base/at-most.ts'
import type { Problem } from '../../base/problem.ts'
import type { Domain } from '../../names/domain.ts'
import { ip } from '../../names/ip.ts'
import { isPasted } from '../../net/dns/pasted.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { type Ask, askOnce, presentationOf } from './ask.ts'
import { expandName } from './expand.ts'
import { SPF_VERSION } from './mend.ts'
import { isSpf } from './parse.ts'
import { extentOf } from './passing/wide.ts'
import {
  type Draft,
  draftNode,
  type Follow,
  follow,
  lookupHosts,
  type Reader,
  type TermDraft,
  TOP,
  targetOf,
} from './read.ts'
import { readTree, type SpfReading } from './reading.ts'
import { type FreeTerm, lookupFree } from './takeover.ts'
import { type Found, leads, MAX_LOOKUPS, nodesOf, type SpfNode } from './tree.ts'
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
  const { root, limit } = await lookupTree(ask, domain, records)
  const treeAt = async (name: string): Promise<SpfNode> =>
    (await lookupTree(ask, name, (await ask(name, 'TXT')).records)).root
  const [{ free, unknown }, unnamed] = await Promise.all([
    lookupFree(ask, root),
    lookupProvider(await mx, root, treeAt),
    readWildcards(ask, root), // last: the others read the tree as it was published
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

/** Maximum number of terms with macros that are asked, for a loop and for what everybody passes. */
const MAX_ASKED = 3
/** Values of macros that stand for any sender: two addresses and mailboxes that nothing names. */
const ANYBODY = [
  { ip: ip('198.51.100.77'), local: 'mailsonde-a', helo: 'mailsonde-a.invalid', validated: 'unknown', unixSeconds: 1 },
  { ip: ip('203.0.113.191'), local: 'mailsonde-b', helo: 'mailsonde-b.invalid', validated: 'unknown', unixSeconds: 2 },
]

/**
 * Terms whose names depend on the message, and which say the same of every sender, because they lead below a wildcard:
 * `exists` of names that all exist, and includes of the domain's own record that lead to this very record, or to one by
 * which everybody passes. Two questions each, for at most 3 `exists` and 3 includes; a record that is found is read
 * like any other. An `exists` is not known where a question failed and the other does not show that some fail.
 */
async function readWildcards(ask: Ask, root: Draft): Promise<void> {
  const sender = { senderDomain: root.domain }
  const answersTo = async (term: TermDraft, { domain, record }: Draft, type: 'A' | 'TXT') => {
    const target = targetOf(term, record?.redirect)
    const names = ANYBODY.flatMap((values) => (target && expandName(target, { ...values, ...sender, domain })) ?? [])
    const answers = await Promise.all(names.map((name) => settled(ask(presentationOf(name), type))))
    const found = answers.flatMap((answer) =>
      answer instanceof DnsError || answer.kind !== 'found' ? [] : [answer.records.map((record) => String(record))],
    )
    if (found.length === ANYBODY.length) return { name: names[0]!, found }
    const failed = answers.filter((answer) => answer instanceof DnsError)
    const isOpen = failed.length > 0 && found.length + failed.length === ANYBODY.length
    return isOpen && failed.every(({ reason }) => reason !== 'too_many_questions') ? failed[0] : undefined
  }
  const existing = nodesOf(root).flatMap((node) => node.terms.filter(isOpenExists).map((term) => ({ node, term })))
  const leading = root.terms.filter((term) => leads(term) && term.state === 'macro')
  await Promise.all([
    ...existing.slice(0, MAX_ASKED).map(async ({ node, term }) => {
      const answers = await answersTo(term, node, 'A')
      if (!answers) return
      if (answers instanceof DnsError) return void Object.assign(term, { state: 'unknown', reason: answers.problem })
      const found: Found = { kind: 'found', addresses: [] }
      Object.assign(term, { state: 'found', found: { ip4: found, ip6: found } })
    }),
    ...leading.slice(0, MAX_ASKED).map(async (term) => {
      const answers = await answersTo(term, root, 'TXT')
      if (!answers || answers instanceof DnsError) return
      const [record, other] = answers.found.map((texts) => texts.filter(isSpf))
      if (!record?.length || record.join() !== other?.join()) return
      const { name } = answers
      const place = { path: [root.domain], before: 1 }
      const node: Draft =
        record.join() === root.records[0]
          ? { domain: name, state: 'loop', records: [], terms: [], ...place }
          : { ...(await lookupTree(ask, name, record)).root, ...place }
      if (node.state === 'loop' || extentOf(node).everybody) Object.assign(term, { state: 'found', node })
    }),
  ])
}

const isOpenExists = ({ directive, state }: TermDraft): boolean =>
  state === 'macro' && directive?.qualifier === '+' && directive.mechanism.kind === 'exists'

/** White space, quotes and invisible characters may precede it. */
const isSimilar = (text: string): boolean =>
  isPasted(text, SPF_VERSION) || /^["'\\\s\u200b-\u200f\u2018-\u201f]{0,10}(?:v\s?=\s?spf|spf2\.0|spf1)/i.test(text)

type Budget = { records: number; hosts: number; limit?: Limit }

/** The tree of a name with these TXT records, for all clients: macros that depend on the message are not expanded. */
async function lookupTree(ask: Ask, name: string, texts: readonly string[]): Promise<{ root: Draft; limit?: Limit }> {
  const reader: Reader = { ask, values: { senderDomain: name }, families: [4, 6] }
  const root = draftNode(reader.values, name, texts, TOP)
  const budget: Budget = { records: MAX_RECORDS - 1, hosts: MAX_HOST_QUESTIONS }
  const hosts: Promise<Follow>[] = []
  let level: readonly Draft[] = [root]
  while (level.length > 0) {
    const terms = level.flatMap((node) => node.terms.map((term, i) => ({ node, term, lookups: node.before + i + 1 })))
    const wave = terms.filter(({ node, term, lookups }) => isAsked(term, lookups, node, budget))
    for (const { term, lookups } of wave) {
      if (leads(term)) continue
      const host = lookupHosts(reader, term, lookups <= MAX_LOOKUPS)
      host.catch(() => {}) // awaited after the tree
      hosts.push(host)
    }
    const leading = wave.filter(({ term }) => leads(term))
    level = await atMost(AT_ONCE, leading, ({ node, term, lookups }) =>
      follow(reader, term, { path: [...node.path, node.domain], before: lookups }),
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
  if (leads(term) && path.length + 1 >= MAX_LEVELS) {
    budget.limit ??= 'levels'
    return false
  }
  const kind = leads(term) ? 'records' : 'hosts'
  const questions = term.directive?.mechanism.kind === 'a' && lookups <= MAX_LOOKUPS ? 2 : 1
  budget[kind] -= questions
  if (budget[kind] >= 0) return true
  budget.limit ??= kind
  return false
}
