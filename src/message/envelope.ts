import { canonicalName } from '../names/domain.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import { registrableDomain } from '../names/suffix.ts'
import { type Claims, parseAuthenticationResults } from './authentication-results.ts'
import { parseParameters, withoutComments } from './mime.ts'
import { type Field, fieldBody } from './parse.ts'

/** The SMTP envelope and where it is known from. */
export type Envelope = {
  readonly ip?: Ip
  readonly helo?: string
  /** Empty for a bounce. */
  readonly mailFrom?: string
  readonly knownFrom: 'parameter' | 'connection' | 'received' | 'none'
}

/** What the caller knows of the connection. */
export type GivenEnvelope = {
  readonly ip?: Ip
  readonly helo?: string
  readonly mailFrom?: string
  /** `connection`: this service received the message itself. */
  readonly from: 'parameter' | 'connection'
  /**
   * The connection as this service saw it. The fields of the message are then the words of others: none of them is
   * believed.
   */
  readonly hop?: Received
}

export type Hop = Received & {
  /** The host that wrote the field is the receiver's own, so the field may be believed. */
  readonly trusted: boolean
}

export type ReceiverClaims = Claims & {
  /** The field was written by the receiver; otherwise its words may be the sender's. */
  readonly trusted: boolean
}

/** How a message came in, as its header fields tell it. */
export type Arrival = {
  readonly envelope: Envelope
  /** Newest first; at most {@link MAX_HOPS}. */
  readonly hops: readonly Hop[]
  /** At most {@link MAX_RESULTS}. */
  readonly results: readonly ReceiverClaims[]
}

/** Maximum number of Received fields that are read; RFC 5321 §6.3 lets a server refuse a message with 100. */
const MAX_HOPS = 100
/** Maximum number of Authentication-Results fields that are read. */
const MAX_RESULTS = 20

/**
 * An entry of the trace: a field of the header section that the hosts on the way wrote, with its place from the top.
 */
type Trace = { readonly place: number; readonly field: Field }

/**
 * Reads the envelope of a message from what is given, else from the fields that its receiver wrote (RFC 5321 §4.4, RFC
 * 7208 §9.1). `receivedBy`: names of hosts whose fields may be believed; without them, those of the host that wrote the
 * topmost Authentication-Results, unless a field of another host stands above it.
 */
export function readArrival(
  fields: readonly Field[],
  receivedBy: readonly string[],
  given: GivenEnvelope | undefined,
): Arrival {
  const received = traceOf(fields, 'received').slice(0, MAX_HOPS)
  const hops = received.map(({ place, field }) => ({ place, ...parseReceived(field) }))
  const claims = traceOf(fields, 'authentication-results')
    .slice(0, MAX_RESULTS)
    .map(({ place, field }) => ({ place, ...parseAuthenticationResults(fieldBody(field)) }))
    // Microsoft 365 names no host: the field belongs to the host of the Received field above it.
    .map((one) => (one.host === '' ? { ...one, host: hops.findLast((hop) => hop.place < one.place)?.by ?? '' } : one))
  const isReceiver = given?.hop ? undefined : receiverOf(receivedBy, claims, hops)
  // The receiver's own fields: from the top to the first Received field of another host.
  const firstForeign = hops.findIndex((hop) => isForeign(hop, isReceiver))
  const own = isReceiver ? hops.slice(0, firstForeign < 0 ? hops.length : firstForeign) : []
  const until = isReceiver ? (hops[own.length]?.place ?? endOfTrace(fields, own)) : -1
  const trusted = (place: number): boolean => place < until
  return {
    envelope: envelopeOf(given, fields, () => fromFields(fields, own, until, isReceiver)),
    hops: [
      ...(given?.hop ? [{ ...given.hop, trusted: true }] : []),
      ...hops.map(({ place, ...hop }) => ({ ...hop, trusted: trusted(place) })),
    ],
    results: claims.map(({ place, ...one }) => ({
      ...one,
      trusted: trusted(place) && (isReceiver?.(one.host) ?? false),
    })),
  }
}

const traceOf = (fields: readonly Field[], name: string): readonly Trace[] =>
  fields.flatMap((field, place) => (field.name === name ? [{ place, field }] : []))

type IsReceiver = (host: string) => boolean

function receiverOf(
  receivedBy: readonly string[],
  claims: readonly { readonly place: number; readonly host: string }[],
  hops: readonly (Received & { readonly place: number })[],
): IsReceiver | undefined {
  if (receivedBy.length > 0) {
    const names = receivedBy.map(canonicalName)
    return (host) => names.some((name) => host === name || host.endsWith(`.${name}`))
  }
  const first = claims[0]
  if (!first || first.host === '') return undefined
  const isReceiver = sameOrganization(first.host)
  return hops.some((hop) => hop.place < first.place && isForeign(hop, isReceiver)) ? undefined : isReceiver
}

