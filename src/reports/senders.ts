import { inTurns } from '../base/at-most.ts'
import { counted } from '../base/text.ts'
import { dayOf } from '../base/time.ts'
import { dkimStepsOf, type Provider } from '../providers/index.ts'
import { ownerOfHost } from '../providers/sending.ts'
import type { SenderWord } from '../store/postgres/report-notes.ts'
import type { SourceSum } from '../store/postgres/report-sums.ts'
import { blockOf, type Home, homeOf, keyOf, type SenderFacts, type SpfMatch, saidHomes } from './home.ts'
import { organizationOf, PASSED_ON } from './report.ts'

export type Verdict = 'authorized' | 'needs_setup' | 'forwarded' | 'forged' | 'not_ours' | 'unknown'

type Dispositions = { readonly none: number; readonly quarantine: number; readonly reject: number }

export type Sender = {
  /** The domain whose reports are read, and the key. */
  readonly id: string
  /** What the owner's word is kept by. */
  readonly key: string
  readonly said?: SenderWord
  readonly name: string
  readonly verdict: Verdict
  /** The evidence in words: what names it, then what decides the verdict. */
  readonly because: readonly string[]
  readonly to_do?: string
  /** By address, largest first. */
  readonly addresses: ReadonlyMap<string, number>
  readonly messages: number
  readonly passing: number
  readonly spfAligned: number
  readonly dkimAligned: number
  readonly dispositions: Dispositions
  readonly dkimDomains: readonly string[]
  readonly selectors: readonly string[]
  readonly envelopeDomains: readonly string[]
  readonly firstSeen: string
  readonly lastSeen: string
  /** Days of the last 28 of the period on which it was seen. */
  readonly recentDays: number
  readonly provider?: Provider
  /** Known to be the domain's own, or of a provider with which it is set up. */
  readonly related: boolean
  readonly sources: readonly SourceSum[]
}

/** Fewer messages say too little for a verdict other than `authorized`. */
const FEW_MESSAGES = 10
/** A source that fails everything and was seen on at most so many of 28 days looks forged. */
export const FORGED_DAYS = 3
/** Names of one kind that a sender shows. */
const SHOWN = 20

export const passesDmarc = ({ spf_aligned, dkim_aligned }: Pick<SourceSum, 'spf_aligned' | 'dkim_aligned'>): boolean =>
  spf_aligned === true || dkim_aligned === true

type Placed = { readonly source: SourceSum; readonly home: Home; readonly spf: SpfMatch | undefined }

/**
 * Finds the senders behind the sources of a domain, and judges each: the first row of the table of verdicts that fits
 * (docs/reports.md). Largest first. Others get their turn of the event loop in between.
 */
export async function findSenders(sources: readonly SourceSum[], facts: SenderFacts): Promise<readonly Sender[]> {
  const organization = organizationOf(facts.domain)
  const placed: Placed[] = []
  const addresses: Addresses = new Map()
  const uses: SelectorUses = new Map()
  await inTurns(sources, (source) => {
    const spf = facts.spfOf(source.address, source.envelope_from || source.spf_domain)
    const one = { source, spf, home: homeOf(source, spf, facts, organization) }
    placed.push(one)
    addUse(uses, one, organization)
  })
  const owners = selectorOwners(uses)
  const forwarded = new Map<Placed, string>()
  await inTurns(placed, (member) => {
    const why = forwardedBecause(member, owners, organization)
    if (why !== undefined) forwarded.set(member, why)
    addAddress(addresses, member, why !== undefined)
  })
  const groups = new Map<string, Group>()
  const said = saidHomes(facts.words)
  await inTurns(placed, (member) => {
    const why = forwarded.get(member)
    const found = why === undefined ? split(member, addresses, facts) : forwarderOf(member, facts, why)
    const home = said(found, member.source.address)
    const group = groups.get(home.id) ?? newGroup(home, why !== undefined)
    groups.set(home.id, group)
    addSource(group, member.source)
  })
  const senders: Sender[] = []
  await inTurns(togetherByZone([...groups.values()], facts), (group) => void senders.push(senderOf(group, facts)))
  return senders.sort((a, b) => b.messages - a.messages || (a.id < b.id ? -1 : 1))
}

