import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import { networkOf } from '../../names/cidr.ts'
import { ip } from '../../names/ip.ts'
import { providerOfInclude } from '../../providers/index.ts'
import type { Finding } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { deadMailHosts } from '../mx/index.ts'
import type { DeadTerm } from './dead-terms.ts'
import { firstRecord, meantBy, namesSomebody, reordered, shorter, softened, withAll, without } from './fixes.ts'
import type { SpfFacts } from './lookup.ts'
import { mend, type Slip, slipsIn } from './mend.ts'
import type { Passing } from './passing/passing.ts'
import { type Extent, isWide, sizeOf } from './passing/wide.ts'
import { deadTermProblem, networkProblem } from './problems.ts'
import { namesNobody, type SpfReading } from './reading.ts'
import {
  type Directive,
  formatDirective,
  formatMacroString,
  formatSpf,
  isMechanism,
  type MacroString,
  reachable,
  type SpfRecord,
} from './terms.ts'
import type { SpfNode, SpfTerm } from './tree.ts'

export type Said = { readonly domain: string; readonly evidence: string; readonly mail: MailHosts | undefined }

/** The TXT record to publish, where there is one. */
export const fixOf = (name: string, value: string | undefined): Pick<Finding, 'fix'> =>
  value === undefined ? {} : { fix: { name, rtype: 'TXT', value } }

/** RFC 7208 §3.4 */
const LONG_RECORD = 450
const VERY_LONG_RECORD = 512
/** Modifiers that request failure reports (RFC 6652 §3): receivers that send none ignore them. */
const REPORTING: ReadonlySet<string> = new Set(['ra', 'rp', 'rr'])
/** Maximum number of unknown modifiers that are reported individually. */
const MAX_MODIFIERS = 5

/** Judges the form of a readable record. */
export function judgeForm(said: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { record: own } = root
  if (!own) return []
  const slips = judgeSlips(said, reading)
  // A second record that was pasted behind the first one does not count as further terms.
  const terms = slips.length > 0 ? [] : judgeTerms(said, root, reading)
  return [...judgeLength(said, root, reading), ...slips, ...judgeHostBits(said.evidence, own), ...terms]
}

/** Typing errors after which a record is still readable, but not as it was meant. */
const READABLE: Readonly<Partial<Record<Slip, string>>> = {
  two_records: 'spf.two_in_one',
  joined: 'spf.joined_terms',
  odd_name: 'spf.odd_name',
  separators: 'spf.odd_name',
}

function judgeSlips({ domain, evidence }: Said, reading: SpfReading): Finding[] {
  const meant = mend(evidence)
  const ids = meant.ok ? meant.value.slips.flatMap((slip) => READABLE[slip] ?? []) : []
  if (!meant.ok || ids.length === 0) return []
  return [...new Set(ids)].map((id) => ({
    id,
    args: { slips: slipsIn(meant.value) },
    evidence,
    ...fixOf(domain, offered(meantBy([evidence]), reading)),
  }))
}

function judgeLength({ domain }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { bytes } = reading
  if (bytes <= LONG_RECORD) return []
  const text = offered(shorter(root), reading)
  const id = bytes > VERY_LONG_RECORD ? 'spf.very_long' : 'spf.long'
  return [
    { id, args: { bytes }, ...fixOf(domain, text !== undefined && text.length <= LONG_RECORD ? text : undefined) },
  ]
}

/** Networks whose address has bits beyond the prefix, which receivers ignore (RFC 7208 §5.6). */
function judgeHostBits(evidence: string, record: SpfRecord): Finding[] {
  const terms = reachable(record).flatMap((directive) => {
    const { mechanism } = directive
    if (!('network' in mechanism)) return []
    const { base, prefix } = mechanism.network
    const meant = networkOf(base, prefix)
    const [first] = meant.split('/')
    return ip(first!) === base
      ? []
      : [networkProblem('host_bits', { term: formatDirective(directive), network: meant })]
  })
  return terms.length === 0 ? [] : [{ id: 'spf.host_bits', args: { terms: terms.slice(0, 20) }, evidence }]
}

