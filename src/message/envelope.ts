import { canonicalName } from '../names/domain.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import { registrableDomain } from '../names/suffix.ts'
import { type Provider, providerOfHost } from '../providers/index.ts'
import { ownerOfHost } from '../providers/sending.ts'
import { type Claims, parseAuthenticationResults } from './authentication-results.ts'
import { parseParameters, withoutComments } from './mime.ts'
import { type Field, fieldBody } from './parse.ts'
import { isInnerHost, isPrivateName, operatorOf } from './receivers.ts'
import { identityDomain } from './signature.ts'

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
  /** Who may have received it, where that is not sure, or was said; at most {@link MAX_RECEIVERS}. */
  readonly receivers: readonly Receiver[]
}

/** A host that wrote that an address delivered the message. */
export type Receiver = {
  readonly host: string
  readonly operator?: string
  readonly address: Ip
  readonly helo: string
  readonly chosen: boolean
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
  const hops = received.map(({ place, field }) => ({ place, ...remoteOf(fields, place), ...parseReceived(field) }))
  const claims = traceOf(fields, 'authentication-results')
    .slice(0, MAX_RESULTS)
    .map(({ place, field }) => ({ place, ...parseAuthenticationResults(fieldBody(field)) }))
    .map((one) => ({ ...one, host: wholeName(one, hops) }))
  const isReceiver = given?.hop ? undefined : receiverOf(receivedBy, claims, hops, fields)
  const found = isReceiver ? connectionOf(fields, hops, isReceiver, receivedBy.length > 0) : UNKNOWN
  const { until } = found
  const own = claims.filter(({ place, host }) => place < until && isReceiver?.(host))
  const { border, spf } = receivedBy.length === 0 && isGateway(found.border, hops, own) ? UNKNOWN : found
  const trusted = (place: number): boolean => place < until
  const results = claims.map(({ place, ...one }) => ({
    ...one,
    trusted: trusted(place) && (isReceiver?.(one.host) ?? false),
  }))
  return {
    envelope: envelopeOf(given, fields, () => fromFields(fields, border, spf, until, results)),
    hops: [
      ...(given?.hop ? [{ ...given.hop, trusted: true }] : []),
      ...hops.map(({ place, ...hop }) => ({ ...hop, trusted: trusted(place) })),
    ],
    results,
    receivers: given === undefined && (!border || receivedBy.length > 0) ? receiversIn(hops, border) : [],
  }
}

/**
 * The name of the host that wrote results: Microsoft 365 names none, and the field belongs to the host of the Received
 * field above it; others write the first label of their name.
 */
function wholeName(
  { host, place }: { readonly host: string; readonly place: number },
  hops: readonly PlacedHop[],
): string {
  if (host === '') return hops.findLast((hop) => hop.place < place)?.by ?? ''
  if (host.includes('.') || hops.some(({ by }) => by === host)) return host
  return hops.find(({ by }) => by.startsWith(`${host}.`))?.by ?? host
}

/** MDaemon writes the address of the client into a field of its own below its Received field. */
function remoteOf(fields: readonly Field[], place: number): { readonly address?: Ip } {
  if (!fields[place]!.raw.includes('(MDaemon')) return {}
  const below = fields.slice(place + 1, place + 20)
  const end = below.findIndex(({ name }) => name === 'received')
  const field = below.slice(0, end < 0 ? undefined : end).find(({ name }) => name === 'x-mdremoteip')
  const address = parseIp(field ? fieldBody(field).trim() : '')
  return address.ok ? { address: address.value } : {}
}

type PlacedHop = Received & { readonly place: number }

/** What the receiver's fields tell of the connection. */
type Connection = {
  /** The field about it. */
  readonly border?: PlacedHop | undefined
  readonly spf?: ReceivedSpf | undefined
  /** The place of the first field that is the sender's. */
  readonly until: number
}
const UNKNOWN: Connection = { until: -1 }

