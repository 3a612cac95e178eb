import type { Problem } from '../../base/problem.ts'
import type { Ip } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { isReservedNetwork } from './passing/wide.ts'
import { deadTermProblem } from './problems.ts'
import { allOf, type Directive, formatDirective, formatMacroString, isMechanism, reachable } from './terms.ts'
import { chainOf, networksOf, type SpfNode, type SpfTerm } from './tree.ts'

/** A term that was meant to let senders pass and lets nobody pass, and why. */
export type DeadTerm = {
  readonly text: string
  readonly why: Problem
  readonly kind: 'no_host' | 'no_mx' | 'not_public' | 'equals_sign' | 'include' | 'after_all' | 'neutral'
  readonly directive?: Directive
}

/**
 * The terms of the domain's own record, or of the one it redirects to, that let nobody pass, in their order. Terms
 * without an answer are not among them.
 */
export const deadTermsOf = (root: SpfNode): readonly DeadTerm[] => chainOf(root).flatMap(deadIn)

function deadIn(node: SpfNode): readonly DeadTerm[] {
  const { record, terms } = node
  if (!record) return []
  const evaluated = reachable(record)
  const all = allOf(record)
  const hidden = all ? record.directives.filter((one) => one.mechanism.kind !== 'all' && !evaluated.includes(one)) : []
  return [
    ...evaluated.flatMap((directive) => deadTerm(directive, terms)),
    ...record.unknown.filter(isMechanism).map(({ name, value }): DeadTerm => {
      const text = `${name}=${formatMacroString(value)}`
      return { text, why: deadTermProblem('equals_sign'), kind: 'equals_sign' }
    }),
    ...hidden.map((directive): DeadTerm => ({ text: formatDirective(directive), ...AFTER_ALL })),
    ...(all && record.redirect ? [{ text: `redirect=${formatMacroString(record.redirect)}`, ...AFTER_ALL }] : []),
  ]
}

const AFTER_ALL = { why: deadTermProblem('after_all'), kind: 'after_all' } as const

function deadTerm(directive: Directive, terms: readonly SpfTerm[]): readonly DeadTerm[] {
  const { mechanism, qualifier } = directive
  if (mechanism.kind === 'all') return []
  const text = formatDirective(directive)
  if (qualifier === '?') return [{ text, why: deadTermProblem('neutral'), kind: 'neutral', directive }]
  if (qualifier !== '+') return []
  const dead = (kind: DeadTerm['kind'], why: Problem): DeadTerm[] => [{ text, why, kind, directive }]
  if ('network' in mechanism)
    return isReservedNetwork(mechanism.network) ? dead('not_public', deadTermProblem('not_public')) : []
  const term = terms.find((one) => one.directive === directive)
  if (!term || letsSomebodyPass(term)) return []
  const name = term.name ?? text
  if (mechanism.kind === 'include') return dead('include', deadTermProblem('include', { name }))
  if (term.gone !== undefined) return dead('no_host', deadTermProblem('gone', { name: term.gone }))
  if (mechanism.kind === 'mx' && term.state === 'void') return dead('no_mx', deadTermProblem('no_mx', { name }))
  const [address] = addressesIn(term)
  return address === undefined
    ? dead('no_host', deadTermProblem('no_address', { name }))
    : dead('not_public', deadTermProblem('only_private', { name, address }))
}

const addressesIn = ({ found }: SpfTerm): readonly Ip[] =>
  found ? [...found.ip4.addresses, ...found.ip6.addresses] : []

/** Whether a term may let a host on the internet pass. One that is not known, or that depends on the message, may. */
function letsSomebodyPass(term: SpfTerm): boolean {
  const { state, directive, node, found } = term
  if (state === 'unknown' || state === 'not_asked' || state === 'macro') return true
  const kind = directive?.mechanism.kind
  if (kind === 'include' || !directive) return node !== undefined && mayPass(node)
  if (kind === 'ptr') return true
  if (kind === 'exists') return state === 'found'
  if (state !== 'found' || !found) return state === 'found'
  // Some of the addresses may not be known.
  return networksOf(term) === undefined || addressesIn(term).some(isPublic)
}

/** Whether a record may let anybody pass. One that is broken or not known may: other findings are about it. */
function mayPass({ state, record, terms }: SpfNode): boolean {
  if (!record) return state !== 'none'
  const isOwn = reachable(record).some(
    ({ qualifier, mechanism }) =>
      qualifier === '+' &&
      (mechanism.kind === 'all' || ('network' in mechanism && !isReservedNetwork(mechanism.network))),
  )
  return isOwn || terms.some((term) => (term.directive?.qualifier ?? '+') === '+' && letsSomebodyPass(term))
}
