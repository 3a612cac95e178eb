import type { Problem } from '../../base/problem.ts'
import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import { providerOfInclude } from '../../providers/index.ts'
import type { Finding } from '../check.ts'
import { ending, firstRecord, mended, namesSomebody, shorterWithinLimits, softened, withAll, without } from './fixes.ts'
import { fixOf } from './judge-record.ts'
import type { SpfLookup } from './lookup.ts'
import { mend, slipsIn } from './mend.ts'
import { MAX_RECORD } from './parse.ts'
import { includedProblem } from './problems.ts'
import type { Permerror, SpfReading } from './reading.ts'
import { allOf, formatDirective, formatMacroString, formatSpf, type SpfRecord } from './terms.ts'
import { costOf, leads, lookupsOf, MAX_LOOKUPS, MAX_VOID_LOOKUPS, nodesOf, type SpfNode, voidTermsOf } from './tree.ts'

/** Maximum number of reasons for permerror that are reported individually. */
const MAX_TOLD = 20
/** Maximum number of names shown in one sentence. */
const MAX_NAMES = 15

/** The findings about the causes of permerror, with the corrected record if one can be computed. */
export const judgePermerror = (found: SpfLookup, reading: SpfReading, mail: MailHosts | undefined): Finding[] =>
  reading.permerrors.slice(0, MAX_TOLD).map((permerror) => findingOf(permerror, found, reading, mail))

function findingOf(permerror: Permerror, found: SpfLookup, reading: SpfReading, mail: MailHosts | undefined): Finding {
  const root = found.tree!
  const evidence = found.records[0] ?? ''
  const fix = (text: string | undefined): Pick<Finding, 'fix'> => fixOf(found.domain, text)
  const rest = (record: SpfRecord | undefined): string | undefined => offered(record, mail)
  switch (permerror.kind) {
    case 'several':
      return {
        id: 'spf.many_records',
        args: { count: found.records.length },
        evidence: found.records.join(' | '),
        ...fix(mended(found.records)),
      }
    case 'syntax': {
      const meant = mend(evidence)
      const slips = meant.ok ? slipsIn(meant.value) : []
      const args = {
        problem: root.problem ?? includedProblem('invalid'),
        at: root.at ?? 0,
        term: termAt(evidence, root.at ?? 0),
        slips,
      }
      return { id: 'spf.syntax', args, evidence, ...fix(mended([evidence])) }
    }
    case 'too_long':
      return { id: 'spf.too_long', args: { length: evidence.length, most: MAX_RECORD } }
    case 'lookups': {
      const args = {
        lookups: reading.lookups,
        limit: MAX_LOOKUPS,
        atLeast: reading.atLeast,
        costs: costs(root),
        move: reading.atLeast ? [] : movable(root),
      }
      return { id: 'spf.too_many_lookups', args, evidence, ...fix(rest(shorterWithinLimits(root))) }
    }
    case 'void_lookups': {
      const names = voidTermsOf(root).map(({ text, name }) => `${text} (${name})`)
      const args = { count: names.length, limit: MAX_VOID_LOOKUPS, names: names.slice(0, MAX_NAMES) }
      return { id: 'spf.too_many_void_lookups', args, evidence, ...fix(rest(shorterWithinLimits(root))) }
    }
    case 'loop': {
      const { node, via } = permerror
      const holder = nodesOf(root).find(({ terms }) => terms.some((term) => term.node === node)) ?? root
      // Once the loop is cut, `-all` takes effect.
      const ends = root.record !== undefined && allOf(root.record)?.qualifier === '-'
      const args = { name: node.domain, term: via, at: holder.domain, ends }
      if (holder === root) return { id: 'spf.loop', args, evidence, ...fix(rest(withoutTerm(root, via))) }
      const cut = !ends && isBelow(holder, found.domain) ? withoutTerm(holder, via) : undefined
      return { id: 'spf.loop', args, evidence, ...fixOf(holder.domain, cut && cutText(cut)) }
    }
    case 'no_record': {
      const { node, via } = permerror
      const holder = nodesOf(root).find(({ terms }) => terms.some((term) => term.node === node))
      const top = root.terms.find((term) => term.node && holder && nodesOf(term.node).includes(holder))
      const args = { term: via, name: node.domain, ...(top && holder && { top: top.text, at: holder.domain }) }
      return { id: 'spf.include_without_record', args, evidence, ...fix(rest(withoutTerm(root, permerror.via))) }
    }
    case 'broken':
      return { id: 'spf.include_broken', args: brokenArgs(permerror.node), evidence: permerror.node.records.join('\n') }
    case 'mx_names': {
      const { text, name, exchanges } = permerror.term
      return { id: 'spf.too_many_mx', args: { term: text, name: name ?? '', count: exchanges ?? 0 }, evidence }
    }
    default: {
      const never: never = permerror
      return never
    }
  }
}

/** A record of the name that a receiver can evaluate, in place of one. */
type Corrected = { readonly name: string; readonly text: string }

/** Names of a record are in the case in which it was written. */
const isBelow = ({ domain }: SpfNode, above: string): boolean => domain.toLowerCase().endsWith(`.${above}`)

/** A record below one that no receiver could evaluate: without the term that led back, it refuses nobody. */
const cutText = (cut: SpfRecord): string => (namesSomebody(cut) ? formatSpf(cut) : withAll(cut, '~'))

