import type { Family } from '../../../names/ip.ts'
import { asksDns, type Directive } from '../terms.ts'
import {
  type Found,
  MAX_LOOKUPS,
  MAX_MX_NAMES,
  MAX_VOID_LOOKUPS,
  prefixOf,
  type SpfNode,
  type SpfTerm,
  stepsOf,
} from '../tree.ts'
import { firstMatches, type Interval, type Intervals, intervalOf, type Segment, setOf, split } from './intervals.ts'

/**
 * Clients with the same numbers of lookups (RFC 7208 §4.6.4): at most 11 times 3 groups, because more are permerror.
 */
export type Group = { readonly lookups: number; readonly voids: number; readonly set: Intervals }
/** Clients that pass, and the directive that matches them. */
type Passed = Group & { readonly directive: Directive }
export type Evaluated = {
  readonly passed: readonly Passed[]
  /** Clients for which the record gives fail, softfail or neutral. Clients in neither set got an error. */
  readonly others: readonly Group[]
}
export type Run = {
  readonly family: Family
  /** Number of intervals that may still be created; below 0 the result is incomplete. */
  budget: number
  /** Some clients reached an unknown part: their result is not included. */
  open: boolean
}

/**
 * The result of `check_host` (RFC 7208 §4) for all clients of `groups` at once, as far as the tree is known. A term
 * that depends on the message matches nobody here. The work is proportional to the number of intervals, which the
 * budget bounds.
 */
export function evaluate(run: Run, node: SpfNode, groups: readonly Group[]): Evaluated {
  if (node.state === 'unknown') {
    run.open = true
    return { passed: [], others: groups } // with an answer it might match nobody
  }
  if (node.state !== 'record') return NOBODY // permerror
  const passed: Passed[] = []
  const others: Group[] = []
  let undecided = groups
  for (const step of groupedSteps(node)) {
    if (undecided.length === 0 || run.budget < 0) return { passed, others }
    const { matched, rest } = matchStep(run, step, undecided)
    for (const match of matched) (match.directive.qualifier === '+' ? passed : others).push(match)
    undecided = rest
  }
  const redirect = node.terms.find(({ directive }) => !directive)
  if (!redirect) return { passed, others: gathered([...others, ...undecided]) } // neutral, §4.7
  const below = follow(run, redirect, asking(undecided))
  return { passed: [...passed, ...below.passed], others: gathered([...others, ...below.others]) }
}

const NOBODY: Evaluated = { passed: [], others: [] }

/** Directives that are matched at once: those between two that need a lookup. */
type Step =
  | { readonly kind: 'networks'; readonly directives: readonly Directive[] }
  | { readonly kind: 'term'; readonly directive: Directive; readonly term: SpfTerm | undefined }
type Matched = { readonly matched: readonly Passed[]; readonly rest: readonly Group[] }

function* groupedSteps(node: SpfNode): Generator<Step> {
  let networks: Directive[] = []
  for (const { directive, term } of stepsOf(node)) {
    if (!asksDns(directive.mechanism)) {
      networks.push(directive)
      continue
    }
    if (networks.length > 0) yield { kind: 'networks', directives: networks }
    networks = []
    yield { kind: 'term', directive, term }
  }
  if (networks.length > 0) yield { kind: 'networks', directives: networks }
}

function matchStep(run: Run, step: Step, groups: readonly Group[]): Matched {
  if (step.kind === 'networks') return matchNetworks(run, step.directives, groups)
  const { directive, term } = step
  const counted = asking(groups)
  if (counted.length === 0 || !term) return { matched: [], rest: [] } // a term that is not kept is beyond the ten
  if (directive.mechanism.kind === 'include') {
    if (term.state === 'macro') return { matched: [], rest: counted }
    const { passed, others } = follow(run, term, counted)
    return { matched: gathered(passed).map((group) => ({ ...group, directive })), rest: others }
  }
  return matchHosts(run, directive, term, counted)
}

