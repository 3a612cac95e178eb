import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import { type Cidr, contains } from '../../names/cidr.ts'
import {
  providerOfHost,
  providerOfInbound,
  providerOfInclude,
  providerOfReturnPath,
  spfIncludeOf,
} from '../../providers/index.ts'
import type { SpfFacts } from './lookup.ts'
import { mend } from './mend.ts'
import {
  allOf,
  type Directive,
  formatDirective,
  formatMacroString,
  formatSpf,
  type Qualifier,
  reachable,
  type SpfRecord,
} from './terms.ts'
import {
  lookupsOf,
  MAX_LOOKUPS,
  MAX_VOID_LOOKUPS,
  networksOf,
  type SpfNode,
  type SpfTerm,
  voidTermsOf,
} from './tree.ts'

/** From strict to soft: merging uses the softest, so that no mail is refused that one of the records accepted. */
const STRICTNESS: readonly Qualifier[] = ['-', '~', '?']

/**
 * The record that is offered in place of texts that receivers do not use: each as its owner meant it, several of them
 * merged (RFC 7208 §3.2), and `-all` as `~all`, so that mail that receivers accept today is not refused at once.
 * Undefined if a fault remains that only the owner can correct.
 */
export function mended(texts: readonly string[]): string | undefined {
  const record = meantBy(texts)
  return record && formatSpf(softened(record))
}

/** The one record that the owner of some texts meant; undefined when a fault remains. */
export function meantBy(texts: readonly string[]): SpfRecord | undefined {
  const records: SpfRecord[] = []
  for (const text of texts) {
    const found = mend(text)
    if (!found.ok) return undefined
    records.push(...found.value.records)
  }
  return records.length === 1 ? records[0]! : merged(records)
}

/** Whether texts that receivers cannot read as a record name senders, as they were meant; read once. */
export function meansSenders(facts: SpfFacts): boolean {
  const known = MEANING.get(facts)
  if (known !== undefined) return known
  const { records, similar, reading } = facts
  const meant = reading?.permerrors.length === 0 ? undefined : meantBy(records.length > 0 ? records : similar)
  const means = meant !== undefined && namesSomebody(meant)
  MEANING.set(facts, means)
  return means
}
const MEANING = new WeakMap<SpfFacts, boolean>()

/** The record with `~all` for `-all`; a record that names nobody stays unchanged. */
export const softened = (record: SpfRecord): SpfRecord =>
  namesSomebody(record) && allOf(record)?.qualifier === '-' ? ending(record, '~') : record

/** Whether the record itself names a sender, or delegates that to another record. */
export const namesSomebody = (record: SpfRecord): boolean =>
  (record.redirect !== undefined && !allOf(record)) ||
  reachable(record).some(({ qualifier, mechanism }) => qualifier === '+' && mechanism.kind !== 'all')

/** One record with the combined meaning of several, with the softest of their `all`s. */
function merged(records: readonly SpfRecord[]): SpfRecord {
  const redirects = distinct(
    records.flatMap((record) => (record.redirect && !allOf(record) ? [record.redirect] : [])),
    formatMacroString,
  )
  const alls = records.flatMap((record) => allOf(record)?.qualifier ?? [])
  const alone = redirects.length === 1 && alls.length === 0
  const directives = distinct(
    [
      ...records.flatMap((record) => reachable(record).filter(({ mechanism }) => mechanism.kind !== 'all')),
      // With another record's all, a redirect would have no effect, so it becomes an include.
      ...(alone
        ? []
        : redirects.map((domain): Directive => ({ qualifier: '+', mechanism: { kind: 'include', domain } }))),
    ],
    formatDirective,
  )
  const exp = records.find((record) => record.exp)?.exp
  return {
    directives: alone ? directives : [...directives, { qualifier: softest(alls), mechanism: { kind: 'all' } }],
    ...(alone ? { redirect: redirects[0]! } : {}),
    ...(exp ? { exp } : {}),
    unknown: [],
  }
}

/** `+all` is never offered; `~all` replaces it. */
const softest = (alls: readonly Qualifier[]): Qualifier =>
  STRICTNESS[Math.max(...alls.map((qualifier) => STRICTNESS.indexOf(qualifier === '+' ? '~' : qualifier)))] ?? '~'