/**
 * What stands in the place of records that make receivers return permerror, where the domain's own record alone does
 * not mend it: the record below, as its owner would correct it; beside one of the domain, its own, ending in `~all`, as
 * no mail was refused until now; with includes to move to a subdomain, its own without them. `sample` stands for a
 * record that only its owner knows. Undefined if nothing is known to help.
 */
export function correctedBelow(
  { domain, tree, free = [] }: SpfLookup,
  { id, args = {} }: Finding,
  sample: string,
): readonly Corrected[] | undefined {
  const { record } = tree ?? {}
  if (!tree || !record) return undefined
  const own = (changed: SpfRecord): readonly Corrected[] =>
    formatSpf(changed) === formatSpf(record) ? [] : [{ name: domain, text: formatSpf(changed) }]
  const name = String(args.name)
  switch (id) {
    case 'spf.too_many_lookups':
      // What is moved is measured as gone; its record is another one, which is not shown.
      return own(without(record, (directive) => [args.move].flat().includes(formatDirective(directive))))
    case 'spf.loop': {
      const holder = nodesOf(tree).find((node) => node.domain === args.at)
      const cut = holder && holder !== tree ? withoutTerm(holder, String(args.term)) : undefined
      const isOwn = cut !== undefined && isBelow(holder!, domain)
      return (
        cut && [{ name: String(args.at).toLowerCase(), text: cutText(cut) }, ...(isOwn ? own(softened(record)) : [])]
      )
    }
    case 'spf.include_broken':
    case 'spf.include_without_record':
      // A name that anybody could register is not for its owner to correct.
      return name === domain || free.length > 0 ? undefined : [{ name, text: sample }]
    default:
      return undefined
  }
}

/** Names that anybody could register, and thereby decide who passes. */
export const judgeTakeover = (
  { domain, records, tree, free = [] }: SpfLookup,
  { permerrors }: SpfReading,
  mail: MailHosts | undefined,
): Finding[] =>
  free.slice(0, MAX_TOLD).map(({ term, name, free: open }) => {
    const rest = withoutTerm(tree!, term)
    const text = rest && permerrors.length === 0 && namesSomebody(rest) ? formatSpf(rest) : offered(rest, mail)
    return {
      id: 'spf.include_takeover',
      args: { term, name, free: open },
      evidence: records[0]!,
      ...fixOf(domain, text),
    }
  })

function brokenArgs({ domain, state, records, problem }: SpfNode): { name: string; problem: Problem } {
  const several = state === 'several' ? includedProblem('several', { count: records.length }) : undefined
  return { name: domain, problem: several ?? problem ?? includedProblem('invalid') }
}

/**
 * The rest of a record that is broken today, as offered: `-all` becomes `~all`, because no mail was refused until now.
 * If it names nobody any more, the first record of a domain with these mail hosts replaces it.
 */
function offered(record: SpfRecord | undefined, mail: MailHosts | undefined): string | undefined {
  if (!record) return undefined
  if (namesSomebody(record)) return formatSpf(softened(record))
  const first = firstRecord(mail)
  return first?.endsWith(' ~all') ? first : undefined
}

/**
 * The domain's own record without a term that only causes permerror, in place of a redirect with an end; undefined if
 * the term is in another record.
 */
function withoutTerm(root: SpfNode, term: string): SpfRecord | undefined {
  const { record } = root
  if (record?.redirect && `redirect=${formatMacroString(record.redirect)}` === term) return ending(record, '~')
  if (!record?.directives.some((directive) => formatDirective(directive) === term)) return undefined
  return without(record, (directive) => formatDirective(directive) === term)
}

const costs = (root: SpfNode): readonly string[] =>
  root.terms.slice(0, MAX_NAMES).map((term) => `${term.text}: ${costOf(term)}`)

/**
 * The includes of sending services to move to a subdomain, the most expensive first, until the rest is within the limit;
 * those of mailbox providers stay. Empty if that does not suffice.
 */
function movable(root: SpfNode): readonly string[] {
  const includes = root.terms.filter(
    (term) => term.directive && leads(term) && providerOfInclude(term.name ?? '')?.kind !== 'mailbox',
  )
  let left = lookupsOf(root)
  const moved = includes
    .toSorted((a, b) => costOf(b) - costOf(a))
    .filter((term) => {
      const isOver = left > MAX_LOOKUPS
      if (isOver) left -= costOf(term)
      return isOver
    })
  return left > MAX_LOOKUPS ? [] : moved.map(({ text }) => text)
}

function termAt(record: string, at: number): string {
  const from = record.lastIndexOf(' ', Math.max(0, at - 1)) + 1
  const space = record.indexOf(' ', Math.max(at, from))
  return record.slice(from, space < 0 ? undefined : space).slice(0, 100)
}

/** What to do where a record in place of several would need too many lookups; undefined if it does not. */
export const overLimits = ({ reading }: { readonly reading?: SpfReading }): string | undefined =>
  reading?.permerrors.some(({ kind }) => kind === 'lookups')
    ? `Merge them into one record, and first remove what is no longer used: together they need ${reading.lookups} lookups, and above ${MAX_LOOKUPS} receivers return permerror.`
    : undefined
