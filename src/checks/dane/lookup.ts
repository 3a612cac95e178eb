import { hostError, type MailHost, type MailHosts } from '../../mailhosts/mailhosts.ts'
import type { Domain } from '../../names/domain.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { type CheckInput, mailHostsOf } from '../check.ts'
import type { StarttlsFacts, TlsHost } from '../context.ts'
import { believes } from '../dnssec/index.ts'
import { nameMatches } from '../starttls/index.ts'
import { problemOf, type Tlsa, tlsaMatches } from './tlsa.ts'

/** Maximum number of records kept per mail host. */
const MAX_RECORDS = 20

/** The TLSA records of one mail host. */
type DaneHost = {
  readonly host: string
  /** The owner name: `_25._tcp.` and the host, or the end of its CNAME chain (RFC 7672 §2.2.3). */
  readonly name: string
  /** The addresses were validated; otherwise senders do not query TLSA records (RFC 7672 §2.2). Null: no answer. */
  readonly hostSecure: boolean | null
  readonly records: readonly Tlsa[]
  /** The TLSA answer, positive or negative, was validated. */
  readonly tlsaSecure: boolean
  readonly error?: DnsError
}

export type DaneFacts = {
  readonly domain: Domain
  readonly mail: MailHosts['kind']
  readonly mxSecure: boolean
  /** The resolver validates and its AD bit is trusted; absent: no answer. */
  readonly believed?: boolean
  readonly hosts: readonly DaneHost[]
  /** Number of hosts beyond the first 20. */
  readonly leftOut: number
  /** TLSA records at the domain itself, while no mail host has any. */
  readonly misplaced?: string
  /** The zone of the domain is not signed, whatever the resolver validates; filled in by the judge. */
  readonly isUnsigned?: boolean
  /** The result of the STARTTLS check, if it ran; filled in by the judge. */
  readonly tls?: StarttlsFacts
}

type Asker = Pick<Ctx, 'resolve' | 'signal'>

/**
 * The TLSA records of each mail host of `domain` at port 25: MX, then the addresses, then TLSA. At most 20 queries of
 * its own, in one round after the two of the MX check (one more for a host that is a CNAME, and for a signed zone whose
 * hosts have none). Rejects with DnsError if
 * MX has no answer; all other failures are data.
 */
export async function lookupDane(ctx: Asker, domain: Domain, input: CheckInput = {}): Promise<DaneFacts> {
  const [mail, believed] = await Promise.all([mailHostsOf(ctx, domain, input), believes(ctx)])
  const hosts = mail.hosts.filter(({ literal }) => literal === undefined)
  const found = await lookupTlsa(ctx, hosts)
  const isWithout =
    mail.secure && found.length > 0 && found.every(({ records, error }) => records.length === 0 && !error)
  const misplaced =
    isWithout && !hosts.some(({ exchange }) => exchange === domain) ? await lookupAt(ctx, domain) : undefined
  return {
    domain,
    mail: mail.kind,
    mxSecure: mail.secure,
    ...(believed === undefined ? {} : { believed }),
    hosts: found,
    leftOut: mail.truncated,
    ...(misplaced !== undefined && { misplaced }),
  }
}

/** The name of TLSA records at the domain itself, where no sender looks while it has other mail hosts. */
async function lookupAt(ctx: Asker, domain: Domain): Promise<string | undefined> {
  const name = `_25._tcp.${domain}`
  const answer = await settled(ctx.resolve(name, 'TLSA', ctx.signal))
  return !(answer instanceof DnsError) && answer.records.length > 0 ? name : undefined
}

async function lookupTlsa(ctx: Asker, hosts: readonly MailHost[]): Promise<readonly DaneHost[]> {
  const first = await Promise.all(
    hosts.map((host): DaneHost | Promise<DaneHost> => {
      // No sender gets as far as the TLSA records of a host without an address.
      const { exchange } = host
      if (host.addresses.length > 0 || hostError(host)) return askTlsa(ctx, host, expandedName(host) ?? exchange)
      return { host: exchange, name: `_25._tcp.${exchange}`, hostSecure: host.secure, records: [], tlsaSecure: false }
    }),
  )
  return Promise.all(
    first.map((found, i) => {
      const host = hosts[i]!
      const isOver = found.error || found.records.length > 0 || expandedName(host) === undefined
      return isOver ? found : askTlsa(ctx, host, host.exchange)
    }),
  )
}

/** RFC 7672 §2.2.3: behind a validated CNAME the name at its end comes first, then the host itself. */
const expandedName = ({ cname, secure }: MailHost): string | undefined => (secure ? cname.at(-1) : undefined)

async function askTlsa(ctx: Asker, host: MailHost, base: string): Promise<DaneHost> {
  const name = `_25._tcp.${base}`
  const answer = await settled(ctx.resolve(name, 'TLSA', ctx.signal))
  const known = { host: host.exchange, name, hostSecure: hostError(host) ? null : host.secure }
  if (answer instanceof DnsError) return { ...known, records: [], tlsaSecure: false, error: answer }
  return { ...known, records: answer.records.slice(0, MAX_RECORDS), tlsaSecure: answer.secure }
}

type RecordState = {
  readonly record: Tlsa
  readonly problem?: ReturnType<typeof problemOf>
  /** Whether the presented certificate matches it; null: none was seen, or the record cannot be used. */
  readonly matches: boolean | null
}

export type HostState = {
  readonly host: DaneHost
  /** MX, addresses and TLSA were all validated; null: could not be determined. */
  readonly secure: boolean | null
  readonly records: readonly RecordState[]
  /** Senders that use DANE apply these records: secure, and one of them is usable (RFC 7672 §2.2). */
  readonly inForce: boolean
  readonly seen?: TlsHost
}

export const hostStates = (facts: DaneFacts): HostState[] => facts.hosts.map((host) => stateOf(facts, host))

function stateOf(facts: DaneFacts, host: DaneHost): HostState {
  const seen = facts.tls?.hosts.find((other) => other.host === host.host)
  const secure = secureOf(facts, host)
  const records = host.records.map((record) => recordState(record, seen, facts.tls?.nowMs ?? 0))
  return {
    host,
    secure,
    records,
    inForce: secure === true && records.some(({ problem }) => problem === undefined),
    ...(seen ? { seen } : {}),
  }
}

function secureOf({ mxSecure, believed, isUnsigned }: DaneFacts, host: DaneHost): boolean | null {
  if (mxSecure && host.hostSecure && host.tlsaSecure) return true
  // RFC 7672 §2.2.1: MX records of a zone without signatures are insecure, also for a resolver that validates nothing.
  if (isUnsigned && !mxSecure) return false
  // Nothing is secure if the AD bit of the resolver is not trusted.
  if (believed !== true || host.error !== undefined || host.hostSecure === null) return null
  return false
}

function recordState(record: Tlsa, seen: TlsHost | undefined, nowMs: number): RecordState {
  const problem = problemOf(record)
  if (problem) return { record, problem, matches: null }
  const chain = seen?.tls?.chain
  if (!seen?.tls || !chain || chain.length === 0) return { record, matches: null }
  return {
    record,
    matches: tlsaMatches(record, chain, { nowMs, nameMatches: nameMatches(seen.host, seen.tls.names) }),
  }
}