/** The record with another `all`, or with one at the end if there was none. */
export const withAll = (record: SpfRecord, qualifier: Qualifier): string => formatSpf(ending(record, qualifier))

/** {@link withAll}, as a record. */
export function ending(record: SpfRecord, qualifier: Qualifier): SpfRecord {
  const before = reachable(record).filter(({ mechanism }) => mechanism.kind !== 'all')
  return { ...withoutRedirect(record), directives: [...before, { qualifier, mechanism: { kind: 'all' } }] }
}

/** The record without the directives that `drop` names. */
export const without = (record: SpfRecord, drop: (directive: Directive) => boolean): SpfRecord => ({
  ...record,
  directives: record.directives.filter((directive) => !drop(directive)),
})

/** The record with an include before its `all`. */
export const withInclude = (record: SpfRecord, name: string): string => {
  const own: Directive = { qualifier: '+', mechanism: { kind: 'include', domain: [{ kind: 'literal', text: name }] } }
  const end = record.directives.findIndex(({ mechanism }) => mechanism.kind === 'all')
  const at = end < 0 ? record.directives.length : end
  return formatSpf({ ...record, directives: record.directives.toSpliced(at, 0, own) })
}

/** The record without unused terms: terms after `all`, a redirect beside it, and duplicates. */
export function tidied(record: SpfRecord): SpfRecord {
  const rest = allOf(record) ? withoutRedirect(record) : record
  return { ...rest, directives: distinct(reachable(record), withoutQualifier) }
}

/**
 * The record with the senders named after `all` in front of it, and with a redirect beside `all` as an include: they
 * were meant to pass.
 */
export function reordered(record: SpfRecord): SpfRecord {
  const all = allOf(record)
  if (!all) return tidied(record)
  const { redirect } = record
  const named = record.directives.filter(({ mechanism }) => mechanism.kind !== 'all')
  const led: readonly Directive[] = redirect
    ? [{ qualifier: '+', mechanism: { kind: 'include', domain: redirect } }]
    : []
  return { ...withoutRedirect(record), directives: distinct([...named, ...led, all], withoutQualifier) }
}

const withoutQualifier = ({ mechanism }: Directive): string => formatDirective({ qualifier: '+', mechanism })

const withoutRedirect = ({ directives, exp, unknown }: SpfRecord): SpfRecord => ({
  directives,
  unknown,
  ...(exp ? { exp } : {}),
})

function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = keyOf(item).toLowerCase()
    return !seen.has(key) && seen.add(key)
  })
}

/**
 * Maximum number of directives that are compared with each other; from a longer record only duplicates and empty
 * directives are removed.
 */
const MAX_COMPARED = 200

/**
 * The shortest record found that lets the same clients pass as the domain's own does today: without terms that are
 * never reached or occur twice, without names that have no records, and without terms that another term covers.
 * Includes are never replaced by addresses, because those change. Undefined if nothing can be removed.
 */
export function shorter(root: SpfNode): SpfRecord | undefined {
  const record = root.record
  if (!record) return undefined
  const rest = { ...tidied(record), directives: keptOf(root) }
  return formatSpf(rest).length < formatSpf(record).length ? rest : undefined
}

/** {@link shorter}, if it stays within the limits of RFC 7208 §4.6.4. */
export function shorterWithinLimits(root: SpfNode): SpfRecord | undefined {
  const kept = new Set(keptOf(root).map(formatDirective))
  const terms = root.terms.filter(({ directive }) => !directive || kept.delete(formatDirective(directive)))
  const rest = { ...root, terms }
  if (lookupsOf(rest) > MAX_LOOKUPS || voidTermsOf(rest).length > MAX_VOID_LOOKUPS) return undefined
  return shorter(root)
}

/** A directive that may stay, with the result of its lookup. */
type Kept = {
  readonly directive: Directive
  readonly term: SpfTerm | undefined
  /** The names to which the include leads, beside its own. */
  readonly below: ReadonlySet<string>
}

