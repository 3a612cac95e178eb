import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import type { Finding } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { deadMailHosts } from '../dead-mail-hosts.ts'
import type { DeadTerm } from './dead-terms.ts'
import { firstRecord, meantBy, namesSomebody, reordered, without } from './fixes.ts'
import { fixOf } from './judge-record.ts'
import type { SpfFacts } from './lookup.ts'
import { deadTermProblem } from './problems.ts'
import { namesNobody, type SpfReading } from './reading.ts'
import { type Directive, formatMacroString, formatSpf, type SpfRecord } from './terms.ts'
import type { SpfNode } from './tree.ts'

type Context = Pick<DomainContext, 'mail' | 'canPass' | 'enforces'>

/**
 * Judges the terms that let nobody pass: all of the record's, or single ones beside others that do. Terms about which
 * there is another finding (a name that anybody could register, a name with the domain twice, terms after `all`,
 * private addresses beside public ones) are left out.
 */
export function judgeDeadTerms(
  { domain, records, free = [] }: SpfFacts,
  root: SpfNode,
  reading: SpfReading,
  told: readonly Finding[],
  context: Context,
): Finding[] {
  if (reading.permerrors.length > 0) return []
  const evidence = records[0] ?? ''
  const isTold = ({ text }: DeadTerm): boolean => free.some(({ term }) => term === text)
  const dead = reading.dead.filter((one) => !isTold(one))
  const words = (terms: readonly DeadTerm[]) => terms.map(({ text, why }) => deadTermProblem('term', { text, why }))
  if (namesNobody(reading)) {
    if (dead.length === 0 || told.some(({ id }) => TOLD_BY.includes(id))) return []
    const args = { terms: words(dead), all: reading.all ?? '' }
    const cause = dead.every(ofMailHosts) ? deadMailHosts(context.mail) : undefined
    const severity = context.enforces === true && !context.canPass ? ({ severity: 'high' } as const) : {}
    if (cause !== undefined) return [{ id: 'spf.names_nobody', args, evidence, ...severity, follows: cause }]
    const fix = fixOf(domain, revived(evidence, root, dead, context.mail))
    return [{ id: 'spf.names_nobody', args, evidence, ...severity, ...fix }]
  }
  if (told.some(({ id }) => TOLD_BY.includes(id))) return []
  const equals = dead.filter(({ kind }) => kind === 'equals_sign')
  const isDead = deadMailHosts(context.mail) !== undefined
  const others = dead
    .filter(({ kind }) => kind === 'no_host' || kind === 'no_mx' || kind === 'include')
    .filter((one) => !(isDead && ofMailHosts(one)))
  const meant = equals.length > 0 ? meantBy([evidence]) : undefined
  const hosts = root.record && asHosts(root.record, others, context.mail)
  return [
    ...(equals.length === 0
      ? []
      : [
          {
            id: 'spf.equals_sign',
            args: { terms: equals.map(({ text }) => `"${text}"`) },
            evidence,
            ...fixOf(domain, meant && formatSpf(meant)),
          },
        ]),
    ...(others.length === 0
      ? []
      : [
          {
            id: 'spf.dead_term',
            args: { terms: words(others) },
            evidence,
            ...fixOf(domain, hosts && formatSpf(hosts)),
          },
        ]),
  ]
}

/** Whether a term names the domain's own mail hosts. */
const ofMailHosts = ({ directive }: DeadTerm): boolean =>
  directive?.mechanism.kind === 'mx' && directive.mechanism.domain === undefined

/** Findings about the text of a record, whose fix corrects the terms. */
const TOLD_BY = ['spf.two_in_one', 'spf.joined_terms', 'spf.odd_name', 'spf.doubled_name']

/**
 * A record that lets somebody pass, in place of one that names senders in vain: as it was meant, or else the first
 * record of a domain with these mail hosts.
 */
function revived(
  evidence: string,
  { record }: SpfNode,
  dead: readonly DeadTerm[],
  mail: MailHosts | undefined,
): string | undefined {
  if (!record) return undefined
  if (dead.some(({ kind }) => kind === 'equals_sign')) {
    const meant = meantBy([evidence])
    if (meant) return formatSpf(meant)
  }
  if (dead.some(({ kind }) => kind === 'after_all')) return formatSpf(reordered(record))
  const hosts = asHosts(record, dead, mail)
  if (hosts) return formatSpf(hosts)
  const rest = without(record, (directive) => dead.some((one) => one.directive === directive))
  if (namesSomebody(rest)) return undefined
  const first = firstRecord(mail)
  return first?.endsWith(' ~all') ? first : undefined
}

/**
 * The record with `a:` in place of `mx:` for names that are mail hosts themselves; undefined if there is no such term.
 */
function asHosts(record: SpfRecord, dead: readonly DeadTerm[], mail: MailHosts | undefined): SpfRecord | undefined {
  const isHost = (name: string): boolean =>
    mail?.hosts.some(({ exchange, addresses }) => exchange === name.toLowerCase() && addresses.length > 0) === true
  const isMeant = ({ mechanism }: Directive): boolean =>
    mechanism.kind === 'mx' && mechanism.domain !== undefined && isHost(formatMacroString(mechanism.domain))
  const meant = new Set(
    dead.flatMap(({ kind, directive }) => (kind === 'no_mx' && directive && isMeant(directive) ? [directive] : [])),
  )
  if (meant.size === 0) return undefined
  const directives = record.directives.map(
    (one): Directive =>
      meant.has(one) && one.mechanism.kind === 'mx' ? { ...one, mechanism: { ...one.mechanism, kind: 'a' } } : one,
  )
  return { ...record, directives }
}