function judgeTerms({ domain, evidence }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { afterAll, duplicateIncludes } = reading
  const own = root.record!
  const findings: Finding[] = []
  if (afterAll.length > 0 && !namesNobody(reading)) {
    const fix = fixOf(domain, offered(reordered(own), reading))
    findings.push({ id: 'spf.after_all', args: { terms: afterAll }, evidence, ...fix })
  }
  if (duplicateIncludes.length > 0) {
    const fix = fixOf(domain, offered(shorter(root), reading))
    findings.push({ id: 'spf.duplicate_include', args: { names: duplicateIncludes }, evidence, ...fix })
  }
  const unknown = own.unknown.filter((one) => !REPORTING.has(one.name.toLowerCase()) && !isMechanism(one))
  for (const { name, value } of unknown.slice(0, MAX_MODIFIERS))
    findings.push({ id: 'spf.unknown_modifier', args: { term: `${name}=${formatMacroString(value)}` }, evidence })
  return findings
}

/** A record that is broken today must not immediately refuse mail that receivers accept so far. */
function offered(record: SpfRecord | undefined, { permerrors }: SpfReading): string | undefined {
  if (!record) return undefined
  return formatSpf(permerrors.length > 0 ? softened(record) : record)
}

/**
 * Names without records that contain the domain once too often at their end: an editor that appends the domain to names
 * without a final dot created them (RFC 1035 §5.1). One finding, whose fix corrects all of them.
 */
export function judgeNames({ domain, evidence }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { record } = root
  if (!record) return []
  const meant = new Map<string, string>()
  for (const term of root.terms) {
    const name = withoutDomain(term, domain)
    if (name !== undefined) meant.set(targetOf(term, record), name)
  }
  if (meant.size === 0) return []
  const mended = renamed(record, meant)
  const text = formatSpf(reading.permerrors.length > 0 ? softened(mended) : mended)
  return [
    {
      id: 'spf.doubled_name',
      args: { names: [...meant.keys()], meant: [...meant.values()] },
      evidence,
      ...fixOf(domain, text),
    },
  ]
}

/**
 * The name without the domain at its end, if it has no records and the rest is unambiguous: the domain again, or a name
 * of a known provider.
 */
function withoutDomain(term: SpfTerm, domain: string): string | undefined {
  const isVoid = term.node ? term.node.state === 'none' : term.state === 'void'
  const name = term.name?.toLowerCase().replace(/\.$/, '') ?? ''
  if (!isVoid || !name.endsWith(`.${domain}`)) return undefined
  const rest = name.slice(0, -domain.length - 1)
  return rest === domain || rest.endsWith(`.${domain}`) || providerOfInclude(rest) ? rest : undefined
}

const targetOf = ({ directive }: SpfTerm, { redirect }: SpfRecord): string => {
  const mechanism = directive?.mechanism
  const target = mechanism && 'domain' in mechanism ? mechanism.domain : redirect
  return target ? formatMacroString(target) : ''
}

function renamed(record: SpfRecord, names: ReadonlyMap<string, string>): SpfRecord {
  const mend = (target: MacroString): MacroString => {
    const text = names.get(formatMacroString(target))
    return text === undefined ? target : [{ kind: 'literal', text }]
  }
  return {
    ...record,
    ...(record.redirect ? { redirect: mend(record.redirect) } : {}),
    directives: record.directives.map((directive) => {
      const { mechanism } = directive
      if (!('domain' in mechanism) || !mechanism.domain) return directive
      return { ...directive, mechanism: { ...mechanism, domain: mend(mechanism.domain) } }
    }),
  }
}

/** More IPv4 addresses than this, without includes, exceed a domain's own mail hosts. */
const MANY_ADDRESSES = 2 ** 17
/** A total that exceeds that of several large providers. */
const VERY_MANY_ADDRESSES = 2 ** 24

/** Judges how many may pass. */
export function judgeExtent(said: Said, root: SpfNode, extent: Extent): Finding[] {
  const { ipv4, ownIpv4, passing } = extent
  const { evidence } = said
  if (extent.everybody) return [judgeEverybody(said, root, extent)]
  if (passing.tooWide) return [{ id: 'spf.too_wide', evidence }]
  const { terms } = passing
  if (ipv4 >= VERY_MANY_ADDRESSES)
    return [{ id: 'spf.very_many_addresses', args: { count: ipv4, terms: widestOf(terms) }, evidence }]
  const own = terms.filter(({ include }) => !include)
  if (ownIpv4 > MANY_ADDRESSES)
    return [{ id: 'spf.many_addresses', args: { count: ownIpv4, terms: widestOf(own) }, evidence }]
  return []
}