function keptOf(root: SpfNode): readonly Directive[] {
  const terms = new Map(root.terms.map((term) => [term.text, term]))
  const kept = tidied(root.record!)
    .directives.map((directive) => ({ directive, term: terms.get(formatDirective(directive)) }))
    .filter(({ directive, term }) => isInclude(directive) || term?.state !== 'void')
  const all = kept.map(({ directive }) => directive)
  // A term may be removed in favour of another only if their order does not matter: all terms except `all` pass.
  const ordered = all.some(({ qualifier, mechanism }) => qualifier !== '+' && mechanism.kind !== 'all')
  if (ordered || kept.length > MAX_COMPARED) return all
  const known = kept.map((one): Kept => {
    const node = isInclude(one.directive) ? one.term?.node : undefined
    return { ...one, below: new Set(node && namesBelow(node)) }
  })
  return all.filter((_, index) => !isCovered(known, index))
}

/** Whether the directive at `index` lets nobody pass whom another one does not. */
function isCovered(kept: readonly Kept[], index: number): boolean {
  const { directive, term } = kept[index]!
  if (isInclude(directive)) return isIncludedBelow(kept, index)
  // Of hosts only where all addresses of both families are known.
  const networks = 'network' in directive.mechanism ? [directive.mechanism.network] : term && networksOf(term)
  if (!networks || networks.length === 0) return false
  // Of two equal networks the first stays.
  const covers = kept.flatMap(({ directive: other }, i) =>
    'network' in other.mechanism && i !== index && (i < index || !sameNetwork(other, directive))
      ? other.mechanism.network
      : [],
  )
  return networks.every((network) => covers.some((cover) => isWithin(network, cover)))
}

const sameNetwork = (a: Directive, b: Directive): boolean =>
  'network' in a.mechanism &&
  'network' in b.mechanism &&
  isWithin(a.mechanism.network, b.mechanism.network) &&
  isWithin(b.mechanism.network, a.mechanism.network)

const isWithin = (inner: Cidr, outer: Cidr): boolean => inner.prefix >= outer.prefix && contains(outer, inner.base)

/** Whether another include of the record leads to the same name. */
function isIncludedBelow(kept: readonly Kept[], index: number): boolean {
  const name = kept[index]!.term?.name?.toLowerCase()
  if (name === undefined) return false
  return kept.some(({ term, below }, i) => i !== index && below.has(name) && term?.node?.domain.toLowerCase() !== name)
}

/** The names of the includes of a node and of those below it before which nothing can stop the evaluation. */
function* namesBelow({ record, terms }: SpfNode): Generator<string> {
  const directives = record?.directives ?? []
  const stop = directives.findIndex(({ qualifier }) => qualifier !== '+')
  const open = new Set(stop < 0 ? directives : directives.slice(0, stop))
  for (const { node, name, directive } of terms) {
    if (node === undefined || directive === undefined || !isInclude(directive) || !open.has(directive)) continue
    if (name !== undefined) yield name.toLowerCase()
    yield* namesBelow(node)
  }
}

const isInclude = ({ mechanism }: Directive): boolean => mechanism.kind === 'include'

/**
 * The first record of a domain without a usable one, derived from its mail hosts. For a known provider its include,
 * because the hosts that receive mail are not those that send it; `mx` for other hosts. It ends in `~all`, because
 * other senders are not known yet; `-all` only for a domain that accepts no mail and has no address. Undefined if the
 * mail hosts are not known, and if the provider gives each customer another include.
 */
export function firstRecord(mail: MailHosts | undefined): string | undefined {
  if (!mail) return undefined
  if (mail.kind === 'null' || mail.kind === 'none') return 'v=spf1 -all'
  if (mail.kind === 'implicit') return 'v=spf1 a ~all'
  const exchanges = mail.hosts.map(({ exchange }) => exchange)
  if (exchanges.some(providerOfInbound)) return undefined // what takes mail in for an application sends none
  const providers = exchanges.map((exchange) => providerOfHost(exchange) ?? providerOfReturnPath(exchange))
  const includes = new Set(providers.flatMap((provider) => (provider ? [spfIncludeOf(provider, exchanges)] : [])))
  if (includes.has(undefined)) return undefined
  const own = providers.includes(undefined) ? ['mx'] : []
  return ['v=spf1', ...own, ...[...includes].map((name) => `include:${name}`), '~all'].join(' ')
}

/**
 * Whether a known provider tells its customers to include this name. The table shows what the provider publishes; a DNS
 * without that record (a filter, a closed network) is no reason to advise against it.
 */
export const isProvidersInclude = (name: string): boolean => {
  const provider = providerOfInclude(name)
  return provider !== undefined && [provider.spf, ...Object.values(provider.spfByMx ?? {})].includes(name.toLowerCase())
}
