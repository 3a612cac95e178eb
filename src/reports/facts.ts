import { atMost, inTurns } from '../base/at-most.ts'
import { within } from '../base/deadline.ts'
import type { TtlCache } from '../base/ttl-cache.ts'
import { lookupAddress } from '../checks/ptr/index.ts'
import {
  firstPassing,
  lookupSpf,
  type Passing,
  type PassingAddresses,
  passes,
  passingTerms,
} from '../checks/spf/index.ts'
import { lookupMailHosts } from '../mailhosts/mailhosts.ts'
import { type Domain, parseDomain } from '../names/domain.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import { PROVIDERS, type Provider, providerOfHost } from '../providers/index.ts'
import { ownerOfHost, providerOfSignature } from '../providers/sending.ts'
import type { SenderWord } from '../store/postgres/report-notes.ts'
import type { SourceSum } from '../store/postgres/report-sums.ts'
import type { Ctx } from '../world.ts'
import type { SharedFacts } from './across.ts'
import type { Network, SenderFacts, SpfMatch } from './home.ts'
import type { TriedRecords } from './policy.ts'
import { organizationOf } from './report.ts'
import { bitsOf, FORGED_DAYS, passesDmarc } from './senders.ts'

/** Return paths below the organizational domain whose SPF records are read, the one with most mail first. */
const MAX_ENVELOPES = 10
/**
 * Addresses whose names are asked for one answer, those with most mail first; the rest is known once they were asked.
 */
const MAX_HOSTS = 300
const HOSTS_AT_ONCE = 50
/** Selectors of the domain whose keys are asked for one answer. */
const MAX_KEYS = 20
/** Time limit for all that is asked of the DNS for one answer, ms. */
const DNS_MS = 3_000
/** Addresses that are looked up on the blacklists for one answer, those with most mail first. */
const MAX_LISTED = 30
const LISTED_AT_ONCE = 5
/** How long it is cached whether an address is listed, ms. */
const REMEMBER_LISTED_MS = 3_600_000
/** How long a name and the ranges of a provider are cached, ms. */
const REMEMBER_MS = 86_400_000

type Lookup = Pick<Ctx, 'resolve' | 'signal'>

/** What a process remembers between two answers. */
type FactMemory = {
  readonly hosts: TtlCache<{ readonly host: string | undefined }>
  readonly ranges: TtlCache<Pick<Passing, 'ip4' | 'ip6'>>
  readonly listed: TtlCache<{ readonly isListed: boolean }>
}
export type FactSources = {
  readonly memory: FactMemory
  readonly networkOf: (address: Ip) => Promise<Network | undefined>
  /**
   * Whether the address is on a blacklist of tier A or B; undefined: no list answered. Never rejects because of the
   * DNS.
   */
  readonly listedOn: (address: Ip, signal: AbortSignal) => Promise<boolean | undefined>
}

/**
 * The facts beside the reports; `unanswered` names what the DNS did not answer: without the SPF record only
 * `authorized` is certain.
 */
export type AskedFacts = SenderFacts & {
  readonly unanswered: readonly string[]
  /** Who passes SPF, by the name of the return path; undefined: its record was not read. */
  readonly passesOf: TriedRecords['passesOf']
}

