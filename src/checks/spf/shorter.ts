import { type Cidr, contains } from '../../names/cidr.ts'
import { tidied } from './fixes.ts'
import { networksOf } from './networks.ts'
import { MAX_LOOKUPS, MAX_VOID_LOOKUPS } from './run.ts'
import { type Directive, formatDirective, formatSpf, type SpfRecord } from './terms.ts'
import { lookupsOf, type SpfNode, type SpfTerm, voidTermsOf } from './tree.ts'

/** Maximum number of directives that are compared with each other; from a longer record only duplicates and empty directives are removed. */
const MAX_COMPARED = 200

/**
 * The shortest record found that lets the same clients pass as the domain's own does today: without terms that are never reached or occur twice, without
 * names that have no records, and without terms that another term covers. Includes are never replaced by addresses, because those change. Undefined if
 * nothing can be removed.
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

/** The record's terms by their text, with the results of their lookups. */
type Terms = ReadonlyMap<string, SpfTerm>

function keptOf(root: SpfNode): readonly Directive[] {
  const terms: Terms = new Map(root.terms.map((term) => [term.text, term]))
  const directives = tidied(root.record!).directives
  const kept = directives.filter((directive) => isInclude(directive) || termOf(terms, directive)?.state !== 'void')
  // A term may be removed in favour of another only if their order does not matter: all terms except `all` pass.
  const ordered = directives.some(({ qualifier, mechanism }) => qualifier !== '+' && mechanism.kind !== 'all')
  if (ordered || kept.length > MAX_COMPARED) return kept
  return kept.filter((_, index) => !isCovered(terms, kept, index))
}

/** Whether the directive at `index` lets nobody pass whom another one does not. */
function isCovered(terms: Terms, kept: readonly Directive[], index: number): boolean {
  const directive = kept[index]!
  if (isInclude(directive)) return isIncludedBelow(terms, directive, kept)
  const networks = 'network' in directive.mechanism ? [directive.mechanism.network] : hostNetworks(terms, directive)
  if (!networks || networks.length === 0) return false
  // Of two equal networks the first stays.
  const covers = kept.flatMap((other, i) =>
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

/** Only where all addresses of both families are known. */
function hostNetworks(terms: Terms, directive: Directive): readonly Cidr[] | undefined {
  const term = termOf(terms, directive)
  return term && networksOf(term)
}

/** Whether another include of the record leads to the same name through includes before which nothing can stop the evaluation. */
function isIncludedBelow(terms: Terms, directive: Directive, kept: readonly Directive[]): boolean {
  const name = termOf(terms, directive)?.name?.toLowerCase()
  if (name === undefined) return false
  return kept.some((other) => {
    const node = other !== directive && isInclude(other) ? termOf(terms, other)?.node : undefined
    return node !== undefined && node.domain.toLowerCase() !== name && leadsTo(node, name)
  })
}

function leadsTo(node: SpfNode, name: string): boolean {
  const directives = node.record?.directives ?? []
  const stop = directives.findIndex(({ qualifier }) => qualifier !== '+')
  const open = new Set((stop < 0 ? directives : directives.slice(0, stop)).map(formatDirective))
  return node.terms.some(
    ({ text, node: below, name: to, directive }) =>
      below !== undefined &&
      directive !== undefined &&
      isInclude(directive) &&
      open.has(text) &&
      (to?.toLowerCase() === name || leadsTo(below, name)),
  )
}

const termOf = (terms: Terms, directive: Directive): SpfTerm | undefined => terms.get(formatDirective(directive))

const isInclude = ({ mechanism }: Directive): boolean => mechanism.kind === 'include'