/** `isSaid`: somebody named the receiver, so that the lines above its first one are of hosts behind it. */
function connectionOf(
  fields: readonly Field[],
  hops: readonly PlacedHop[],
  isReceiver: IsReceiver,
  isSaid: boolean,
): Connection {
  // The receiver's own fields: from the top to the first Received field of another host, at the most.
  // Names of private networks below it may be the sender's, unless an operator is known to write them.
  const firstNamed = hops.findIndex(({ by }) => isReceiver(by))
  const first = isSaid && firstNamed > 0 ? firstNamed : 0
  const firstForeign = hops.findIndex(
    (hop, i) =>
      i >= first &&
      (isForeign(hop, isReceiver) ||
        (i > firstNamed && firstNamed >= 0 && isPrivateName(hop.by) && !operatorOf(hop.by))),
  )
  const own = hops.slice(first, firstForeign < 0 ? hops.length : firstForeign)
  const below = (last: PlacedHop | undefined): number =>
    hops.find(({ place }) => place > (last?.place ?? -1))?.place ?? endOfTrace(fields, last)
  const found = receivedSpf(fields.slice(0, below(own.at(-1))), isReceiver)
  const border =
    own.find(({ by, address }) => address && isPublic(address) && operatorOf(by)?.takes?.test(by)) ??
    own.find(({ address }) => address !== undefined && address === found?.ip) ??
    borderOf(own, isReceiver)
  // Below the line of the connection, another address in Received-SPF is the sender's word.
  const isOwn = !border || found?.ip === border.address || (found?.place ?? 0) < border.place
  return { border, spf: isOwn ? found : undefined, until: below(border ?? own.at(-1)) }
}

/**
 * Whether the client was a filter that wrote itself from whom it got the message: one of the receiver, in front of its
 * mail hosts, or one of the sender. Only SPF that passed for its address shows that it was the sender's.
 */
function isGateway(border: PlacedHop | undefined, hops: readonly PlacedHop[], own: readonly Claims[]): boolean {
  const gateway = border && gatewayOf(border.name || border.from)
  if (!border || !gateway) return false
  if (own.some(({ claims }) => claims.some(({ method, result }) => method === 'spf' && result === 'pass'))) return false
  const taken = hops.find(
    ({ place, by, address }) => place > border.place && gatewayOf(by) === gateway && address && isPublic(address),
  )
  return taken !== undefined && gatewayOf(taken.name || taken.from) !== gateway
}

function gatewayOf(host: string): Provider | undefined {
  const owner = ownerOfHost(host)
  const provider = providerOfHost(host) ?? (owner && 'service' in owner ? owner.service : undefined)
  return provider?.kind === 'gateway' ? provider : undefined
}

/** Maximum number of receivers that are offered. */
const MAX_RECEIVERS = 5

/** The hosts that wrote of a connection with the outside, from the top: one of them is the receiver's. */
function receiversIn(hops: readonly PlacedHop[], border: PlacedHop | undefined): Arrival['receivers'] {
  const found = new Map<string, Receiver>()
  for (const hop of hops) {
    const { by, address, from } = hop
    // A host that gave the message to a filter and got it back wrote of two connections.
    const key = `${by} ${address}`
    const operator = operatorOf(by)
    // A step between two hosts of an operator that says which of its hosts take mail.
    if (operator?.takes && !operator.takes.test(by) && operatorOf(from) === operator) continue
    if (!address || !isPublic(address) || isInnerHost(by) || parseIp(by).ok || isDelivery(hop) || found.has(key))
      continue
    found.set(key, {
      host: by,
      ...(operator && { operator: operator.name }),
      address,
      helo: from,
      chosen: hop === border,
    })
    if (found.size === MAX_RECEIVERS) break
  }
  return [...found.values()]
}

const traceOf = (fields: readonly Field[], name: string): readonly Trace[] =>
  fields.flatMap((field, place) => (field.name === name ? [{ place, field }] : []))