type Use = { readonly id: string; readonly name: string; messages: number }
/** For each selector of the domain's own signatures the authorized senders that use it, by their ids. */
type SelectorUses = Map<string, Map<string, Use>>

function addUse(uses: SelectorUses, { source, home, spf }: Placed, organization: string): void {
  // Its mail passes, and it passes by its own path: the record names it, or the return path is aligned.
  if (source.known_messages === 0 || source.dkim_result !== 'pass') return
  if (!passesDmarc(source) || (spf === undefined && source.spf_aligned !== true && home.weak)) return
  if (source.dkim_selector === '' || organizationOf(source.dkim_domain) !== organization) return
  const key = `${source.dkim_domain}:${source.dkim_selector}`
  const homes = uses.get(key) ?? new Map<string, Use>()
  const use = homes.get(home.id) ?? { id: home.id, name: home.name, messages: 0 }
  use.messages += source.known_messages
  homes.set(home.id, use)
  uses.set(key, homes)
}

/** For each selector the sender that uses it most. */
const selectorOwners = (uses: SelectorUses): ReadonlyMap<string, Use> =>
  new Map(
    [...uses].map(([key, homes]) => [key, [...homes.values()].reduce((a, b) => (b.messages > a.messages ? b : a))]),
  )

/** Why mail of a source is forwarded mail; undefined if nothing says so. */
function forwardedBecause(
  { source, home, spf }: Placed,
  owners: ReturnType<typeof selectorOwners>,
  organization: string,
): string | undefined {
  if (spf !== undefined) return undefined
  if (PASSED_ON.includes(source.reason)) return `receivers call it ${source.reason}`
  if (home.provider?.kind === 'forwarder') return `${home.provider.name} forwards mail`
  const fails = source.spf_aligned !== true
  if (!fails || source.dkim_selector === '' || organizationOf(source.dkim_domain) !== organization) return undefined
  const owner = owners.get(`${source.dkim_domain}:${source.dkim_selector}`)
  return owner && owner.id !== home.id && owner.messages > source.messages
    ? `it carries the signature ${source.dkim_selector} of ${owner.name} and fails SPF`
    : undefined
}

function forwarderOf({ source, home }: Placed, facts: SenderFacts, because: string): Home {
  const host = facts.hostOf(source.address)
  const envelope = source.envelope_from || source.spf_domain
  const zone = host === undefined ? undefined : organizationOf(host)
  const name =
    home.provider?.name ??
    zone ??
    (envelope !== '' && organizationOf(envelope) !== organizationOf(facts.domain)
      ? organizationOf(envelope)
      : undefined) ??
    facts.networkOf(source.address)?.name ??
    blockOf(source.address)
  return {
    ...{
      id: `forward:${name.replaceAll('/', '-')}`,
      name: `forwarded by ${name}${host !== undefined && name === zone ? serviceWords(host, zone) : ''}`,
      because,
      related: false,
      weak: false,
    },
    ...(home.provider && { provider: home.provider }),
  }
}

/** The service behind a host, where the zone of the host does not say it: `pphosted.com (Proofpoint)`. */
function serviceWords(host: string, zone: string): string {
  const owner = ownerOfHost(host)
  if (!owner || !('service' in owner)) return ''
  const { name } = owner.service
  return zone.includes(name.split(/[ .]/, 1)[0]!.toLowerCase()) ? '' : ` (${name})`
}

/**
 * By address: whether any of its mail passes, the days on which it was seen, and, of what is not forwarded, whether any
 * is related to the domain, and what names it best: the mail of one address is one sender's.
 */
type Addresses = Map<string, { passes: boolean; days: number; isRelated: boolean; home?: Home }>

function addAddress(found: Addresses, { source, home }: Placed, isForwarded: boolean): void {
  const known = found.get(source.address) ?? { passes: false, days: 0, isRelated: false }
  known.passes ||= passesDmarc(source) && source.known_messages > 0
  known.days |= source.recent_days
  if (!isForwarded && home.weak) {
    known.isRelated ||= home.related && source.known_messages > 0
    if (!known.home || rankOf(home) < rankOf(known.home)) known.home = home
  }
  found.set(source.address, known)
}
const RANKS = ['signer:', 'path:', 'host:', 'network:'] as const
const rankOf = ({ id }: Home): number => RANKS.findIndex((start) => id.startsWith(start))