/** Asks what the senders are judged by. Never rejects because of the DNS. */
export async function askFacts(
  ctx: Lookup,
  domain: Domain,
  { sources, words }: { readonly sources: readonly SourceSum[]; readonly words: readonly SenderWord[] },
  { memory, networkOf, listedOn }: FactSources,
): Promise<AskedFacts> {
  const asked = { resolve: ctx.resolve, signal: within(DNS_MS, ctx.signal) }
  const organization = organizationOf(domain)
  const { terms, passing, unanswered, sendsNothing } = await spfTerms(
    asked,
    domain,
    await envelopesOf(sources, organization),
  )
  const matches = new Map([...terms.keys()].map((name) => [name, new Map<string, SpfMatch | undefined>()] as const))
  const spfOf = (address: string, envelope: string): SpfMatch | undefined => {
    const own = terms.has(envelope) ? envelope : domain
    const known = matches.get(own)
    if (known?.has(address)) return known.get(address)
    const ip = ipOf(address)
    const match =
      ip &&
      (matchIn(terms.get(own) ?? [], own, ip) ??
        (own === domain ? undefined : matchIn(terms.get(domain) ?? [], domain, ip)))
    known?.set(address, match)
    return match
  }
  const open = await openAddresses(sources, organization, spfOf)
  const [hosts, mail, keys, listed] = await Promise.all([
    hostsOf(asked, open, memory),
    mailHostsOf(asked, domain),
    keysOf(asked, sources, organization),
    steadyFailures(sources, spfOf).then((steady) => listedOf(asked.signal, steady, memory, listedOn)),
  ])
  const nameless = open.filter((address) => {
    const owner = ownerOfHost(hosts.get(address) ?? '')
    return !hosts.has(address) || (owner && 'rentedFrom' in owner)
  })
  const [ranges, networks] = await Promise.all([
    rangesOf(asked, nameless.length > 0, memory),
    networksOf(nameless, networkOf),
  ])
  const rangeOf = (text: string): Provider | undefined => {
    const address = ipOf(text)
    return address && ranges(address)
  }
  return {
    domain,
    spfOf,
    hostOf: (address) => hosts.get(address),
    mailHostOf: (address) => mail.hosts.get(address),
    mailProviders: mail.providers,
    rangeOf,
    networkOf: (address) => networks.get(address),
    isListed: (address) => listed.has(address),
    isSpfKnown: unanswered.length === 0,
    sendsNothing,
    hasKey: (name, selector) => keys.get(`${selector}._domainkey.${name}`),
    ...{ words, unanswered },
    passesOf: passesIn(passing),
  }
}

/** Who passes SPF by these records, of which each is that of a return path. */
export const passesIn =
  (records: ReadonlyMap<string, Passing>): TriedRecords['passesOf'] =>
  (name) => {
    const found = records.get(name)
    return found && ((address) => passes(found, address))
  }

/** Whether a DKIM key stands at a name; undefined where the DNS has no answer. */
export async function hasKeyAt({ resolve, signal }: Pick<Ctx, 'resolve' | 'signal'>, name: string) {
  const answer = await settled(resolve(name, 'TXT', signal))
  return answer instanceof DnsError
    ? undefined
    : answer.records.some((record) => /(?:^|;)\s*p\s*=\s*[A-Za-z0-9+/]/.test(record))
}

/** What is known of the addresses of sources of any domains. Never rejects because of the DNS. */
export async function askSharedFacts(
  ctx: Lookup,
  sources: readonly SourceSum[],
  { memory, networkOf }: Pick<FactSources, 'memory' | 'networkOf'>,
): Promise<Omit<SharedFacts, 'words'>> {
  const asked = { resolve: ctx.resolve, signal: within(DNS_MS, ctx.signal) }
  const open = await openAddresses(sources, '', () => undefined)
  const [hosts, ranges, networks] = await Promise.all([
    hostsOf(asked, open, memory),
    rangesOf(asked, open.length > 0, memory),
    networksOf(open, networkOf),
  ])
  return {
    hostOf: (address) => hosts.get(address),
    rangeOf: (text) => {
      const address = ipOf(text)
      return address && ranges(address)
    },
    networkOf: (address) => networks.get(address),
  }
}

const ipOf = (text: string): Ip | undefined => {
  const address = parseIp(text)
  return address.ok ? address.value : undefined
}

/** Names of return paths at or below the organizational domain, most mail first. */
async function envelopesOf(sources: readonly SourceSum[], organization: string): Promise<readonly Domain[]> {
  const sums = new Map<string, number>()
  await inTurns(sources, ({ envelope_from, spf_domain, messages }) => {
    const name = envelope_from || spf_domain
    if (name === organization || name.endsWith(`.${organization}`)) sums.set(name, (sums.get(name) ?? 0) + messages)
  })
  return [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_ENVELOPES)
    .flatMap(([name]) => {
      const domain = parseDomain(name)
      return domain.ok ? [domain.value] : []
    })
}