type IsReceiver = (host: string) => boolean

function receiverOf(
  receivedBy: readonly string[],
  claims: readonly { readonly place: number; readonly host: string }[],
  hops: readonly PlacedHop[],
  fields: readonly Field[],
): IsReceiver | undefined {
  if (receivedBy.length > 0) {
    const names = receivedBy.map(canonicalName)
    return (host) => names.some((name) => host === name || host.endsWith(`.${name}`))
  }
  const first = claims[0]
  if (first) {
    if (first.host === '') return undefined
    const isReceiver = sameOrganization(first.host)
    const isBelow = hops.some((hop) => hop.place < first.place && isForeign(hop, isReceiver))
    // Some write their results below the fields of the sender: then the host of the topmost line says who it was.
    const isOfTop = hops[0]?.by === first.host && hops[0].address !== undefined && isPublic(hops[0].address)
    if (!isBelow || isOfTop) return isReceiver
  }
  // The topmost line is that of the last host: if its operator takes mail there, or if that host checked SPF.
  const top = hops.find(({ by }) => by !== '' && !isInnerHost(by)) ?? hops.find(({ by }) => operatorOf(by))
  if (!top) return undefined
  const isReceiver = sameOrganization(top.by)
  const isTaken = hops.some(({ by }) => isReceiver(by) && operatorOf(by)?.takes?.test(by))
  const spf = isTaken ? undefined : receivedSpf(fields, isReceiver)
  return isTaken || spf?.receiver !== undefined ? isReceiver : undefined
}

/** Whether a host is of the same organization as another one, or of the same operator. */
function sameOrganization(host: string): IsReceiver {
  const organization = registrableDomain(host) ?? host
  const operator = operatorOf(host)
  return (other) =>
    other === host ||
    (registrableDomain(other) ?? other) === organization ||
    (operator !== undefined && operatorOf(other) === operator)
}

/** The delivery into a store, which is within the systems of the receiver (RFC 2033). */
const isDelivery = ({ with: protocol }: Pick<Received, 'with'>): boolean => /^lmtp/i.test(protocol)

/**
 * A field of a named host that is not the receiver's; inner names and addresses, and the delivery into a store, are
 * within its systems.
 */
const isForeign = ({ by, with: protocol }: Received, isReceiver: IsReceiver | undefined): boolean =>
  !isDelivery({ with: protocol }) &&
  !isInnerHost(by) &&
  !isPrivateName(by) &&
  !parseIp(by).ok &&
  !(isReceiver?.(by) ?? false)

/**
 * The receiver's fields of a message that came from nowhere else: those above the first field that hosts on the way do
 * not write.
 */
function endOfTrace(fields: readonly Field[], own: { readonly place: number } | undefined): number {
  const last = own?.place ?? -1
  const next = fields.findIndex(({ name }, place) => place > last && !TRACE.has(name) && !OF_OPERATORS.test(name))
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
/** Fields that operators write between their line of the connection and their results. */
const OF_OPERATORS = /^x-(?:(?:ses|yandex|qq|icl|apple|naver)-.+|arc-info|dmarc-(?:info|policy))$/

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
  const returnPath = from === 'parameter' ? returnPathOf(fields) : undefined
  const mailFrom = given.mailFrom ?? returnPath
  return { ...given, ...(mailFrom === undefined ? {} : { mailFrom }), knownFrom: from }
}