/**
 * Addresses that nothing but a stranger's name or a network names are judged one by one: those that look forged are not
 * mixed with those that may be somebody's.
 */
function split({ source, home: own }: Placed, addresses: Addresses, facts: SenderFacts): Home {
  if (!own.weak) return own
  const { passes, days, isRelated, home = own } = addresses.get(source.address)!
  if (own.related || isRelated) return { ...home, id: `${home.id}:related`, related: true, weak: false }
  if (passes || (bitsOf(days) > FORGED_DAYS && !facts.isListed(source.address))) return home
  // A botnet is everywhere: it is one line.
  if (/^(?:network|path):/.test(home.id))
    return {
      ...{ ...home, id: 'unknown:brief', name: 'unknown senders', because: 'nothing names its addresses' },
      isBrief: true,
    }
  return { ...home, id: `${home.id}:brief`, isBrief: true }
}

export const bitsOf = (days: number): number => {
  let bits = 0
  for (let rest = days >>> 0; rest !== 0; rest &= rest - 1) bits++
  return bits
}

/** Own hosts of one zone, or addresses of one SPF term, with one verdict that are a line each; more are one line. */
const SHOWN_HOSTS = 3

function togetherByZone(groups: readonly Group[], facts: SenderFacts): readonly Group[] {
  const keyOf = (group: Group): string | undefined =>
    group.home.line === undefined || group.home.word
      ? undefined
      : `${group.home.line.key}:${verdictOf(group, facts).verdict}`
  const zones = Map.groupBy(groups, keyOf)
  return [...zones].flatMap(([key, some]) => {
    const { home } = some[0]!
    if (key === undefined || home.line === undefined || some.length <= SHOWN_HOSTS) return some
    const { many: name, because } = home.line
    const one = newGroup({ ...home, id: `hosts:${key}`, name: `${some.length} ${name}`, because }, false)
    for (const { sources } of some) for (const source of sources) addSource(one, source)
    return [one]
  })
}

/** What a verdict and its steps rest on: what reporters of the table have seen. */
type Known = {
  messages: number
  passing: number
  spfAligned: number
  dkimAligned: number
  days: number
  firstSeen: string
  lastSeen: string
  firstReporter: number
  lastReporter: number
}

/** The sums of a sender's sources. */
type Group = {
  readonly home: Home
  readonly forwarded: boolean
  readonly sources: SourceSum[]
  readonly known: Known
  messages: number
  passing: number
  spfAligned: number
  dkimAligned: number
  readonly dispositions: { none: number; quarantine: number; reject: number }
  firstSeen: string
  lastSeen: string
  /** Messages by address and by name. */
  readonly addresses: Map<string, number>
  readonly dkimDomains: Map<string, number>
  readonly selectors: Map<string, number>
  readonly envelopeDomains: Map<string, number>
}

const newGroup = (home: Home, forwarded: boolean): Group => ({
  ...{ home, forwarded, sources: [], messages: 0, passing: 0, spfAligned: 0, dkimAligned: 0 },
  known: {
    ...{ messages: 0, passing: 0, spfAligned: 0, dkimAligned: 0, days: 0, firstSeen: '9999', lastSeen: '' },
    ...{ firstReporter: Number.POSITIVE_INFINITY, lastReporter: Number.NEGATIVE_INFINITY },
  },
  ...{ dispositions: { none: 0, quarantine: 0, reject: 0 }, firstSeen: '9999', lastSeen: '' },
  ...{ addresses: new Map(), dkimDomains: new Map(), selectors: new Map(), envelopeDomains: new Map() },
})

function addSource(group: Group, source: SourceSum): void {
  const { messages, disposition, first_day, last_day } = source
  group.sources.push(source)
  group.messages += messages
  if (passesDmarc(source)) group.passing += messages
  if (source.spf_aligned === true) group.spfAligned += messages
  if (source.dkim_aligned === true) group.dkimAligned += messages
  group.dispositions[disposition === 'quarantine' || disposition === 'reject' ? disposition : 'none'] += messages
  if (first_day < group.firstSeen) group.firstSeen = first_day
  if (last_day > group.lastSeen) group.lastSeen = last_day
  addKnown(group.known, source)
  const count = (sums: Map<string, number>, name: string): void => void sums.set(name, (sums.get(name) ?? 0) + messages)
  count(group.addresses, source.address)
  count(group.dkimDomains, source.dkim_domain)
  count(group.selectors, source.dkim_selector)
  count(group.envelopeDomains, source.envelope_from || source.spf_domain)
}

