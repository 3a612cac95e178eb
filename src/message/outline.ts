import type { HeavyKind } from '../lane/heavy.ts'
import { arcKeys } from './arc.ts'
import { signersOf } from './dkim.ts'
import { type Arrival, type GivenEnvelope, readArrival } from './envelope.ts'
import { type LinkHost, linkHosts } from './links.ts'
import { type Mime, parseMime } from './mime.ts'
import { type Author, authorOf, type CountedMail, type Field, fieldBody, MAX_LENGTH, parseMail } from './parse.ts'

/**
 * A message without its body. Of its fields only those that are judged have their text, and of that only what is read
 * of it: the others have their names alone.
 */
export type MailHead = Omit<CountedMail, 'body'>

/** What a message says, and what is to be asked about it: plain data. */
type Outline = {
  readonly mail: MailHead
  readonly mime: Mime
  readonly author: Author
  readonly arrival: Arrival
  /** What shows that the message was forwarded, if anything does. */
  readonly forwarding?: string
  readonly links: readonly LinkHost[]
  /** The domains of the signatures that are verified, from top to bottom. */
  readonly signers: readonly string[]
  /** The names of the keys that verifying needs, those of the ARC chain included. */
  readonly keys: readonly string[]
}

type OutlineInput = {
  readonly envelope?: GivenEnvelope
  /** Names of hosts whose trace fields may be believed. */
  readonly receivedBy: readonly string[]
}

/** Reads a message; nothing in it makes this fail. */
export const outline: HeavyKind<OutlineInput, Outline> = {
  name: 'outline',
  work: (octets, { envelope, receivedBy }) => {
    const mail = parseMail(octets)
    const mime = parseMime(mail.fields, mail.body)
    const arrival = readArrival(mail.fields, receivedBy, envelope)
    const forwarding = forwardingOf(mail.fields, arrival)
    const { domains, keys } = signersOf(mail)
    return {
      mail: headOf(mail),
      mime,
      author: authorOf(mail.fields),
      arrival,
      ...(forwarding !== undefined && { forwarding }),
      links: linkHosts(mail.body, mime),
      signers: domains,
      keys: [...new Set([...keys, ...arcKeys(mail)])],
    }
  },
}

/** Fields whose text is judged or shown. */
const JUDGED = new Set([
  'date',
  'feedback-id',
  'list-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'message-id',
  'precedence',
  'resent-from',
  'subject',
])
/** Fields of one name whose text is kept. */
const MAX_KEPT = 5

function headOf({ body: _, fields, ...rest }: CountedMail): MailHead {
  const kept = new Map<string, number>()
  const shortened = fields.map(({ name, raw }) => {
    const count = JUDGED.has(name) ? (kept.get(name) ?? 0) : MAX_KEPT
    kept.set(name, count + 1)
    return { name, raw: count < MAX_KEPT ? raw.slice(0, MAX_LENGTH) : '' }
  })
  return { ...rest, fields: shortened }
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