function fromFields(
  fields: readonly Field[],
  border: PlacedHop | undefined,
  spf: ReceivedSpf | undefined,
  until: number,
  results: readonly ReceiverClaims[],
): Envelope {
  const firstHop = fields.findIndex(({ name }) => name === 'received')
  const ip = border?.address ?? spf?.ip
  const helo = (spf?.ip === ip ? spf?.helo : undefined) ?? border?.from
  const claimed = results.find(({ trusted }) => trusted)?.claims.find(({ method }) => method === 'spf')?.mailFrom
  // Return-Path is written by the last host: it counts above its first Received field, within the receiver's fields, and
  // where its domain is the one that the receiver checked: Microsoft 365 writes it below the sender's own fields.
  const mailFrom =
    returnPathOf(fields.slice(0, Math.max(until, firstHop, 0))) ??
    (claimed === undefined ? spf?.mailFrom : (returnPathOf(fields, identityDomain(claimed)) ?? claimed))
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
function borderOf(own: readonly PlacedHop[], isReceiver: IsReceiver): PlacedHop | undefined {
  for (const hop of own) {
    if (!hop.address || !isPublic(hop.address) || isDelivery(hop)) continue
    // a step between the receiver's own hosts, by the name of the address
    if (hop.name !== '' && isReceiver(hop.name)) continue
    // Without a name of the address, only the client says that it is one of the receiver's hosts: the field below would
    // be a stranger's words.
    if (hop.name === '' && isReceiver(hop.from)) return undefined
    return hop
  }
  return undefined
}

/** The address in the first Return-Path, or in the first one of a domain. */
function returnPathOf(fields: readonly Field[], domain?: string): string | undefined {
  for (const field of fields) {
    if (field.name !== 'return-path') continue
    const written = fieldBody(field)
    const address =
      /^<(?<address>[^<>]{0,320})>/.exec(written)?.groups?.address ??
      (/^\S{1,320}$/.test(written) ? written : undefined)
    if (domain === undefined || (address !== undefined && identityDomain(address) === domain)) return address
  }
  return undefined
}

type ReceivedSpf = {
  readonly place: number
  readonly receiver?: string
  readonly ip?: Ip
  readonly helo?: string
  readonly mailFrom?: string
}

/** Received-SPF of the receiver (RFC 7208 §9.1): `pass (comment) client-ip=…; envelope-from=…; helo=…;`. */
function receivedSpf(fields: readonly Field[], isReceiver: IsReceiver): ReceivedSpf | undefined {
  const place = fields.findIndex(({ name }) => name === 'received-spf')
  const field = fields[place]
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
    place,
    ...(receiver === undefined ? {} : { receiver }),
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
  // The client's name for itself may be an address literal: what the host saw stands in the comments behind it.
  const open = clause.indexOf('(')
  const seen = open < 0 ? '' : clause.slice(open).replace(/\b(?:helo|ehlo)[= ]+\S{1,255}/gi, '')
  const address = addressIn(seen) ?? addressIn(open < 0 ? clause : clause.slice(0, open)) ?? bareAddress(clause)
  const comment = /\((?<inside>[^()]{0,1000})/s.exec(clause)?.groups?.inside ?? ''
  const helo = /\b(?:helo|ehlo)[= ]\[?(?<helo>[^\s)\]]{1,255})/i.exec(clause)?.groups?.helo
  // Postfix, Sendmail, Google: `(name [address])`; a final dot is Google's.
  const name = /^(?<name>[A-Za-z0-9_.-]{1,255})\.?\s*\[/.exec(comment.trim())?.groups?.name
  return {
    ...(address === undefined ? {} : { address }),
    ...(name === undefined || name.toLowerCase() === 'unknown' || parseIp(name).ok ? {} : { name }),
    ...(helo === undefined ? {} : { helo }),
  }
}

/** The first address in brackets or parentheses. */
function addressIn(text: string): Ip | undefined {
  for (const [, written] of text.matchAll(/[[(](?:IPv6:)?([0-9a-fA-F:.]{3,45})[\])]/gi)) {
    const address = parseIp(written!)
    if (address.ok) return address.value
  }
  return undefined
}

/** Yahoo: `from 192.0.2.1 (EHLO name)`. */
function bareAddress(clause: string): Ip | undefined {
  const address = parseIp(/^\s*([0-9a-fA-F:.]{3,45})\s+\((?:HELO|EHLO) /.exec(clause)?.[1] ?? '')
  return address.ok ? address.value : undefined
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