/** The record to which an include or redirect leads. */
function follow(run: Run, term: SpfTerm, groups: readonly Group[]): Evaluated {
  if (groups.length === 0) return NOBODY
  if (term.node) return evaluate(run, term.node, groups)
  // An invalid name gives permerror; one that depends on the message, or was not read, can give any result.
  if (term.state !== 'malformed') run.open = true
  return NOBODY
}

/** Each costs one more lookup; over the limit is permerror (RFC 7208 §4.6.4). */
const asking = (groups: readonly Group[]): readonly Group[] =>
  groups.flatMap((group) => (group.lookups < MAX_LOOKUPS ? [{ ...group, lookups: group.lookups + 1 }] : []))

function matchNetworks(run: Run, directives: readonly Directive[], groups: readonly Group[]): Matched {
  const segments: Segment[] = []
  for (const [index, { mechanism }] of directives.entries()) {
    if (!('network' in mechanism) || mechanism.network.family !== run.family) continue
    const [first, end] = intervalOf(mechanism.network)
    segments.push({ first, end, index })
    if (--run.budget < 0) return { matched: [], rest: [] }
  }
  const { matched, rest } = cut(run, firstMatches(segments), groups, directives)
  const all = directives.at(-1)!
  if (all.mechanism.kind !== 'all') return { matched, rest }
  return { matched: [...matched, ...rest.map((group) => ({ ...group, directive: all }))], rest: [] }
}

function matchHosts(run: Run, directive: Directive, term: SpfTerm, groups: readonly Group[]): Matched {
  const { mechanism } = directive
  const nobody: Matched = { matched: [], rest: groups }
  if (mechanism.kind === 'ptr' || term.state === 'macro' || term.state === 'malformed') return nobody
  if ((term.exchanges ?? 0) > MAX_MX_NAMES) return { matched: [], rest: [] }
  const found: Found | undefined = run.family === 4 ? term.found?.ip4 : term.found?.ip6
  if (found?.kind === 'unknown') {
    run.open = true
    return nobody
  }
  if (!found) {
    run.open = true
    return term.state === 'unknown' ? nobody : { matched: [], rest: [] }
  }
  if (found.kind === 'void')
    return {
      matched: [],
      rest: groups.flatMap((group) => (group.voids < MAX_VOID_LOOKUPS ? [{ ...group, voids: group.voids + 1 }] : [])),
    }
  if (mechanism.kind === 'exists') return { matched: groups.map((group) => ({ ...group, directive })), rest: [] }
  if (!('cidr' in mechanism)) return nobody
  const prefix = prefixOf(mechanism.cidr, run.family)
  const networks = found.addresses.map((base) => {
    const [first, end] = intervalOf({ base, prefix })
    return { first, end, index: 0 }
  })
  const result = cut(run, firstMatches(networks), groups, [directive])
  if (!found.partial) return result
  run.open = true
  return found.reason === undefined ? { ...result, rest: [] } : result
}

/** Splits the groups along segments whose index is that of a directive. */
function cut(
  run: Run,
  segments: readonly Segment[],
  groups: readonly Group[],
  directives: readonly Directive[],
): Matched {
  const matched: Passed[] = []
  const rest: Group[] = []
  for (const group of groups) {
    const { inside, outside } = split(group.set, segments)
    run.budget -= inside.length + outside.length
    if (run.budget < 0) return { matched, rest }
    for (const [index, segments] of Map.groupBy(inside, (one) => one.index)) {
      const set = segments.map(({ first, end }): Interval => [first, end])
      matched.push({ ...group, set, directive: directives[index]! })
    }
    if (outside.length > 0) rest.push({ ...group, set: outside })
  }
  return { matched, rest }
}

/** One group for each pair of counts. */
function gathered(groups: readonly Group[]): readonly Group[] {
  if (groups.length < 2) return groups
  const sets = Map.groupBy(groups, ({ lookups, voids }) => lookups * (MAX_VOID_LOOKUPS + 1) + voids)
  return [...sets.values()].map(([one, ...others]) => {
    const { lookups, voids, set } = one!
    return { lookups, voids, set: others.length === 0 ? set : setOf([one!, ...others].flatMap((group) => group.set)) }
  })
}
