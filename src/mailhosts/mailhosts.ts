import type { Problem } from '../base/problem.ts'
import { type Ip, looksLikeIp, parseIp } from '../names/ip.ts'
import { type Answer, DnsError, type RecordData, settled } from '../net/dns/resolver.ts'
import { providerOfVerification } from '../providers/index.ts'
import type { Ctx } from '../world.ts'
import { noMailProblem } from './problems.ts'
import { webProxyOf } from './web-proxies.ts'

/** Maximum number of mail hosts; a domain with more is reported as `truncated`. */
const MAX_HOSTS = 20
/** Maximum number of addresses kept per host, both address families together. */
const MAX_ADDRESSES = 20

/**
 * The answer for one address family of one host; `unknown`: no answer, and `errors` has the reason; `not_asked`: an IP
 * literal, or a verification MX.
 */
type FamilyAnswer = 'found' | 'nodata' | 'nxdomain' | 'unknown' | 'not_asked'

export type MailHost = {
  /** Lower case, no final dot. */
  readonly exchange: string
  readonly preference: number
  /**
   * The exchange is an IP address, which an MX record must not contain (RFC 5321 §5.1, RFC 1035 §3.3.9). It is not
   * queried.
   */
  readonly literal?: Ip
  /** The CNAME chain of the exchange, which should not exist (RFC 2181 §10.3). */
  readonly cname: readonly string[]
  /** IPv4 first, then IPv6, in the order of the server, without duplicates. At most 20. */
  readonly addresses: readonly Ip[]
  /** Number of addresses beyond the first 20. */
  readonly addressesLeftOut: number
  readonly answers: { readonly A: FamilyAnswer; readonly AAAA: FamilyAnswer }
  readonly errors: { readonly A?: DnsError; readonly AAAA?: DnsError }
  /** Both families' answers were validated. */
  readonly secure: boolean
  /** The web proxy to which every address belongs; absent for the host of a known provider. */
  readonly proxy?: string
}

export type MailHosts = {
  /**
   * `explicit`: MX records; `implicit`: none, the domain's own addresses (RFC 5321 §5.1); `null`: the domain accepts no
   * mail (RFC 7505); `none`: neither.
   */
  readonly kind: 'explicit' | 'implicit' | 'null' | 'none'
  /** False if the domain does not exist (NXDOMAIN without a CNAME). */
  readonly exists: boolean
  /**
   * In order of preference, without duplicates and without the null exchange. Implicit: the domain itself with
   * preference 0. At most 20.
   */
  readonly hosts: readonly MailHost[]
  /**
   * MX records that only prove to a provider that the domain is its customer's. They are among the hosts if there is no
   * other; their addresses are not queried.
   */
  readonly verification: readonly VerificationMx[]
  /** The MX records as published, in order of preference. At most 100. */
  readonly records: readonly RecordData['MX'][]
  /** A null MX with other records, where it has no meaning (RFC 7505 §3). */
  readonly nullBesideOthers: boolean
  /** Exchanges that are named more than once. */
  readonly duplicates: readonly string[]
  /** Number of hosts beyond the first 20. */
  readonly truncated: number
  /** The CNAME chain of the domain itself. */
  readonly cname: readonly string[]
  /** The MX answer was validated. */
  readonly secure: boolean
}

/** An MX record for verification, and the name of the provider. */
type VerificationMx = RecordData['MX'] & { readonly provider: string }

/** Why an address family of a host is not known, if so. */
export const hostError = ({ errors }: Pick<MailHost, 'errors'>): DnsError | undefined => errors.A ?? errors.AAAA

type Asker = Pick<Ctx, 'resolve' | 'signal'>

/**
 * Finds the mail hosts of `domain` with their addresses: one query, then A and AAAA of every host at once (at most 40
 * more). A host without an answer is data. Rejects with DnsError if MX has no answer, and if there is no MX and it
 * cannot be determined whether the domain has addresses.
 */
export async function lookupMailHosts(ctx: Asker, domain: string): Promise<MailHosts> {
  const answer = await ctx.resolve(domain, 'MX', ctx.signal)
  if (answer.kind !== 'found') return withoutMx(ctx, domain, answer)
  const records = [...answer.records].sort((a, b) => a.preference - b.preference)
  const named = records.filter((record) => record.exchange !== '')
  const verification = named.flatMap((record): VerificationMx[] => {
    const provider = providerOfVerification(record.exchange)
    return provider ? [{ ...record, provider: provider.name }] : []
  })
  const taking = named.filter(({ exchange }) => !providerOfVerification(exchange))
  const distinct = firstOfEach(taking.length > 0 ? taking : named)
  const hosts = await Promise.all(
    distinct.slice(0, MAX_HOSTS).map(({ exchange, preference }) => lookupHost(ctx, exchange, preference)),
  )
  return {
    kind: named.length === 0 ? 'null' : 'explicit', // RFC 7505 §3: with other records the null MX is ignored
    exists: true,
    hosts,
    verification,
    records: records.slice(0, 100),
    nullBesideOthers: named.length > 0 && named.length < records.length,
    duplicates: repeated(named.map((record) => record.exchange)),
    truncated: Math.max(0, distinct.length - MAX_HOSTS),
    cname: answer.cname,
    secure: answer.secure,
  }
}