function addKnown(known: Known, source: SourceSum): void {
  const { known_messages: messages, first_known, last_known, first_reporter, last_reporter } = source
  if (first_known === null || last_known === null || first_reporter === null || last_reporter === null) return
  known.messages += messages
  if (passesDmarc(source)) known.passing += messages
  if (source.spf_aligned === true) known.spfAligned += messages
  if (source.dkim_aligned === true) known.dkimAligned += messages
  known.days |= source.recent_days
  if (first_known < known.firstSeen) known.firstSeen = first_known
  if (last_known > known.lastSeen) known.lastSeen = last_known
  known.firstReporter = Math.min(known.firstReporter, first_reporter)
  known.lastReporter = Math.max(known.lastReporter, last_reporter)
}

function senderOf(group: Group, facts: SenderFacts): Sender {
  const { home, messages, passing, spfAligned, dkimAligned, firstSeen, lastSeen } = group
  const recentDays = bitsOf(group.known.days)
  const { verdict, because } = verdictOf(group, facts)
  const to_do = toDo(verdict, group, facts)
  return {
    ...{ id: `${facts.domain}:${home.id}`, key: keyOf(home.id), name: home.name },
    ...{ verdict, because: [home.because, ...because] },
    ...(home.word && { said: home.word }),
    ...{ messages, passing, spfAligned, dkimAligned, dispositions: group.dispositions },
    addresses: new Map([...group.addresses].sort(byMessages)),
    dkimDomains: mostUsed(group.dkimDomains),
    selectors: mostUsed(group.selectors),
    envelopeDomains: mostUsed(group.envelopeDomains),
    ...{ firstSeen, lastSeen, recentDays, related: home.related, sources: group.sources },
    ...(home.provider && { provider: home.provider }),
    ...(to_do !== undefined && { to_do }),
  }
}

type Counted = readonly [name: string, messages: number]
const byMessages = (a: Counted, b: Counted): number => b[1] - a[1]

/** The names with most mail. */
const mostUsed = (sums: ReadonlyMap<string, number>): readonly string[] =>
  [...sums]
    .filter(([name]) => name !== '')
    .sort(byMessages)
    .slice(0, SHOWN)
    .map(([name]) => name)

/** The table of verdicts: the first row that fits, unless the evidence is too thin. */
function verdictOf(
  { home, forwarded, known, addresses }: Group,
  facts: SenderFacts,
): { readonly verdict: Verdict; readonly because: readonly string[] } {
  const { messages, passing } = known
  const recentDays = bitsOf(known.days)
  const half = passing * 2 >= messages && passing > 0
  if (home.word) {
    const { ours, note, at } = home.word
    const said = `you said on ${dayOf(at.getTime())} that it is ${ours ? '' : 'not '}yours${note && `: ${note}`}`
    const verdict = half ? 'authorized' : ours ? 'needs_setup' : 'not_ours'
    return { verdict, because: [`${share(passing, messages)} of its mail passes DMARC`, said] }
  }
  if (messages === 0) return { verdict: 'unknown', because: ['only reporters that nobody knows have seen it'] }
  if (!forwarded && half)
    return { verdict: 'authorized', because: [`${share(passing, messages)} of its mail passes DMARC`] }
  if (isThin(known)) return { verdict: 'unknown', because: ['too little was seen of it for a verdict'] }
  if (!facts.isSpfKnown) return { verdict: 'unknown', because: ['the SPF record could not be read'] }
  if (forwarded) return { verdict: 'forwarded', because: [] }
  if (facts.sendsNothing && passing === 0)
    return { verdict: 'forged', because: ['nothing passes', `${facts.domain} says that it sends no mail`] }
  if (home.related) return { verdict: 'needs_setup', because: [`${share(passing, messages)} of its mail passes DMARC`] }
  const listed = [...addresses.keys()].filter((address) => facts.isListed(address)).length
  if (passing === 0 && (home.isBrief || recentDays <= FORGED_DAYS || listed > 0)) {
    const days =
      home.isBrief && listed < addresses.size ? ['none of its addresses was seen on more than 3 of 28 days'] : []
    return {
      verdict: 'forged',
      because: ['nothing passes', ...days, ...(listed > 0 ? [`${listed} of its addresses are on blacklists`] : [])],
    }
  }
  return {
    verdict: 'unknown',
    because: [`${share(passing, messages)} of its mail passes DMARC`, `seen on ${recentDays} of 28 days`],
  }
}

