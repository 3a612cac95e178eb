import { type Cidr, contains } from '../../names/cidr.ts'
import { tidied } from './fixes.ts'
import { networksOf } from './networks.ts'
import { MAX_LOOKUPS, MAX_VOID_LOOKUPS } from './run.ts'
import { type Directive, formatDirective, formatSpf } from './terms.ts'
import { lookupsOf, type SpfNode, type SpfTerm, voidTermsOf } from './tree.ts'

/**
 * The shortest record found that lets the same clients pass as the domain's own does today: without terms that are never reached or
 * stand twice, without names that hold nothing, and without what another term covers. Includes are never written out as addresses,
 * for those change. Undefined when nothing can go.
 */
export function shorter(root: SpfNode): string | undefined {
  const record = root.record
  if (!record) return undefined
  const kept = keptOf(root)
  const text = formatSpf({ ...tidied(record), directives: kept })
  return text.length < formatSpf(record).length ? text : undefined
}

/** {@link shorter}, when that keeps within the limits of RFC 7208 §4.6.4. */
export function shorterWithinLimits(root: SpfNode): string | undefined {
  const kept = new Set(keptOf(root).map(formatDirective))
  const terms = root.terms.filter(({ directive }) => !directive || kept.delete(formatDirective(directive)))
  const rest = { ...root, terms }
  if (lookupsOf(rest) > MAX_LOOKUPS || voidTermsOf(rest).length > MAX_VOID_LOOKUPS) return undefined
  return shorter(root)
}

function keptOf(root: SpfNode): readonly Directive[] {
  const directives = tidied(root.record!).directives
  // A term may go for another's sake only where no order is to be kept: when all but `all` pass.
  const ordered = directives.some(({ qualifier, mechanism }) => qualifier !== '+' && mechanism.kind !== 'all')
  const holdsNothing = (directive: Directive): boolean =>
    termOf(root, directive)?.state === 'void' && !isInclude(directive)
  const kept = directives.filter((directive) => !holdsNothing(directive))
  if (ordered) return kept
  return kept.filter(
    (directive, i) =>
      !isCovered(
        root,
        directive,
        kept.filter((_, j) => j !== i),
        i,
        kept,
      ),
  )
}

function isCovered(
  root: SpfNode,
  directive: Directive,
  others: readonly Directive[],
  index: number,
  all: readonly Directive[],
): boolean {
  if (isInclude(directive)) return isIncludedBelow(root, directive, others)
  const networks = networksFor(root, directive)
  if (!networks || networks.length === 0) return false
  // Two equal networks must not both go for each other's sake: the first of them stays.
  const covers = all.flatMap((other, i) =>
    'network' in other.mechanism && i !== index && (!sameNetwork(other, directive) || i < index)
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

function networksFor(root: SpfNode, directive: Directive): readonly Cidr[] | undefined {
  const { mechanism } = directive
  if ('network' in mechanism) return [mechanism.network]
  const term = termOf(root, directive)
  return term?.allAddresses ? networksOf(term) : undefined
}

/** Whether another include of the record leads to the same name by includes before which nothing can stop the evaluation. */
function isIncludedBelow(root: SpfNode, directive: Directive, others: readonly Directive[]): boolean {
  const name = termOf(root, directive)?.name?.toLowerCase()
  if (name === undefined) return false
  return others.some((other) => {
    const node = isInclude(other) ? termOf(root, other)?.node : undefined
    return node !== undefined && node.domain.toLowerCase() !== name && leadsTo(node, name)
  })
}

function leadsTo(node: SpfNode, name: string): boolean {
  const stop = node.record?.directives.findIndex(({ qualifier }) => qualifier !== '+') ?? -1
  const open = new Set(
    (stop < 0 ? node.record?.directives : node.record?.directives.slice(0, stop))?.map(formatDirective),
  )
  return node.terms.some(
    ({ directive, node: below, name: to }) =>
      below !== undefined &&
      directive !== undefined &&
      isInclude(directive) &&
      open.has(formatDirective(directive)) &&
      (to?.toLowerCase() === name || leadsTo(below, name)),
  )
}

const termOf = (root: SpfNode, directive: Directive): SpfTerm | undefined =>
  root.terms.find((term) => term.directive && formatDirective(term.directive) === formatDirective(directive))

const isInclude = ({ mechanism }: Directive): boolean => mechanism.kind === 'include'
