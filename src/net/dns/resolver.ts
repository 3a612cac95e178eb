import { OutsideError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Ip } from '../../names/ip.ts'
import { dnsProblem } from './problems.ts'

/**
 * The parsed data of each record type that the program queries. Names are in presentation format, lower case, without a
 * final dot ("" is the root).
 */
export type RecordData = {
  readonly A: Ip
  readonly AAAA: Ip
  readonly CNAME: string
  readonly NS: string
  readonly PTR: string
  readonly MX: { readonly preference: number; readonly exchange: string }
  /**
   * The character-strings of one record joined (RFC 7208 §3.3), as UTF-8 if valid, otherwise one character per octet.
   */
  readonly TXT: string
  readonly SOA: {
    readonly mname: string
    readonly rname: string
    readonly serial: number
    readonly refresh: number
    readonly retry: number
    readonly expire: number
    readonly minimum: number
  }
  readonly CAA: { readonly critical: boolean; readonly tag: string; readonly value: string }
  /** `data` is lower-case hex. RFC 6698 §2.1 */
  readonly TLSA: {
    readonly usage: number
    readonly selector: number
    readonly matchingType: number
    readonly data: string
  }
  /** `digest` is lower-case hex. */
  readonly DS: {
    readonly keyTag: number
    readonly algorithm: number
    readonly digestType: number
    readonly digest: string
  }
  /** `publicKey` is base64. */
  readonly DNSKEY: {
    readonly flags: number
    readonly protocol: number
    readonly algorithm: number
    readonly publicKey: string
  }
  /** The validity of a signature: seconds since the epoch, in serial arithmetic of 32 bits (RFC 4034 §3.1.5). */
  readonly RRSIG: {
    /** The number of the signed type. */
    readonly covered: number
    readonly algorithm: number
    readonly expiresAt: number
    readonly validFrom: number
    readonly signer: string
  }
  /** `salt` is lower-case hex, "" if there is none (RFC 5155 §4.2). */
  readonly NSEC3PARAM: {
    readonly algorithm: number
    readonly flags: number
    readonly iterations: number
    readonly salt: string
  }
}
export type RecordType = keyof RecordData

/** Extended DNS error (RFC 8914). `text` is external: at most 256 characters, control characters removed. */
export type ExtendedError = { readonly code: number; readonly text: string }

/** An answer of the DNS. SERVFAIL, a refusal and a timeout are not answers: they reject with {@link DnsError}. */
export type Answer<T extends RecordType = RecordType> = {
  /**
   * `found`: records of the type; `nodata`: the name exists without them; `nxdomain`: the name (at the end of its CNAME
   * chain) does not exist.
   */
  readonly kind: 'found' | 'nodata' | 'nxdomain'
  /** The queried name, lower case. */
  readonly name: string
  readonly type: T
  /** Records of the type at the end of the CNAME chain, in the order of the server; empty unless `found`. */
  readonly records: readonly RecordData[T][]
  /**
   * Seconds for which the answer may be cached: the lowest TTL of chain and records, or the negative TTL (RFC 2308 §5).
   */
  readonly ttlSeconds: number
  /** The targets of the CNAME chain in order; empty if the name itself has the records. At most 16. */
  readonly cname: readonly string[]
  /** The AD bit of a trusted resolver (RFC 4035 §3.2.3); false if the resolver is not trusted. */
  readonly secure: boolean
  readonly ede: readonly ExtendedError[]
}

export type ResolveOptions = {
  /** Sets CD: also return answers that fail validation (RFC 4035 §3.2.2). */
  readonly checkingDisabled?: boolean
  /** The part of a check's queries to which it belongs, for whoever limits their number (checks/questions.ts). */
  readonly part?: string
}

/**
 * Queries the recursive resolver. `name` is in presentation format, with or without a final dot. Rejects with
 * {@link DnsError}, and with nothing else, if there is no answer; also when `signal` fires (reason `timeout` or
 * `aborted`).
 */