/**
 * The hosts in the order of attempts: by preference, equal ones shuffled (RFC 5321 §5.1). `random` returns 0 (included)
 * to 1 (excluded).
 */
export function orderMailHosts<T extends { readonly preference: number }>(
  hosts: readonly T[],
  random: () => number,
): T[] {
  const shuffled = [...hosts]
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const kept = shuffled[i]!
    shuffled[i] = shuffled[j]!
    shuffled[j] = kept
  }
  return shuffled.sort((a, b) => a.preference - b.preference) // stable: equal ones stay shuffled
}

/** RFC 5321 §5.1: the domain's own addresses are used only if the answer says that there is no MX. */
async function withoutMx(ctx: Asker, domain: string, answer: Answer<'MX'>): Promise<MailHosts> {
  const base = { verification: [], records: [], nullBesideOthers: false, duplicates: [], truncated: 0 }
  const nothing = { ...base, kind: 'none', hosts: [], cname: answer.cname, secure: answer.secure } as const
  // RFC 6604 §3: NXDOMAIN at the end of a CNAME chain is about its last name; the domain itself exists.
  if (answer.kind === 'nxdomain') return { ...nothing, exists: answer.cname.length > 0 }
  const host = await lookupHost(ctx, domain, 0)
  if (host.addresses.length > 0) return { ...nothing, kind: 'implicit', exists: true, hosts: [host] }
  const error = hostError(host)
  if (error) throw error
  return { ...nothing, exists: true }
}

async function lookupHost(ctx: Asker, exchange: string, preference: number): Promise<MailHost> {
  const unbracketed = exchange.replace(/^\[(?:ipv6:)?|\]$/g, '')
  const literal = looksLikeIp(unbracketed) ? parseIp(unbracketed) : undefined // why a name is no address is not asked
  if (literal?.ok) return { ...notAsked(exchange, preference), literal: literal.value }
  if (providerOfVerification(exchange)) return notAsked(exchange, preference)
  const [a, aaaa] = await Promise.all([
    settled(ctx.resolve(exchange, 'A', ctx.signal)),
    settled(ctx.resolve(exchange, 'AAAA', ctx.signal)),
  ])
  const addresses = [...new Set([...recordsOf(a), ...recordsOf(aaaa)])]
  const cname = cnameOf(a) ?? cnameOf(aaaa) ?? []
  const proxy = webProxyOf(addresses, [exchange, ...cname])
  return {
    exchange,
    preference,
    cname,
    ...(proxy !== undefined && { proxy }),
    addresses: addresses.slice(0, MAX_ADDRESSES),
    addressesLeftOut: Math.max(0, addresses.length - MAX_ADDRESSES),
    answers: { A: kindOf(a), AAAA: kindOf(aaaa) },
    errors: { ...(a instanceof DnsError && { A: a }), ...(aaaa instanceof DnsError && { AAAA: aaaa }) },
    secure: [a, aaaa].every((answer) => !(answer instanceof DnsError) && answer.secure),
  }
}

const notAsked = (exchange: string, preference: number): MailHost => ({
  exchange,
  preference,
  cname: [],
  addresses: [],
  addressesLeftOut: 0,
  answers: { A: 'not_asked', AAAA: 'not_asked' },
  errors: {},
  secure: false,
})

type Asked = Answer<'A' | 'AAAA'> | DnsError

const recordsOf = (asked: Asked): readonly Ip[] => (asked instanceof DnsError ? [] : asked.records)
const kindOf = (asked: Asked): FamilyAnswer => (asked instanceof DnsError ? 'unknown' : asked.kind)
const cnameOf = (asked: Asked): readonly string[] | undefined =>
  asked instanceof DnsError || asked.cname.length === 0 ? undefined : asked.cname

function firstOfEach(records: readonly RecordData['MX'][]): readonly RecordData['MX'][] {
  if (records.length < 2) return records
  const seen = new Set<string>()
  return records.filter(({ exchange }) => !seen.has(exchange) && seen.add(exchange))
}

function repeated(names: readonly string[]): string[] {
  if (names.length < 2) return []
  const seen = new Set<string>()
  return [...new Set(names.filter((name) => seen.has(name) || !seen.add(name)))].slice(0, MAX_HOSTS)
}

/** Why a domain receives no mail, as text after its name; undefined if it has a mail host. */
export function noMailReason({ kind, exists }: Pick<MailHosts, 'kind' | 'exists'>): Problem | undefined {
  if (kind === 'null') return noMailProblem('null_mx') // RFC 7505 §3
  if (kind === 'none') return noMailProblem(exists ? 'no_host' : 'no_name') // RFC 5321 §5.1
  return undefined
}