const sameOrganization = (host: string): IsReceiver => {
  const organization = registrableDomain(host) ?? host
  return (other) => other === host || (registrableDomain(other) ?? other) === organization
}

/**
 * A field of a named host that is not the receiver's; one without a host name is a step within the receiver's systems.
 */
const isForeign = ({ by }: Received, isReceiver: IsReceiver | undefined): boolean =>
  by.includes('.') && !parseIp(by).ok && by !== 'localhost.localdomain' && !(isReceiver?.(by) ?? false)

/**
 * The receiver's fields of a message that came from nowhere else: those above the first field that hosts on the way do
 * not write.
 */
function endOfTrace(fields: readonly Field[], own: readonly { readonly place: number }[]): number {
  const last = own.at(-1)?.place ?? -1
  const next = fields.findIndex(({ name }, place) => place > last && !TRACE.has(name))
  return next < 0 ? fields.length : next
}
const TRACE = new Set([
  'received',
  'received-spf',
  'authentication-results',
  'return-path',
  'delivered-to',
  'x-received',
])

function envelopeOf(given: GivenEnvelope | undefined, fields: readonly Field[], found: () => Envelope): Envelope {
  if (given === undefined) return found()
  if (given.from === 'parameter' || given.hop) return fromGiven(given, fields)
  // LMTP: only the envelope sender is known of the transfer; the client is that of the mail server in front.
  const { knownFrom, ...rest } = found()
  return {
    ...rest,
    ...(given.mailFrom === undefined ? {} : { mailFrom: given.mailFrom }),
    knownFrom: knownFrom === 'none' ? 'connection' : knownFrom,
  }
}

function fromGiven({ from, hop: _, ...given }: GivenEnvelope, fields: readonly Field[]): Envelope {
  const returnPath = from === 'parameter' ? returnPathOf(fields, fields.length) : undefined
  const mailFrom = given.mailFrom ?? returnPath
  return { ...given, ...(mailFrom === undefined ? {} : { mailFrom }), knownFrom: from }
}

function fromFields(
  fields: readonly Field[],
  own: readonly Received[],
  until: number,
  isReceiver: IsReceiver | undefined,
): Envelope {
  const firstHop = fields.findIndex(({ name }) => name === 'received')
  // Return-Path is written by the last host: it counts above its first Received field, and within the receiver's
  // fields.
  const returnPath = returnPathOf(fields, Math.max(until, firstHop))
  const spf = isReceiver ? receivedSpf(fields.slice(0, Math.max(0, until)), isReceiver) : undefined
  const border = isReceiver ? borderOf(own, isReceiver) : undefined
  const ip = spf?.ip ?? border?.address
  const helo = spf?.helo ?? (spf?.ip === undefined ? border?.from : undefined)
  const mailFrom = returnPath ?? spf?.mailFrom
  return {
    ...(ip === undefined ? {} : { ip }),
    ...(ip === undefined || helo === undefined || helo === '' ? {} : { helo }),
    ...(mailFrom === undefined ? {} : { mailFrom }),
    knownFrom: ip === undefined ? 'none' : 'received',
  }
}

/**
 * The topmost field of the receiver that names a public address of somebody else. Undefined where that is not certain.
 */
function borderOf(own: readonly Received[], isReceiver: IsReceiver): Received | undefined {
  for (const hop of own) {
    if (!hop.address || !isPublic(hop.address)) continue
    // a step between the receiver's own hosts, by the name of the address
    if (hop.name !== '' && isReceiver(hop.name)) continue
    // Without a name of the address, only the client says that it is one of the receiver's hosts: the field below would
    // be a stranger's words.
    if (hop.name === '' && isReceiver(hop.from)) return undefined
    return hop
  }
  return undefined
}

function returnPathOf(fields: readonly Field[], before: number): string | undefined {
  const field = fields.slice(0, Math.max(0, before)).find(({ name }) => name === 'return-path')
  if (!field) return undefined
  const address = /^<(?<address>[^<>]{0,320})>/.exec(fieldBody(field))?.groups?.address
  return address ?? (/^\S{1,320}$/.test(fieldBody(field)) ? fieldBody(field) : undefined)
}

type ReceivedSpf = { readonly ip?: Ip; readonly helo?: string; readonly mailFrom?: string }

/** Received-SPF of the receiver (RFC 7208 §9.1): `pass (comment) client-ip=…; envelope-from=…; helo=…;`. */
function receivedSpf(fields: readonly Field[], isReceiver: IsReceiver): ReceivedSpf | undefined {
  const field = fields.find(({ name }) => name === 'received-spf')
  if (!field) return undefined
  // The comment may hold semicolons; the key-value pairs follow it.
  const pairs = fieldBody(field)
    .slice(0, 5_000)
    .replace(/^\s*[A-Za-z]+\s*/, '')
    .replace(/^\((?:[^()]|\([^()]*\))*\)/, '')
  const { parameters } = parseParameters(`;${pairs.replace(/(?<=\S)\s+(?=[a-z-]+=)/gi, '; ')}`)
  const receiver = parameters.get('receiver')
  if (receiver !== undefined && !isReceiver(canonicalName(receiver))) return undefined
  const address = parseIp(parameters.get('client-ip') ?? '')
  const helo = parameters.get('helo')
  const mailFrom = parameters.get('envelope-from')?.replace(/^<|>$/g, '')
  return {
    ...(address.ok ? { ip: address.value } : {}),
    ...(helo === undefined ? {} : { helo: canonicalName(helo) }),
    ...(mailFrom === undefined ? {} : { mailFrom }),
  }
}