/** What is not said with two reporters or two days, and 10 messages. */
const isThin = ({ messages, firstReporter, lastReporter, firstSeen, lastSeen }: Known): boolean =>
  (firstReporter === lastReporter && firstSeen === lastSeen) || messages < FEW_MESSAGES

/** A share in percent that is 0 or 100 only if it is exactly that. */
export function share(part: number, whole: number): string {
  if (part === 0 || part === whole) return part === 0 ? 'none' : 'all'
  const percent = (part / whole) * 100
  return `${percent < 1 ? percent.toFixed(1) : Math.min(99, Math.round(percent))} %`
}

/** The one thing to do about a sender; undefined if there is none. */
function toDo(verdict: Verdict, group: Group, facts: SenderFacts): string | undefined {
  const { home, known } = group
  const { domain } = facts
  if (home.word?.ours === false) return known.passing > 0 ? passesAsYou(group) : undefined
  const steps = home.provider && dkimStepsOf(home.provider, domain)
  const change = changeOf(group)
  switch (verdict) {
    case 'forwarded':
    case 'forged':
    case 'not_ours':
      return undefined
    case 'authorized':
      if (change) return changed(group, change, facts)
      return restOf(group, facts)
    case 'needs_setup':
      if (change) return changed(group, change, facts)
      if (steps !== undefined) return `Set up DKIM for ${domain}. ${steps}`
      return home.provider
        ? `Have ${home.provider.name} sign with a key of ${domain}, and use a return path below ${domain} if it offers one.`
        : `Sign its mail with DKIM for ${domain}, and send with a return path at or below ${domain} that its SPF record covers.`
    case 'unknown':
      // Of a few messages nothing is asked, nor whose a sender of the domain's own record or provider is.
      if (facts.sendsNothing || home.related || (known.messages > 0 && isThin(known))) return undefined
      return question(group, domain)
    default: {
      const never: never = verdict
      throw new Error(never)
    }
  }
}

/** What the mail of an authorized sender that fails lacks: the largest part of it; undefined if it is noise. */
function restOf({ home, known, sources }: Group, facts: SenderFacts): string | undefined {
  if (known.messages - known.passing <= known.messages * NOISE) return undefined
  const sums = new Map<string, number>()
  for (const source of sources)
    if (!passesDmarc(source) && source.known_messages > 0) {
      const lack = lackOf(source, home, facts)
      sums.set(lack, (sums.get(lack) ?? 0) + source.known_messages)
    }
  const [[lack, messages] = ['', 0]] = [...sums].sort(byMessages)
  return `${messages} of its ${counted(known.messages, 'message')} fail: ${lack}`
}

function lackOf(source: SourceSum, { provider, related, id }: Home, facts: SenderFacts): string {
  const { address, dkim_domain, dkim_selector, dkim_result } = source
  const { domain } = facts
  const organization = organizationOf(domain)
  if (dkim_selector !== '' && dkim_result !== 'pass' && organizationOf(dkim_domain) === organization)
    return facts.hasKey(dkim_domain, dkim_selector) === false
      ? `the key ${dkim_selector} of ${dkim_domain} with which they are signed is not published. Publish it, or let them be signed with one that is.`
      : `their signature ${dkim_selector} of ${dkim_domain} does not hold. Look for a gateway or list that changes them after signing.`
  const envelope = source.envelope_from || source.spf_domain || domain
  const isUnnamed = facts.isSpfKnown && facts.spfOf(address, envelope) === undefined
  if (related && id.startsWith('host:') && isUnnamed && organizationOf(envelope) === organization)
    return `${address} is not in the SPF record of ${envelope}. Name it there, or sign what it sends with DKIM for ${domain}.`
  const steps = provider && dkimStepsOf(provider, domain)
  return steps === undefined
    ? `nothing signs them for ${domain}. Look for a second system without a key.`
    : `nothing signs them for ${domain}, a second account or domain of ${provider!.name} perhaps. ${steps}`
}

