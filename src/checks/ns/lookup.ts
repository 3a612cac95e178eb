import { within } from '../../base/deadline.ts'
import { type Domain, labelsOf } from '../../names/domain.ts'
import { type Ip, parseIp } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { zoneCandidates } from '../../names/suffix.ts'
import { type Answer, DnsError, type Referral, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import type { Finding } from '../check.ts'
import { mayExist } from '../one-record.ts'
import { isSpf } from '../spf/index.ts'
import { type Copy, type Heard, hostAsker } from './ask.ts'

export const MAX_SERVERS = 13
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
  const from = above[0]
  const [resolved, addressOfParent, looked] = await Promise.all([
    lookupResolved(ctx, domain),
    from === undefined ? undefined : settled(ctx.resolve(from, 'A', ctx.signal)),
    Promise.all(seen.map((host) => lookupHost(ctx, host))),
  ])
  // All addresses first: whom a shared address is asked for depends on the order of the servers alone.
  const askHost = hostAsker(ctx, { domain, zone, servers: seen.length })
  const [delegation, ...heard] = await Promise.all([
    lookupDelegation(ctx, zone, from, addressOfParent),
    ...looked.map(({ addresses }, i) => askHost(addresses.filter(isPublic), i)),
  ])
  const servers = looked.map((host, i): NameServer => ({ ...host, heard: heard[i]! }))
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
    return { exists, zone: candidates[i]!, hosts: serversOf(answer), above: parent ? serversOf(parent) : [] }
  }
  return { exists, hosts: [], above: [] }
}

/** The NS records behind a CNAME are those of another zone. */
const isCut = (answer: Answer<'NS'> | DnsError): answer is Answer<'NS'> =>
  !(answer instanceof DnsError) && answer.kind === 'found' && answer.cname.length === 0
const serversOf = ({ records }: Answer<'NS'>): readonly string[] => [...new Set(records)].sort()

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

async function lookupHost(ctx: Asker, host: string): Promise<Omit<NameServer, 'heard'>> {
  // An NS whose host is an IP address is not a name (RFC 1035 §3.3.11) and is not queried.
  if (parseIp(host).ok) return { host, addresses: [], cname: [] }
  const [a, aaaa] = await Promise.all([
    settled(ctx.resolve(host, 'A', ctx.signal)),
    settled(ctx.resolve(host, 'AAAA', ctx.signal)),
  ])
  const answers = [a, aaaa].flatMap((answer) => (answer instanceof DnsError ? [] : [answer]))
  const error = [a, aaaa].find((answer) => answer instanceof DnsError)
  return {
    host,
    addresses: [...new Set(answers.flatMap(({ records }) => records))].slice(0, MAX_ADDRESSES),
    cname: answers.find(({ cname }) => cname.length > 0)?.cname ?? [],
    ...(error instanceof DnsError ? { error } : {}),
  }
}

/** The delegation of a zone, and the server of the parent zone that returned it. */
export type Delegation = Referral & { readonly from: string }

/** Time limit for the single query. */
const ANSWER_MS = 3_000

/**
 * Queries one server of the parent zone for the delegation of `zone`, at its address (RFC 1034 §4.2.1). Undefined
 * without an answer, and if that server is authoritative for the zone itself, so that it returns no referral.
 */
async function lookupDelegation(
  ctx: Pick<Ctx, 'askServer' | 'signal'>,
  zone: string,
  from: string | undefined,
  found: Answer<'A'> | DnsError | undefined,
): Promise<Delegation | undefined> {
  const address = found instanceof DnsError ? undefined : found?.records.find(isPublic)
  if (from === undefined || address === undefined) return undefined
  const answer = await settled(ctx.askServer(address, zone, 'NS', within(ANSWER_MS, ctx.signal)))
  if (answer instanceof DnsError || answer.referral?.zone !== zone) return undefined
  return { ...answer.referral, from }
}

type Compared = {
  readonly zone: string
  readonly delegation: Delegation
  readonly named: readonly string[]
  /** The addresses of the checked servers, if both families are known. */
  readonly addresses: ReadonlyMap<string, readonly Ip[]>
}

/**
 * The differences between parent and zone: other servers, other addresses, or none for a server whose name is in the
 * zone (RFC 1034 §4.2.2, RFC 9471 §2.1).
 */
export function delegationFindings({ zone, delegation, named, addresses }: Compared): Finding[] {
  const { from, servers, glue } = delegation
  const onlyAbove = servers.filter((host) => !named.includes(host))
  const onlyHere = named.filter((host) => !servers.includes(host))
  const findings: Finding[] = []
  if (onlyAbove.length + onlyHere.length > 0)
    findings.push({ id: 'ns.delegation', args: { zone, from, only_above: onlyAbove, only_here: onlyHere } })
  const isInside = (host: string): boolean => host === zone || host.endsWith(`.${zone}`)
  for (const host of servers.filter(isInside)) {
    const given = glue[host]
    const known = addresses.get(host)
    if (given === undefined) findings.push({ id: 'ns.glue_missing', args: { host, zone, from } })
    else if (known && known.length > 0 && given.some((address) => !known.includes(address)))
      findings.push({ id: 'ns.glue', args: { host, from, glue: given, addresses: known } })
  }
  return findings
}