async function spfTerms(ctx: Lookup, domain: Domain, envelopes: readonly Domain[]) {
  const names = [...new Set([domain, ...envelopes])]
  const unanswered: string[] = []
  const passing = new Map<string, Passing>()
  let sendsNothing = false
  const found = await atMost(5, names, async (name): Promise<readonly PassingAddresses[]> => {
    const facts = await settled(lookupSpf(ctx, name))
    if (!(facts instanceof DnsError)) {
      if (name === domain) sendsNothing = letsNobodyPass(facts.reading?.extent.passing)
      const { terms, open } = passingTerms(facts.reading?.extent.passing)
      if (open) unanswered.push(`a part of the SPF record of ${name}`)
      passing.set(name, facts.reading?.extent.passing ?? NOBODY)
      return terms
    }
    unanswered.push(`the SPF record of ${name}`)
    return []
  })
  const terms = new Map<string, readonly PassingAddresses[]>(names.map((name, i) => [name, found[i]!]))
  return { terms, passing, unanswered, sendsNothing }
}

const letsNobodyPass = (one: Passing | undefined): boolean =>
  one !== undefined && !one.open && [one.ip4, one.ip6, one.terms, one.conditional].every(({ length }) => length === 0)

/** No record: nobody passes. */
export const NOBODY: Passing = { ip4: [], ip6: [], terms: [], conditional: [], open: false, tooWide: false }

function matchIn(terms: readonly PassingAddresses[], domain: string, address: Ip): SpfMatch | undefined {
  const term = terms.find((one) => one.has(address))
  return term && { text: term.text, include: term.include, domain }
}

/** Addresses that neither a provider's signature nor an include names, those with most mail first. */
async function openAddresses(
  sources: readonly SourceSum[],
  organization: string,
  spfOf: SenderFacts['spfOf'],
): Promise<readonly Ip[]> {
  /** Whether a provider has signed, by the signers: few sources have others than all. */
  const signed = new Map([['', false]])
  const isSigned = (signers: string): boolean =>
    signers.split(' ').some((one) => {
      const name = one.slice(0, one.indexOf(':'))
      return organizationOf(name) !== organization && providerOfSignature(name) !== undefined
    })
  const open = new Set<Ip>()
  await inTurns(sources, ({ signers, address, envelope_from, spf_domain }) => {
    const known = signed.get(signers)
    const isNamed = known ?? isSigned(signers)
    if (known === undefined) signed.set(signers, isNamed)
    if (isNamed || spfOf(address, envelope_from || spf_domain)?.include) return
    const ip = ipOf(address)
    if (ip !== undefined) open.add(ip)
  })
  return [...open]
}

/**
 * Addresses outside of the SPF record that pass nothing and were seen on more days than a forger's: whether they are
 * listed decides. Most mail first.
 */
async function steadyFailures(sources: readonly SourceSum[], spfOf: SenderFacts['spfOf']): Promise<readonly Ip[]> {
  const found = new Map<string, { passes: boolean; days: number }>()
  await inTurns(sources, (source) => {
    const known = found.get(source.address) ?? { passes: false, days: 0 }
    known.passes ||=
      (passesDmarc(source) && source.known_messages > 0) ||
      spfOf(source.address, source.envelope_from || source.spf_domain) !== undefined
    known.days |= source.recent_days
    found.set(source.address, known)
  })
  return [...found]
    .filter(([, { passes, days }]) => !passes && bitsOf(days) > FORGED_DAYS)
    .slice(0, MAX_LISTED)
    .flatMap(([text]) => ipOf(text) ?? [])
}

async function listedOf(
  signal: AbortSignal,
  addresses: readonly Ip[],
  { listed }: FactMemory,
  listedOn: FactSources['listedOn'],
): Promise<ReadonlySet<string>> {
  const found = await atMost(LISTED_AT_ONCE, addresses, async (address) => {
    const known = listed.get(address)
    if (known || signal.aborted) return known?.value.isListed
    const answer = await listedOn(address, signal)
    if (answer !== undefined) listed.set(address, { isListed: answer }, REMEMBER_LISTED_MS)
    return answer
  })
  return new Set(addresses.filter((_, i) => found[i] === true))
}

