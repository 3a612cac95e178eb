import { setImmediate } from 'node:timers/promises'
import { atMost } from '../base/at-most.ts'
import { generalSelectors } from '../checks/dkim/index.ts'
import { addressState, lookupAddress } from '../checks/ptr/index.ts'
import { checkHost } from '../checks/spf/index.ts'
import type { Ip } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import type { Ctx } from '../world.ts'
import { verifyArc } from './arc.ts'
import { causeOf, fullEffort } from './causes.ts'
import { hashing, type LookupKey, lookingUpKeys, type VerifiedSignature, verifyMail } from './dkim.ts'
import { evaluateDmarc } from './dmarc.ts'
import { type Arrival, type GivenEnvelope, readArrival } from './envelope.ts'
import type { AddressNames, Facts } from './facts.ts'
import { linkHosts } from './links.ts'
import { parseMime } from './mime.ts'
import { authorOf, type Field, fieldBody, type Mail, parseMail } from './parse.ts'

type Asking = Pick<Ctx, 'resolve' | 'signal' | 'now'>

export type AnalyseOptions = {
  readonly envelope?: GivenEnvelope
  /** Names of hosts whose trace fields may be believed. */
  readonly receivedBy?: readonly string[]
  /** The time at which the expiry of signatures is judged, ms since the epoch; default now. */
  readonly at?: number
  /** Selectors of a domain that are known from elsewhere. */
  readonly selectorsOf?: (domain: string) => readonly string[]
}

/** Maximum number of addresses of the path whose names are looked up. */
const MAX_NAMED = 10

/**
 * Takes a message apart: everything that it says, and what the DNS says about it. Never rejects because of the message
 * or of the DNS.
 */
export async function analyse(raw: Buffer, ctx: Asking, options: AnalyseOptions = {}): Promise<Facts> {
  const at = options.at ?? ctx.now()
  const mail = parseMail(raw)
  await setImmediate() // each step over a message of 10 MiB takes some ms: others are answered in between
  const mime = parseMime(mail.fields, mail.body)
  await setImmediate()
  const author = authorOf(mail.fields)
  const arrival = readArrival(mail.fields, options.receivedBy ?? [], options.envelope)
  const lookupKey = lookingUpKeys(ctx)
  const hash = hashing(mail)
  const [spf, verified, arc, names] = await Promise.all([
    evaluateSpf(ctx, arrival),
    verifyMail(mail, lookupKey, hash, at),
    verifyArc(mail, lookupKey, hash),
    namesOf(ctx, arrival),
  ])
  const identifiers = verified.map(({ domain, result }) => ({ domain, result }))
  const [dmarc, dkim] = await Promise.all([
    evaluateDmarc(ctx, author, spf && { domain: spf.domain, result: spf.result }, identifiers),
    withCauses(ctx, mail, verified, lookupKey, options.selectorsOf),
  ])
  await setImmediate()
  const links = linkHosts(mail.body, mime)
  const { envelope, hops, results } = arrival
  const border = hops.find((hop) => hop.trusted && hop.address !== undefined && hop.address === envelope.ip)
  const forwarding = forwardingOf(mail.fields, arrival)
  return {
    mail,
    mime,
    author,
    envelope,
    hops,
    names,
    results,
    ...(spf ? { spf } : {}),
    dkim,
    arc,
    dmarc,
    links,
    connection: {
      ...(envelope.ip === undefined ? {} : { address: envelope.ip }),
      by: border?.by ?? '',
      forwardConfirmed: envelope.ip === undefined ? null : (names.get(envelope.ip)?.confirmed ?? null),
      tls: border?.tls ?? null,
    },
    ...(forwarding === undefined ? {} : { forwarding }),
    smtputf8: hops.some((hop) => /^utf8/i.test(hop.with)),
    at,
  }
}

async function evaluateSpf(ctx: Asking, { envelope }: Arrival) {
  const { ip, helo = '', mailFrom } = envelope
  if (ip === undefined || (mailFrom === undefined && helo === '')) return undefined
  return checkHost(ctx, { ip, helo, sender: mailFrom ?? '' })
}

/** The names of the public addresses of the path and of the connection; the connection first. */
async function namesOf(ctx: Asking, { envelope, hops }: Arrival): Promise<ReadonlyMap<Ip, AddressNames>> {
  const addresses = [envelope.ip, ...hops.map(({ address }) => address)].filter((one) => one !== undefined)
  const asked = [...new Set(addresses)].filter(isPublic).slice(0, MAX_NAMED)
  const states = await atMost(MAX_NAMED, asked, async (address) => {
    const ptr = await lookupAddress(ctx, address)
    return [address, { names: ptr.names.slice(0, 5), confirmed: addressState(ptr).confirmed }] as const
  })
  return new Map(states)
}

/**
 * The signatures with the cause of each failure; the keys of other selectors are asked only where a signature was made
 * with another key.
 */
async function withCauses(
  ctx: Asking,
  mail: Mail,
  verified: readonly VerifiedSignature[],
  lookupKey: LookupKey,
  selectorsOf: AnalyseOptions['selectorsOf'],
): Promise<readonly VerifiedSignature[]> {
  const effort = fullEffort()
  const explained: VerifiedSignature[] = []
  for (const one of verified) {
    const isFailure = one.result === 'fail' || (one.result === 'permerror' && one.signature !== undefined)
    if (!isFailure || mail.cut) {
      explained.push(one)
      continue
    }
    const beside = verified.filter(({ domain }) => domain === one.domain).map(({ selector }) => selector)
    const selectors = [...beside, ...(selectorsOf?.(one.domain) ?? []), ...generalSelectors(ctx.now())]
    const because = await causeOf(mail, one, lookupKey, selectors, effort)
    explained.push(because === undefined ? one : { ...one, because })
  }
  return explained
}

/** Fields that forwarders write; the first that is there is the evidence. */
const FORWARDING = [
  'x-forwarded-to',
  'x-forwarded-for',
  'x-forwarded-encrypted',
  'x-ms-exchange-forwardingsender',
  'x-sieve-redirected-from',
]

function forwardingOf(fields: readonly Field[], { envelope }: Arrival): string | undefined {
  const field = fields.find(({ name }) => FORWARDING.includes(name))
  if (field) return `it has the field ${field.raw.slice(0, field.raw.indexOf(':')).trim()}`
  // The Sender Rewriting Scheme of forwarders: SRS0=hash=time=domain=local@forwarder.
  if (/^SRS[01][=+-]/i.test(envelope.mailFrom ?? '')) return 'the envelope sender was rewritten (SRS)'
  const delivered = new Set(fields.filter(({ name }) => name === 'delivered-to').map((one) => domainOf(fieldBody(one))))
  return delivered.size > 1 ? 'it was delivered to addresses of several domains (Delivered-To)' : undefined
}

const domainOf = (address: string): string =>
  address
    .slice(address.lastIndexOf('@') + 1)
    .replace(/[<>\s]/g, '')
    .toLowerCase()