export type Resolve = <T extends RecordType>(
  name: string,
  type: T,
  signal: AbortSignal,
  options?: ResolveOptions,
) => Promise<Answer<T>>

/** The delegation of a zone in its parent zone (RFC 1034 §4.2.1). Names are lower case. */
export type Referral = {
  readonly zone: string
  /** At most 100. */
  readonly servers: readonly string[]
  /** The addresses of these servers in the same message, by name. */
  readonly glue: Readonly<Record<string, readonly Ip[]>>
}

/**
 * The answer of an authoritative server to a direct query, without recursion. `authoritative` is the AA bit;
 * `referral`: the servers that answer instead.
 */
export type ServerAnswer<T extends RecordType = RecordType> = Answer<T> & {
  readonly authoritative: boolean
  readonly referral?: Referral
}

/**
 * Queries one server directly (RD=0). The address is refused unless it is public or allowed (reason `unsafe_address`).
 * Rejects with {@link DnsError}. `over: 'tcp'`: only over TCP (RFC 7766 §5).
 */
export type AskServer = <T extends RecordType>(
  server: Ip,
  name: string,
  type: T,
  signal: AbortSignal,
  options?: { readonly over?: 'tcp' },
) => Promise<ServerAnswer<T>>

export type DnsReason =
  | 'servfail'
  | 'refused'
  | 'formerr'
  | 'notimp'
  | 'rcode' // another response code
  | 'timeout' // no answer in time
  | 'network' // the server could not be reached
  | 'malformed' // answers that cannot be parsed
  | 'cname_loop' // a chain that loops or is longer than 16
  | 'invalid_name' // the name cannot be queried: a label over 63 or a name over 255 octets
  | 'unsafe_address'
  | 'resolver_denies_everything' // NXDOMAIN of a resolver that denies top-level domains
  | 'too_many_questions' // the request has used up its number of queries
  | 'aborted' // the client disconnected

/** The lack of an answer, with its reason. Never the same as an answer that says "no record". */
export class DnsError extends OutsideError {
  readonly reason: DnsReason
  readonly problem: Problem
  readonly question: { readonly name: string; readonly type: string }
  /** The server that answered so, `address:port`, if one did. */
  readonly server: string | undefined
  readonly ede: readonly ExtendedError[]

  constructor(
    reason: DnsReason,
    question: { readonly name: string; readonly type: string },
    options: { readonly server?: string; readonly ede?: readonly ExtendedError[]; readonly cause?: unknown } = {},
  ) {
    const { server, ede: [ede] = [], cause } = options
    const problem = dnsProblem(reason, { ...question, server, ede: ede?.code, text: ede?.text })
    super(problem.text, cause === undefined ? undefined : { cause })
    this.name = 'DnsError'
    this.reason = reason
    this.problem = problem
    this.question = question
    this.server = server
    this.ede = options.ede ?? []
  }
}

/** The result of `work`, or its {@link DnsError} as data. Rejects with any other error, which is a bug. */
export const settled = <T>(work: Promise<T>): Promise<T | DnsError> => work.catch(asData)

function asData(error: unknown): DnsError {
  if (error instanceof DnsError) return error
  throw error
}

/** The numbers of the record types that are read (IANA, RFC 1035 §3.2.2 and the RFC of each). */
export const TYPE_CODES: Readonly<Record<RecordType, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DS: 43,
  RRSIG: 46,
  DNSKEY: 48,
  NSEC3PARAM: 51,
  TLSA: 52,
  CAA: 257,
}

/** The pseudo-record of EDNS0 (RFC 6891 §6.1.1). */
export const OPT = 41

/** Types that may occur in an answer in addition to the queried one. */
export const DNAME = 39
export const { RRSIG } = TYPE_CODES

/** The only class that is used (RFC 1035 §3.2.4). */
export const CLASS_IN = 1

/** The response codes that are handled individually (RFC 1035 §4.1.1). */
export const RCODE = { noError: 0, formErr: 1, servFail: 2, nxDomain: 3, notImp: 4, refused: 5 } as const
