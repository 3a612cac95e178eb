import type { Domain } from '../../names/domain.ts'
import { zoneCandidates } from '../../names/suffix.ts'
import {
  type Answer,
  DnsError,
  type ExtendedError,
  type RecordData,
  type RecordType,
  settled,
} from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'

/** Maximum number of names that are queried to find the zone. */
const MAX_CANDIDATES = 4
/** Maximum number of DS and of DNSKEY records kept per zone. */
const MAX_RECORDS = 50

export type DnssecFacts = {
  readonly domain: Domain
  /** The name exists: there is an answer to the question for its SOA record, checked or not, and it is not NXDOMAIN. */
  readonly exists: boolean
  /** The apex of the domain's zone; absent if it was not found. */
  readonly zone?: string
  /** Why it could not be determined. */
  readonly zoneError?: DnsError
  /**
   * The result of a validating resolver for the domain: `secure` is its AD bit; `failed`: it gives no answer, with the
   * reason.
   */
  readonly validation: { readonly secure: boolean } | { readonly failed: DnsError }
  /** The same query with checking disabled, sent only if validation failed: whether there is an answer then. */
  readonly unchecked?: boolean
  readonly ds: readonly RecordData['DS'][] | DnsError
  readonly keys: readonly RecordData['DNSKEY'][] | DnsError
  /** The resolver validates and its AD bit is trusted: the root, which is signed, is secure. Absent: no answer. */
  readonly believed?: boolean
  readonly ede: readonly ExtendedError[]
  /**
   * The signatures at the apex of the zone, and its NSEC3 parameters; queried if it has keys. Empty: none, or no
   * answer. At most 50 each.
   */
  readonly signatures: readonly RecordData['RRSIG'][]
  readonly nsec3: readonly RecordData['NSEC3PARAM'][]
  /** When they were queried, ms since the epoch. */
  readonly nowMs: number
}

type Asker = Pick<Ctx, 'resolve' | 'signal' | 'now'>

/**
 * Whether the zone of `domain` is signed and how the resolver validates it: SOA at the names where the zone can begin,
 * then DS and DNSKEY there; if an answer fails, the same again with checking disabled (RFC 4035 §3.2.2). At most 7
 * queries in two rounds, 12 in three if one fails; two more in another round if the zone has keys. Missing answers are
 * data; never rejects with DnsError.
 */
export async function lookupDnssec(ctx: Asker, domain: Domain): Promise<DnssecFacts> {
  const candidates = zoneCandidates(domain, MAX_CANDIDATES)
  const [checked, believed] = await Promise.all([askSoa(ctx, candidates), believes(ctx)])
  const validation = checked[0]!
  const failed = validation instanceof DnsError
  const answers = checked.some((answer) => answer instanceof DnsError) ? await askSoa(ctx, candidates, true) : checked
  const index = answers.findIndex(decides)
  const at = answers[index]
  const zone = at instanceof DnsError ? undefined : candidates[index]
  const [[ds, keys], more] = await Promise.all([
    zone === undefined ? ([[], []] as const) : askKeys(ctx, zone),
    zone !== undefined && failed ? askReasons(ctx, zone) : { ede: [], isAnswered: false },
  ])
  const isSigned = zone !== undefined && !(keys instanceof DnsError) && keys.length > 0
  const signed = isSigned ? await askSignatures(ctx, zone) : { signatures: [], nsec3: [] }
  return {
    domain,
    exists: isThere(answers[0]!),
    ...(zone === undefined ? {} : { zone }),
    ...(at instanceof DnsError ? { zoneError: at } : {}),
    validation: failed ? { failed: validation } : { secure: validation.secure },
    ...(failed
      ? { unchecked: !(answers[0] instanceof DnsError) && !(more.isAnswered && !validation.ede.some(isOfDnssec)) }
      : {}),
    ds,
    keys,
    ...(believed === undefined ? {} : { believed }),
    ede: [...new Map([...validation.ede, ...more.ede].map((one) => [one.code, one])).values()],
    ...signed,
    nowMs: ctx.now(),
  }
}

/**
 * Whether the resolver's AD bit counts: the root zone is signed, so its AD bit for the root shows whether it ever sets
 * one (RFC 4035 §4.9.3). Undefined: no answer.
 */
export async function believes(ctx: Pick<Asker, 'resolve' | 'signal'>): Promise<boolean | undefined> {
  const root = await settled(ctx.resolve('.', 'SOA', ctx.signal))
  return root instanceof DnsError ? undefined : root.secure
}

type Asked<T extends RecordType> = Answer<T> | DnsError

const askSoa = (ctx: Asker, names: readonly string[], checkingDisabled = false): Promise<Asked<'SOA'>[]> =>
  Promise.all(
    names.map((name) =>
      settled(
        checkingDisabled
          ? ctx.resolve(name, 'SOA', ctx.signal, { checkingDisabled })
          : ctx.resolve(name, 'SOA', ctx.signal),
      ),
    ),
  )

/**
 * A SOA record that does not belong to another zone behind a CNAME; or no answer, in which case the names above do not
 * decide.
 */
const decides = (answer: Asked<'SOA'>): boolean =>
  answer instanceof DnsError || (answer.kind === 'found' && answer.cname.length === 0)

const isThere = (answer: Asked<'SOA'>): boolean =>
  !(answer instanceof DnsError) && (answer.kind !== 'nxdomain' || answer.cname.length > 0) // RFC 6604 §3

/** Checking is disabled so that the keys of a bogus zone can be seen. */
async function askKeys(ctx: Asker, zone: string): Promise<[DnssecFacts['ds'], DnssecFacts['keys']]> {
  const options = { checkingDisabled: true }
  const [ds, keys] = await Promise.all([
    settled(ctx.resolve(zone, 'DS', ctx.signal, options)),
    settled(ctx.resolve(zone, 'DNSKEY', ctx.signal, options)),
  ])
  return [
    ds instanceof DnsError ? ds : ds.records.slice(0, MAX_RECORDS),
    keys instanceof DnsError ? keys : keys.records.slice(0, MAX_RECORDS),
  ]
}

/** Many resolvers forward a query for signatures; with one that does not, they stay unknown. */
async function askSignatures(ctx: Asker, zone: string): Promise<Pick<DnssecFacts, 'signatures' | 'nsec3'>> {
  const options = { checkingDisabled: true }
  const [signatures, nsec3] = await Promise.all([
    settled(ctx.resolve(zone, 'RRSIG', ctx.signal, options)),
    settled(ctx.resolve(zone, 'NSEC3PARAM', ctx.signal, options)),
  ])
  return {
    signatures: signatures instanceof DnsError ? [] : signatures.records.slice(0, MAX_RECORDS),
    nsec3: nsec3 instanceof DnsError ? [] : nsec3.records.slice(0, MAX_RECORDS),
  }
}

/**
 * Why the keys themselves are not accepted: a resolver that has met the fault before gives fewer details at other
 * names. If the keys are accepted, the earlier failure was not a validator's.
 */
async function askReasons(
  ctx: Asker,
  zone: string,
): Promise<{ readonly ede: readonly ExtendedError[]; readonly isAnswered: boolean }> {
  const answer = await settled(ctx.resolve(zone, 'DNSKEY', ctx.signal))
  return { ede: answer.ede, isAnswered: !(answer instanceof DnsError) }
}

/** RFC 8914 §4.7 to §4.13: the validator's own message. */
const isOfDnssec = ({ code }: ExtendedError): boolean => code >= 6 && code <= 12
