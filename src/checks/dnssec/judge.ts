import { createHash } from 'node:crypto'
import type { Problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import { labelsOf } from '../../names/domain.ts'
import { DnsError, type RecordData } from '../../net/dns/resolver.ts'
import { type Finding, notApplicable, type Outcome } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { validationProblem } from '../problems.ts'
import type { DnssecFacts } from './lookup.ts'

/**
 * Extended errors that name a fault of validation (RFC 8914 §4.7 to §4.13), and those that report expired signatures.
 */
const VALIDATION = { first: 6, last: 12 } as const
const EXPIRED = 7
const NOT_YET_VALID = 8
/** RFC 9905: SHA-1 must not be used for signing or validating; RFC 9904 §3: neither MD5, DSA and the old GOST. */
const WEAK_ALGORITHMS = new Set([1, 3, 5, 6, 7, 12])
const SHA1 = 1

/** The facts, one word each; null: could not be determined. */
type DnssecState = {
  readonly signed: boolean | null
  readonly validated: boolean | null
  readonly bogus: boolean | null
}

/**
 * `signed`: there is a DS or a DNSKEY record; `validated`: a trusted resolver sets AD; `bogus`: there is an answer only
 * with checking disabled.
 */
export function dnssecState(facts: DnssecFacts): DnssecState {
  const { validation, believed } = facts
  const signed = signedOf(facts)
  if ('failed' in validation) {
    // Only SERVFAIL is a validator's refusal (RFC 4035 §5.5); a timeout or another refusal shows nothing about
    // signatures.
    const bogus = validation.failed.reason === 'servfail' && facts.unchecked === true
    return { signed, validated: bogus ? false : null, bogus: bogus ? true : null }
  }
  if (facts.zoneError) return { signed: null, validated: validation.secure ? true : null, bogus: null }
  if (facts.zone === undefined) return { signed: false, validated: false, bogus: false }
  if (validation.secure) return { signed: signed ?? true, validated: true, bogus: false }
  if (signed === false) return { signed, validated: false, bogus: false }
  return { signed, validated: believed ? false : null, bogus: believed ? false : null }
}

/**
 * `pass`: signed and validated; `warn`: not signed, or signed without effect; `fail`: bogus, or a DS record that
 * matches no key, so that validating receivers do not see the domain; `unknown`: no answer either way, or a resolver
 * that is not trusted; `not_applicable`: there is no such zone, or it is an unsigned reverse zone. It never costs
 * points.
 */
export function judgeDnssec(facts: DnssecFacts, context: DomainContext): Outcome<DnssecFacts> {
  const state = dnssecState(facts)
  // What its signatures would protect, mail, is not there.
  if (context.reverse && state.signed === false) return notApplicable(facts, context)
  const findings = [...brokenFindings(facts, state), ...signedFindings(facts, state), ...aboutSignatures(facts, state)]
  if (state.bogus || findings.some(({ id }) => id === 'dnssec.ds_mismatch')) return { status: 'fail', facts, findings }
  const open = openReason(facts, state) ?? (findings.length === 0 ? unanswered(facts, state) : undefined)
  if (open !== undefined) return { status: 'unknown', reason: open, facts, findings }
  if (facts.zone === undefined) return { status: 'not_applicable', facts, findings: [] }
  return { status: findings.length > 0 ? 'warn' : 'pass', facts, findings }
}

/** While a zone is bogus, the other findings do not matter. */
const aboutSignatures = (facts: DnssecFacts, { bogus }: DnssecState): Finding[] =>
  bogus ? [] : signatureFindings(facts)

function signedOf({ zone, ds, keys }: DnssecFacts): boolean | null {
  if (zone === undefined) return null
  if (recordsOf(ds).length + recordsOf(keys).length > 0) return true
  return ds instanceof DnsError || keys instanceof DnsError ? null : false
}

function openReason(facts: DnssecFacts, { signed, validated }: DnssecState): Problem | undefined {
  if ('failed' in facts.validation) return facts.validation.failed.problem
  if (facts.zoneError) return facts.zoneError.problem
  if (validated) return undefined
  if (signed === null) return unanswered(facts, { signed })
  if (validated !== null) return undefined
  return facts.believed === false ? validationProblem('not_believed') : validationProblem('not_known')
}

/** Without its DS and DNSKEY records, what is weak about a signed zone is not known. */
function unanswered({ ds, keys }: DnssecFacts, { signed }: Pick<DnssecState, 'signed'>): Problem | undefined {
  const error = [ds, keys].find((answer) => answer instanceof DnsError)
  return signed !== false && error instanceof DnsError ? error.problem : undefined
}

function brokenFindings(facts: DnssecFacts, { bogus }: DnssecState): Finding[] {
  const { domain, zone, ede } = facts
  const findings: Finding[] = []
  const args = { domain, zone: zone ?? domain }
  const said = ede.filter(({ code }) => code >= VALIDATION.first && code <= VALIDATION.last)
  const evidence = printable(said.map(({ code, text }) => `EDE ${code}${text ? `: ${text}` : ''}`).join('; '))
  const more = evidence === '' ? {} : { evidence }
  const codes = said.map(({ code }) => code)
  if (bogus && codes.includes(EXPIRED)) findings.push({ id: 'dnssec.expired', args, ...more })
  else if (bogus && codes.includes(NOT_YET_VALID)) findings.push({ id: 'dnssec.not_yet_valid', args, ...more })
  else if (bogus) findings.push({ id: 'dnssec.bogus', args: { ...args, fits: fits(facts) }, ...more })
  if (mismatch(facts)) findings.push({ id: 'dnssec.ds_mismatch', args, evidence: dsText(recordsOf(facts.ds)) })
  return findings
}

/** There are DS records, and none of them matches a key of the zone (RFC 4035 §5.2). */
const mismatch = (facts: DnssecFacts): boolean =>
  facts.zone !== undefined && !(facts.keys instanceof DnsError) && recordsOf(facts.ds).length > 0 && !fits(facts)

const fits = ({ zone, ds, keys }: DnssecFacts): boolean =>
  zone !== undefined && recordsOf(ds).some((one) => recordsOf(keys).some((key) => dsMatches(one, zone, key)))

function signedFindings(facts: DnssecFacts, { signed, validated, bogus }: DnssecState): Finding[] {
  const { ds, keys, zone } = facts
  if (zone === undefined || bogus) return []
  const args = { zone }
  if (signed === false) return [{ id: 'dnssec.unsigned', args }]
  const findings: Finding[] = []
  const parents = recordsOf(ds)
  const island = !(ds instanceof DnsError) && parents.length === 0 && recordsOf(keys).length > 0
  if (island) findings.push({ id: 'dnssec.island', args })
  else if (parents.length > 0 && validated === false) findings.push({ id: 'dnssec.insecure', args })
  const weak = [...new Set(parents.map(({ algorithm }) => algorithm))].filter((number) => WEAK_ALGORITHMS.has(number))
  if (weak.length > 0 && weak.length === new Set(parents.map(({ algorithm }) => algorithm)).size)
    findings.push({ id: 'dnssec.weak_algorithm', args: { zone, algorithms: weak.map(String) } })
  if (parents.length > 0 && parents.every(({ digestType }) => digestType === SHA1))
    findings.push({ id: 'dnssec.weak_digest', args, evidence: dsText(parents) })
  return findings
}

const recordsOf = <T extends RecordData['DS'] | RecordData['DNSKEY']>(answer: readonly T[] | DnsError): readonly T[] =>
  answer instanceof DnsError ? [] : answer

const dsText = (records: readonly RecordData['DS'][]): string =>
  records
    .slice(0, 5)
    .map(({ keyTag, algorithm, digestType, digest }) => `DS ${keyTag} ${algorithm} ${digestType} ${digest}`)
    .join(', ')

type Ds = RecordData['DS']
type Dnskey = RecordData['DNSKEY']

/** DS digest types that we can compute, by number (RFC 4509, RFC 6605). */
const DIGESTS: Readonly<Record<number, string>> = { 1: 'sha1', 2: 'sha256', 4: 'sha384' }

/**
 * Whether a DS record matches a key: by the digest of the key if we can compute it, otherwise by its key tag and
 * algorithm (RFC 4034 §5.1).
 */
export function dsMatches(ds: Ds, zone: string, key: Dnskey): boolean {
  if (ds.keyTag !== keyTagOf(key) || ds.algorithm !== key.algorithm) return false
  const hash = DIGESTS[ds.digestType]
  if (hash === undefined) return true
  return createHash(hash).update(ownerOf(zone)).update(rdataOf(key)).digest('hex') === ds.digest
}

/** RFC 4034 appendix B; algorithm 1 has a rule of its own (B.1). */
export function keyTagOf(key: Dnskey): number {
  const rdata = rdataOf(key)
  if (key.algorithm === 1) return rdata.length < 7 ? 0 : rdata.readUInt16BE(rdata.length - 3)
  let sum = 0
  for (const [i, octet] of rdata.entries()) sum += i % 2 === 0 ? octet << 8 : octet
  return (sum + ((sum >> 16) & 0xffff)) & 0xffff
}

/** RFC 4034 §2.1 */
function rdataOf(key: Dnskey): Buffer {
  const fixed = Buffer.from([key.flags >> 8, key.flags & 0xff, key.protocol, key.algorithm])
  return Buffer.concat([fixed, Buffer.from(key.publicKey, 'base64')])
}

/** The owner name in wire format. The checked names are host names: their labels contain no escapes. */
const ownerOf = (zone: string): Buffer =>
  Buffer.concat([
    ...labelsOf(zone).flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'ascii')]),
    Buffer.from([0]),
  ])

