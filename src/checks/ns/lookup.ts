import { atMost } from '../../base/at-most.ts'
import { type Domain, labelsOf } from '../../names/domain.ts'
import { type Ip, parseIp } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { zoneCandidates } from '../../names/suffix.ts'
import { type Answer, DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { mayExist } from '../exists.ts'
import { isSpf } from '../spf/index.ts'
import { type AskHost, type Copy, type Heard, hostAsker } from './ask.ts'
import { type Delegation, lookupDelegation } from './delegation.ts'

/** Maximum number of name servers that are checked. */
export const MAX_SERVERS = 13
/** Maximum number of addresses kept for each name server. */
const MAX_ADDRESSES = 10
/** Maximum number of names that are queried to find the zone. */
const MAX_CANDIDATES = 4

export type NameServer = {
  readonly host: string
  readonly addresses: readonly Ip[]
  /** Why the lookup of an address family has no answer. */
  readonly error?: DnsError
  readonly cname: readonly string[]
  /** Its own answers, by address; empty if it has no public address. */
  readonly heard: readonly Heard[]
}

export type NsFacts = {
  readonly domain: Domain
  /** False when the domain does not exist (NXDOMAIN without a CNAME). */
  readonly exists: boolean
  /** The apex of the domain's zone; absent if no NS was found up to the registrable domain. */
  readonly zone?: string
  readonly servers: readonly NameServer[]
  /** Number of servers beyond the first 13. */
  readonly leftOut: number
  /** Every server that the zone names, including those beyond the first 13. */
  readonly named: readonly string[]
  /**
   * The delegation according to a server of the parent zone; absent without an answer, and if that server is
   * authoritative for the zone itself.
   */
  readonly delegation?: Delegation
  /** The recursive resolver's answers for the compared records; a type without an answer is absent. */
  readonly resolved: Partial<Record<Copy, string>>
}

type Asker = Pick<Ctx, 'resolve' | 'askServer' | 'signal'>

/**
 * The name servers of the zone of `domain`, and the answer of each to direct queries: at most 13 servers, at their
 * public addresses, 2 queries per address ({@link hostAsker}); and the delegation according to one server of the parent
 * zone. Three rounds. Rejects with DnsError if the decisive NS records have no answer; all else is data.
 */
export async function lookupNs(ctx: Asker, domain: Domain): Promise<NsFacts> {
  const found = await findZone(ctx, domain)
  const { zone, hosts, exists, above } = found
  if (zone === undefined) return { domain, exists, servers: [], leftOut: 0, named: [], resolved: {} }
  const seen = hosts.slice(0, MAX_SERVERS)
  const askHost = hostAsker(ctx, { domain, zone, servers: seen.length })
  const [resolved, delegation, servers] = await Promise.all([
    lookupResolved(ctx, domain),
    lookupDelegation(ctx, zone, above),
    atMost(MAX_SERVERS, seen, (host, i) => lookupServer(ctx, host, (addresses) => askHost(addresses, i))),
  ])
  const leftOut = Math.max(0, hosts.length - MAX_SERVERS)
  return { domain, exists, zone, servers, leftOut, named: hosts, ...(delegation ? { delegation } : {}), resolved }
}

type Found = {
  readonly exists: boolean
  readonly zone?: string
  readonly hosts: readonly string[]
  /** The name servers of the parent zone, if they are known. */
  readonly above: readonly string[]
}

async function findZone(ctx: Asker, domain: Domain): Promise<Found> {
  const candidates = zoneCandidates(domain, MAX_CANDIDATES)
  const suffix = labelsOf(candidates.at(-1)!).slice(1).join('.')
  const [ofSuffix, ...answers] = await Promise.all(
    [suffix, ...candidates].map((name) => settled(ctx.resolve(name, 'NS', ctx.signal))),
  )
  const exists = mayExist(answers[0])
  for (const [i, answer] of answers.entries()) {
    if (answer instanceof DnsError) throw answer
    if (!isCut(answer)) continue
    const parent = [...answers.slice(i + 1), ofSuffix!].find(isCut)
    return { exists, zone: candidates[i]!, hosts: hostsOf(answer), above: parent ? hostsOf(parent) : [] }
  }
  return { exists, hosts: [], above: [] }
}

/** The NS records behind a CNAME are those of another zone. */
const isCut = (answer: Answer<'NS'> | DnsError): answer is Answer<'NS'> =>
  !(answer instanceof DnsError) && answer.kind === 'found' && answer.cname.length === 0
const hostsOf = ({ records }: Answer<'NS'>): readonly string[] => [...new Set(records)].sort()

async function lookupResolved(ctx: Asker, domain: Domain): Promise<Partial<Record<Copy, string>>> {
  const [mx, spf, dmarc] = await Promise.all([
    settled(ctx.resolve(domain, 'MX', ctx.signal)),
    settled(ctx.resolve(domain, 'TXT', ctx.signal)),
    settled(ctx.resolve(`_dmarc.${domain}`, 'TXT', ctx.signal)),
  ])
  const copies = { mx: copyOf(mx, 'mx'), spf: copyOf(spf, 'spf'), dmarc: copyOf(dmarc, 'dmarc') }
  return Object.fromEntries(Object.entries(copies).filter(([, text]) => text !== undefined))
}

/** An alias leads elsewhere, which a server without recursion need not know: such a record is not compared. */
const copyOf = (answer: Answer<'MX' | 'TXT'> | DnsError, copy: Copy): string | undefined =>
  answer instanceof DnsError || answer.cname.length > 0 ? undefined : textOf(answer, copy)

const IS_OF: Readonly<Record<Copy, (text: string) => boolean>> = {
  mx: () => true,
  spf: isSpf,
  dmarc: (text) => /^v\s*=\s*DMARC1/.test(text),
}

/**
 * The records of one type as a text for comparison: sorted, because their order means nothing. Of TXT only the records
 * of that kind.
 */
export function textOf(answer: Answer<'MX' | 'TXT'>, copy: Copy): string {
  const texts = answer.records.map((record) =>
    typeof record === 'string' ? record : `${record.preference} ${record.exchange}`,
  )
  return texts.filter(IS_OF[copy]).sort().join('\n')
}

async function lookupServer(
  ctx: Asker,
  host: string,
  ask: (addresses: readonly Ip[]) => ReturnType<AskHost>,
): Promise<NameServer> {
  // An NS whose host is an IP address is not a name (RFC 1035 §3.3.11) and is not queried.
  if (parseIp(host).ok) return { host, addresses: [], cname: [], heard: [] }
  const [a, aaaa] = await Promise.all([
    settled(ctx.resolve(host, 'A', ctx.signal)),
    settled(ctx.resolve(host, 'AAAA', ctx.signal)),
  ])
  const answers = [a, aaaa].flatMap((answer) => (answer instanceof DnsError ? [] : [answer]))
  const error = [a, aaaa].find((answer) => answer instanceof DnsError)
  const addresses = [...new Set(answers.flatMap(({ records }) => records))].slice(0, MAX_ADDRESSES)
  return {
    host,
    addresses,
    cname: answers.find(({ cname }) => cname.length > 0)?.cname ?? [],
    heard: await ask(addresses.filter(isPublic)),
    ...(error instanceof DnsError ? { error } : {}),
  }
}