/** The question whose a sender is; what follows from either answer depends on what passes, whoever reported it. */
function question({ passing, messages }: Group, domain: string): string {
  if (passing === messages)
    return 'Is this yours? If it is, its mail passes, and nothing is missing. If not, it passes as yours: find out who holds the key, or why your SPF record has it.'
  return passing === 0
    ? `Is this yours? If it is, sign its mail with DKIM for ${domain}. If not, do nothing: a stricter policy refuses it.`
    : `Is this yours? If it is, sign the rest of its mail with DKIM for ${domain}. If not, find out why a part of it passes as yours; a stricter policy refuses the rest.`
}

/** What lets mail pass that the owner says is not theirs. */
function passesAsYou({ sources }: Group): string {
  const passing = sources.filter((one) => passesDmarc(one))
  const key = passing.find(({ dkim_aligned, dkim_selector }) => dkim_aligned && dkim_selector !== '')
  const path = passing.find(({ spf_aligned }) => spf_aligned)
  const ways = [
    ...(key ? [`who holds the key ${key.dkim_selector} of ${key.dkim_domain}`] : []),
    ...(path ? [`why does the SPF record of ${path.envelope_from || path.spf_domain || path.name} have it`] : []),
  ]
  return `It passes as you, and you say that it is not yours: ${ways.join(', and ') || 'who holds the key or stands in your SPF record'}?`
}

/** Days and messages; those of nothing are in the wrong order. */
type Span = { first: string; last: string; days: number; messages: number }
const nothing = (): Span => ({ first: '9999', last: '', days: 0, messages: 0 })
function addSpan(span: Span, { first, last, days, messages }: Span): void {
  if (first < span.first) span.first = first
  if (last > span.last) span.last = last
  span.days |= days
  span.messages += messages
}
/** Mail of one result with less than this share of a sender's is noise: a forwarder broke some of it. */
const NOISE = 0.02

/**
 * All of its mail passes since some day, or none of it: two days and 10 messages say so. On the day itself there may be
 * both.
 */
function changeOf({ known, sources }: Group): { readonly passed: Span; readonly failed: Span } | undefined {
  const results = new Map<string, { readonly passes: boolean; readonly span: Span }>()
  for (const source of sources) {
    const { first_known: first, last_known: last, known_messages: messages, recent_days: days } = source
    if (first === null || last === null) continue
    const passes = passesDmarc(source)
    const key = `${passes} ${source.dkim_domain} ${source.dkim_selector} ${source.dkim_result} ${source.spf_result}`
    const result = results.get(key) ?? { passes, span: nothing() }
    results.set(key, result)
    addSpan(result.span, { first, last, days, messages })
  }
  const [passed, failed] = [nothing(), nothing()]
  for (const { passes, span } of results.values())
    if (span.messages >= known.messages * NOISE) addSpan(passes ? passed : failed, span)
  if (passed.messages < FEW_MESSAGES || failed.messages < FEW_MESSAGES) return undefined
  const [before, after] = passed.first < failed.first ? [passed, failed] : [failed, passed]
  return before.last <= after.first && before.first < after.first && bitsOf(after.days) > 1
    ? { passed, failed }
    : undefined
}

function changed(
  { sources }: Group,
  { passed, failed }: NonNullable<ReturnType<typeof changeOf>>,
  facts: SenderFacts,
): string {
  if (passed.first > failed.first) return `Since ${passed.first} all of its mail passes: nothing to do.`
  const since = `Since ${failed.first} all of its mail fails`
  const before = sources.find((one) => passesDmarc(one) && one.last_known === passed.last)
  if (before?.dkim_aligned && facts.hasKey(before.dkim_domain, before.dkim_selector) === false) {
    const { dkim_domain, dkim_selector } = before
    return `${since}: the key ${dkim_selector} of ${dkim_domain} is not published any more. Publish ${dkim_selector}._domainkey.${dkim_domain} again, or let it sign with a key that is published.`
  }
  const envelope = before?.envelope_from || before?.spf_domain || facts.domain
  if (before?.spf_aligned && facts.isSpfKnown && facts.spfOf(before.address, envelope) === undefined)
    return `${since}: the SPF record of ${envelope} does not name ${before.address} any more. Name it there again, or sign its mail with DKIM for ${facts.domain}.`
  return `${since}: find out what was changed then.`
}