/**
 * One Received field (RFC 5321 §4.4): what a host wrote when it got the message. All of it are the words of that host.
 */
type Received = {
  /** The name after `from`: what the client called itself (HELO). */
  readonly from: string
  /** The name that the host found for the client's address, if it wrote one. */
  readonly name: string
  readonly address?: Ip
  readonly by: string
  readonly with: string
  /** Milliseconds since the epoch. */
  readonly at?: number
  /**
   * The field says that the transfer was encrypted; false if its protocol is one without TLS; null if it says nothing.
   */
  readonly tls: boolean | null
}

/** Maximum number of characters of a field that are read. */
const MAX_LENGTH = 5_000

/** Reads a Received field in the forms that mail servers write; what it lacks is empty. Never throws. */
function parseReceived(field: Field): Received {
  const value = fieldBody(field).slice(0, MAX_LENGTH)
  const semicolon = value.lastIndexOf(';')
  const clauses = semicolon < 0 ? value : value.slice(0, semicolon)
  const plain = ` ${withoutComments(clauses).replace(/\s+/g, ' ')} `
  const word = (name: string): string =>
    new RegExp(` ${name} ([^ ]{1,255})`, 'i').exec(plain)?.[1]?.replace(/[;,]$/, '') ?? ''
  const origin = originOf(clauses)
  const at = dateOf(value.slice(semicolon + 1))
  const protocol = word('with')
  return {
    from: nameOf(origin.helo ?? word('from')),
    name: nameOf(origin.name ?? ''),
    ...(origin.address === undefined ? {} : { address: origin.address }),
    by: nameOf(word('by')),
    with: protocol,
    ...(semicolon < 0 || at === undefined ? {} : { at }),
    tls: tlsOf(clauses, protocol),
  }
}

/** A host name as written, lower case, without brackets and final dot. */
const nameOf = (text: string): string => canonicalName(text.replace(/^\[|\]$/g, '')).slice(0, 255)

type Origin = { readonly address?: Ip; readonly name?: string; readonly helo?: string }

/**
 * The client as the host saw it: the first address in the clause `from`, the name before it, and HELO where it stands
 * in the comment.
 */
function originOf(clauses: string): Origin {
  const clause = /^\s*from\b(?<rest>.*?)(?:\sby\s|$)/is.exec(clauses)?.groups?.rest
  if (clause === undefined) return {}
  const bracketed = [...clause.matchAll(/[[(](?:IPv6:)?([0-9a-fA-F:.]{3,45})[\])]/gi)]
  const found = bracketed.find(([, text]) => parseIp(text!).ok)
  const address = found && parseIp(found[1]!)
  const comment = /\((?<inside>[^()]{0,1000})/s.exec(clause)?.groups?.inside ?? ''
  const helo = /\bhelo[= ]\[?(?<helo>[^\s)\]]{1,255})/i.exec(clause)?.groups?.helo
  // Postfix, Sendmail, Google: `(name [address])`; a final dot is Google's.
  const name = /^(?<name>[A-Za-z0-9_.-]{1,255})\.?\s*\[/.exec(comment.trim())?.groups?.name
  return {
    ...(address?.ok ? { address: address.value } : {}),
    ...(name === undefined || name.toLowerCase() === 'unknown' ? {} : { name }),
    ...(helo === undefined ? {} : { helo }),
  }
}

/** RFC 3848: ESMTPS and its relatives have TLS; servers write the version in a comment. */
function tlsOf(clauses: string, protocol: string): boolean | null {
  if (/^(?:utf8)?(?:e?smtp|lmtp)sa?$/i.test(protocol) && /sa?$/i.test(protocol)) return true
  if (/\bTLS ?v?_?1|\bTLS1|version=TLS|cipher[ =]|\bSSL\b/i.test(clauses)) return true
  return /^(?:utf8)?(?:e?smtpa?|lmtpa?)$/i.test(protocol) ? false : null
}

/** A date of RFC 5322 §3.3 in ms since the epoch; undefined if it cannot be read. */
export function dateOf(text: string): number | undefined {
  const plain = withoutComments(text.slice(0, 200)).trim().replace(/\s+/g, ' ')
  if (!/\d{1,2} [A-Za-z]{3} \d{2,4} \d{1,2}:\d{2}/.test(plain)) return undefined
  const at = Date.parse(plain)
  return Number.isNaN(at) ? undefined : at
}
