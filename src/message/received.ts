import { canonicalName } from '../names/domain.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { withoutComments } from './mime.ts'
import { type Field, fieldBody } from './parse.ts'

/** One Received field (RFC 5321 §4.4): what a host wrote when it got the message. All of it are the words of that host. */
export type Received = {
  /** The name after `from`: what the client called itself (HELO). */
  readonly from: string
  /** The name that the host found for the client's address, if it wrote one. */
  readonly name: string
  readonly address?: Ip
  readonly by: string
  readonly with: string
  /** Milliseconds since the epoch. */
  readonly at?: number
  /** The field says that the transfer was encrypted; false if its protocol is one without TLS; null if it says nothing. */
  readonly tls: boolean | null
}

/** Maximum number of characters of a field that are read. */
const MAX_LENGTH = 5_000

/** Reads a Received field in the forms that mail servers write; what it lacks is empty. Never throws. */
export function parseReceived(field: Field): Received {
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

/** The client as the host saw it: the first address in the clause `from`, the name before it, and HELO where it stands in the comment. */
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
