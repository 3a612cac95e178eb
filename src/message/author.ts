import { type Address, addressParser, decodeWords } from 'postal-mime'
import { type Domain, parseMailDomain } from '../names/domain.ts'
import { type Field, fieldBody } from './parse.ts'

/** A mailbox of a header field. */
type Mailbox = { readonly name: string; readonly address: string }

/** Who wrote a message by its From field (RFC 5322 §3.6.2, RFC 6854). */
export type Author = {
  /** At most {@link MAX_MAILBOXES}. */
  readonly mailboxes: readonly Mailbox[]
  /** The domain that DMARC is about; absent without an author or with several domains (RFC 9989 §5.3.1). */
  readonly domain?: Domain
  /** The number of different author domains. */
  readonly domains: number
}

/** Maximum number of authors that are read. */
const MAX_MAILBOXES = 20
/** Maximum number of characters of a field that are read as addresses. */
const MAX_LENGTH = 20_000

/** Octets of a header field as text: UTF-8 (RFC 6532), with the octets as they are where they are not. */
const textOf = (octets: string): string => Buffer.from(octets, 'latin1').toString('utf8')

/** The decoded text of a field (RFC 2047). */
export const decodedField = (field: Field): string => decodeWords(textOf(fieldBody(field).slice(0, MAX_LENGTH)))

/** The mailboxes of an address list, those of groups included. */
export function mailboxesOf(field: Field): readonly Mailbox[] {
  const list = addressParser(textOf(fieldBody(field).slice(0, MAX_LENGTH)))
  return list
    .flatMap((one: Address) => one.group ?? (one.address === undefined ? [] : [one]))
    .map(({ name, address }) => ({ name: decodeWords(name), address: address ?? '' }))
    .filter(({ address }) => address.includes('@'))
    .slice(0, MAX_MAILBOXES)
}

/** The author of a message by all of its From fields. */
export function authorOf(fields: readonly Field[]): Author {
  const mailboxes = fields.filter(({ name }) => name === 'from').flatMap((field) => mailboxesOf(field))
  const domains = new Set(mailboxes.map(({ address }) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()))
  const [only] = domains
  const domain = domains.size === 1 ? parseMailDomain(only!) : undefined
  return { mailboxes, domains: domains.size, ...(domain?.ok ? { domain: domain.value } : {}) }
}