type Signature = RecordData['RRSIG']
const DAY_SECONDS = 86_400
/** Remaining lifetime of signatures below which they are reported. */
const SOON_SECONDS = 7 * DAY_SECONDS
/** Servers that sign each answer on the fly use short lifetimes on purpose. */
const ONLINE_SECONDS = 10 * DAY_SECONDS

/** Signatures that expire soon, and NSEC3 parameters that are expensive and protect nothing. */
function signatureFindings(facts: DnssecFacts): Finding[] {
  const { zone = facts.domain, nsec3 } = facts
  const findings: Finding[] = []
  const left = leastLeft(facts)
  if (left !== undefined && left > 0 && left < SOON_SECONDS) {
    const expires = new Date(facts.nowMs + left * 1_000).toISOString()
    findings.push({ id: 'dnssec.expires_soon', args: { zone, days: Math.floor(left / DAY_SECONDS), expires } })
  }
  const wasteful = nsec3.find(({ iterations, salt }) => iterations > 0 || salt !== '')
  if (wasteful) {
    const { iterations, salt } = wasteful
    findings.push({
      id: 'dnssec.nsec3_parameters',
      args: { zone, iterations, salt: salt === '' ? 0 : salt.length / 2 },
    })
  }
  return findings
}

/**
 * Seconds until the first type at the apex of the zone has no valid signature; of several for one type, as in a
 * rollover, the last one counts.
 */
function leastLeft({ signatures, nowMs }: DnssecFacts): number | undefined {
  const now = Math.floor(nowMs / 1_000)
  const kept = new Map<number, number>()
  for (const signature of signatures) {
    if (lifetimeOf(signature) <= ONLINE_SECONDS) continue
    const left = (signature.expiresAt - now) | 0 // RFC 4034 §3.1.5: serial arithmetic
    kept.set(signature.covered, Math.max(left, kept.get(signature.covered) ?? left))
  }
  return kept.size === 0 ? undefined : Math.min(...kept.values())
}

const lifetimeOf = ({ expiresAt, validFrom }: Signature): number => (expiresAt - validFrom) >>> 0