/** The terms with most IPv4 addresses, at most three. */
const widestOf = (terms: Passing['terms']): readonly string[] =>
  terms
    .toSorted((a, b) => sizeOf(b.ip4) - sizeOf(a.ip4))
    .slice(0, 3)
    .map(({ text }) => text)

/**
 * Everybody passes, but not by `+all`. A wide term of the domain's own record can be removed; the owner of an include
 * must correct one there.
 */
function judgeEverybody(said: Said, root: SpfNode, { wide, passing }: Extent): Finding {
  const { domain, evidence } = said
  const named = wide.map(({ text, domain: name }) => (name === domain ? text : `${text} in the record of ${name}`))
  const args = {
    domain,
    ipv4: sizeOf(passing.ip4),
    ipv6: sizeOf(passing.ip6) > 0,
    terms: named.length > 0 ? named : passing.terms.map(({ text }) => text),
  }
  const isOwn = wide.length > 0 && wide.every(({ domain: name }) => name === domain)
  return { id: 'spf.everybody', args, evidence, ...fixOf(domain, isOwn ? knownSenders(said, root) : undefined) }
}

/**
 * The record without the terms that let everybody pass, ending in `~all`; if it then names nobody, the senders that
 * follow from the mail hosts.
 */
export function knownSenders({ mail }: Said, { record, terms }: SpfNode): string | undefined {
  if (!record) return undefined
  const rest = without(record, (directive) => isWide(directive, terms))
  const first = namesSomebody(rest) ? undefined : firstRecord(mail)
  // Everybody passed until now, so nobody is refused at once.
  return first?.endsWith(' ~all') ? first : withAll(rest, '~')
}

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
    const cause = dead.every(ofMailHosts) ? deadMailHosts(context) : undefined
    const severity = context.enforces === true && !context.canPass ? ({ severity: 'high' } as const) : {}
    if (cause !== undefined) return [{ id: 'spf.names_nobody', args, evidence, ...severity, follows: cause }]
    const fix = fixOf(domain, revived(evidence, root, dead, context.mail))
    return [{ id: 'spf.names_nobody', args, evidence, ...severity, ...fix }]
  }
  if (told.some(({ id }) => TOLD_BY.includes(id))) return []
  const equals = dead.filter(({ kind }) => kind === 'equals_sign')
  const isDead = deadMailHosts(context) !== undefined
  const others = dead
    .filter(({ kind }) => kind === 'no_host' || kind === 'no_mx' || kind === 'include')
    .filter((one) => !(isDead && ofMailHosts(one)))
  const meant = equals.length > 0 ? meantBy([evidence]) : undefined
  const better = root.record && (asHosts(root.record, others, context.mail) ?? withoutHosts(root.record, others))
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
            ...fixOf(domain, better && formatSpf(better)),
          },
        ]),
  ]
}

const ofMailHosts = ({ directive }: DeadTerm): boolean =>
  directive?.mechanism.kind === 'mx' && directive.mechanism.domain === undefined

/** Findings about the text of a record, whose fix corrects the terms. */
export const TOLD_BY = ['spf.two_in_one', 'spf.joined_terms', 'spf.odd_name', 'spf.doubled_name']

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
  // Whether a neutral term is to pass only the owner knows.
  if (!record || dead.some(({ kind }) => kind === 'neutral')) return undefined
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
 * The record without terms whose names have no address or no MX: nobody passes by them. Undefined if there is none; an
 * include that names nobody may get senders without this domain.
 */
function withoutHosts(record: SpfRecord, dead: readonly DeadTerm[]): SpfRecord | undefined {
  const gone = new Set(dead.flatMap(({ kind, directive }) => (kind === 'include' || !directive ? [] : [directive])))
  return gone.size === 0 ? undefined : without(record, (directive) => gone.has(directive))
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