async function hostsOf(
  ctx: Lookup,
  addresses: readonly Ip[],
  { hosts }: FactMemory,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const unknown: Ip[] = []
  for (const address of addresses) {
    const known = hosts.get(address)
    if (!known) unknown.push(address)
    else if (known.value.host !== undefined) found.set(address, known.value.host)
  }
  await atMost(HOSTS_AT_ONCE, unknown.slice(0, MAX_HOSTS), async (address) => {
    if (ctx.signal.aborted) return
    const ptr = await settled(lookupAddress(ctx, address))
    if (ptr instanceof DnsError || ptr.error || ptr.forward.some(({ leads }) => leads === 'unknown')) return
    const host = ptr.forward
      .find(({ leads }) => leads === 'back')
      ?.name.toLowerCase()
      .replace(/\.$/, '')
    hosts.set(address, { host }, REMEMBER_MS)
    if (host !== undefined) found.set(address, host)
  })
  return found
}

/** The addresses of the domain's own MX hosts, and the providers of the others, whose hosts are other people's too. */
async function mailHostsOf(
  ctx: Lookup,
  domain: Domain,
): Promise<{ readonly hosts: ReadonlyMap<string, string>; readonly providers: ReadonlySet<Provider> }> {
  const found = await settled(lookupMailHosts(ctx, domain))
  const all = found instanceof DnsError || found.kind !== 'explicit' ? [] : found.hosts
  const hosts = new Map<string, string>()
  const providers = new Set<Provider>()
  for (const { exchange, addresses } of all) {
    const provider = providerOfHost(exchange)
    if (provider) providers.add(provider)
    else for (const address of addresses) hosts.set(address, exchange)
  }
  return { hosts, providers }
}

/** Whether the keys are published by which signatures verified; a signature that fails names what its author likes. */
async function keysOf(
  ctx: Lookup,
  sources: readonly SourceSum[],
  organization: string,
): Promise<ReadonlyMap<string, boolean>> {
  const names = new Set<string>()
  await inTurns(sources, ({ dkim_domain, dkim_selector, dkim_result, known_messages }) => {
    if (names.size >= MAX_KEYS || dkim_result !== 'pass' || known_messages === 0) return
    const name = `${dkim_selector}._domainkey.${dkim_domain}`
    if (dkim_selector !== '' && organizationOf(dkim_domain) === organization && parseDomain(dkim_domain).ok)
      names.add(name)
  })
  const found = new Map<string, boolean>()
  await atMost(10, [...names], async (name) => {
    const isThere = await hasKeyAt(ctx, name)
    if (isThere !== undefined) found.set(name, isThere)
  })
  return found
}

/**
 * Includes of providers that send for others: what is in them is theirs. Web hosts are left out: their ranges hold
 * anybody's servers.
 */
const RANGED: readonly (readonly [provider: Provider, include: string])[] = PROVIDERS.filter(
  ({ kind, spf }) => spf !== undefined && (kind === 'sender' || kind === 'mailbox' || kind === 'forwarder'),
).map((provider) => [provider, provider.spf!])

/** The provider in whose published ranges an address is. They are asked once a day, in the time that is left. */
async function rangesOf(
  ctx: Lookup,
  isNeeded: boolean,
  { ranges }: FactMemory,
): Promise<(address: Ip) => Provider | undefined> {
  if (!isNeeded) return () => undefined
  const found = await atMost(10, RANGED, async ([, include]) => {
    const known = ranges.get(include)
    if (known) return known.value
    const name = parseDomain(include)
    if (ctx.signal.aborted || !name.ok) return NOBODY
    const facts = await settled(lookupSpf(ctx, name.value))
    if (facts instanceof DnsError) return NOBODY
    const { ip4, ip6 } = facts.reading?.extent.passing ?? NOBODY
    ranges.set(include, { ip4, ip6 }, REMEMBER_MS)
    return { ip4, ip6 }
  })
  const ownerOf = firstPassing(found)
  return (address) => RANGED[ownerOf(address) ?? -1]?.[0]
}

async function networksOf(
  addresses: readonly Ip[],
  networkOf: FactSources['networkOf'],
): Promise<ReadonlyMap<string, Network>> {
  const found = new Map<string, Network>()
  await inTurns(addresses, async (address) => {
    const network = await networkOf(address)
    if (network !== undefined) found.set(address, network)
  })
  return found
}
