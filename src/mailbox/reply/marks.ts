import { parseDomain, unicodeOf } from '../../names/domain.ts'
import { type Ip, parseIp, reverseName } from '../../names/ip.ts'
import { hasKnownSuffix } from '../../names/suffix.ts'

/** The names of one question, as far as they are known: addresses as text, host names, the address we connect from. */
export type Parties = {
  readonly asked?: string | undefined
  readonly sender?: string | undefined
  readonly helo?: string | undefined
  readonly source?: string | undefined
}

/** Maximum number of characters of a reply that are read. */
const MAX_READ = 4_096

/**
 * The text of a reply as it is read: at most 4 KiB, lower case, white space as one space, no accents on Latin letters,
 * plain apostrophes. Marks in upper case stand for names: `ASKED` for the mailbox asked for, `DOMAIN` for its domain,
 * `US` for our sender, its domain and our HELO name, `US-IP` for our address, `IP` for any other, `DNSBL` for the
 * operator of a list. Other mail addresses, links, host names and ticket numbers are taken out. The asked names are
 * marked first: what is both theirs and ours is theirs. Pure and linear.
 */
export function markReply(text: string, parties: Parties): string {
  const source = addressIn(parties.source ?? '')
  const names = [
    ...[domainOf(parties.asked ?? ''), domainOf(parties.sender ?? ''), parties.helo ?? ''].flatMap(spellingsOf),
    ...(source === undefined ? [] : [[reverseName(source), source] as const]),
  ]
  const asWritten = (own: string): string => named(plain(own), names)
  const asked = asWritten(parties.asked ?? '')
  const askedDomain = domainOf(asked)
  const sender = asWritten(parties.sender ?? '')
  // One that no word of a server can be.
  const localPart = /^(?=.*\d)[a-z\d._+-]{8,64}(?=@)/.exec(sender)?.[0] ?? '\0'
  const ours = [domainOf(sender), asWritten(parties.helo ?? '')].filter((name) => /^[^.[\]]+\./.test(name))
  const isOurs = (name: string): boolean => ours.some((own) => name === own || name.endsWith(`.${own}`))
  const hostMark = (name: string): string => {
    if (name === askedDomain) return 'DOMAIN'
    if (isOurs(name)) return 'US'
    if (OPERATORS.test(name)) return 'DNSBL'
    return hasKnownSuffix(name) || RESERVED.test(name) ? '' : name
  }
  const addressMark = (address: string): string => {
    const at = domainOf(address)
    if (at.endsWith(']') && asked !== address)
      return source !== undefined && addressIn(literal(at)) === source ? 'US' : ''
    if (asked !== '' && address === asked) return 'ASKED'
    if (sender !== '' && address === sender) return 'US'
    if (askedDomain !== '' && at === askedDomain) return 'ASKED'
    return isOurs(at) ? 'US' : ''
  }
  const ipMark = (found: string): string => {
    const end = found.endsWith(':') && !found.endsWith('::') ? ':' : ''
    const address = addressIn(end === '' ? found : found.slice(0, -1))
    if (address === undefined) return found
    return address === source ? `US-IP${end}` : `IP${end}`
  }
  return withoutRepeatedCode(named(plain(text.slice(0, MAX_READ).replace(ROOT_DOT, '')), names))
    .replace(LINK, (link) => (LISTED.test(link) || OPERATORS.test(hostOf(link)) ? 'DNSBL' : ''))
    .replace(ADDRESS, addressMark)
    .replace(IPV6, ipMark)
    .replace(IPV4, (_, found: string) => (found.replace(/\b0+(?=\d)/g, '') === source ? 'US-IP' : 'IP'))
    .replace(LISTED_BY, (_, words: string, host: string) => `${words}${hostMark(host) === '' ? 'DNSBL' : host}`)
    .replace(HOST, hostMark)
    .replaceAll(localPart, ' US ')
    .replace(TICKET, '')
    .replace(/_(?=\p{L})/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/([A-Za-z])[\u0300-\u036f]{1,4}/g, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('đ', 'd')
    .replace(/[\u2018\u2019\u00b4`]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()

/** A code that is repeated at the beginning of later lines does not part the words of a sentence. */
function withoutRepeatedCode(text: string): string {
  const apart = text.replace(/(?<![\w.])([245]\d\d)-(?=[a-z"'<])/g, '$1 ')
  const code = /^[245]\.\d{1,3}\.\d{1,3} /.exec(apart)?.[0]
  return code === undefined ? apart : code + apart.slice(code.length).replaceAll(` ${code}`, ' ')
}

/** Another spelling of a name or an address, in a text that {@link plain} has read. */
type Spelling = readonly [other: string, name: string]
function spellingsOf(name: string): readonly Spelling[] {
  if (!/xn--|[^\0-\x7f]/i.test(name)) return []
  const read = parseDomain(name)
  return read.ok ? [[plain(unicodeOf(read.value)), read.value]] : []
}
const named = (text: string, names: readonly Spelling[]): string =>
  names.reduce((read, [other, name]) => read.replaceAll(other, name), text)

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)
const hostOf = (link: string): string => link.replace(/^https?:\/\//, '').replace(/[/?#:].*$/s, '')
function addressIn(text: string): Ip | undefined {
  const found = parseIp(text.replace(/^ipv6:|%.*$/g, ''))
  return found.ok ? found.value : undefined
}

/** The dot of the root behind a name within a sentence. */
const ROOT_DOT = /(?<=\.[\p{L}\d-]{2,24})\.(?=:| [\p{Ll}\p{Lo}(])/gu
/** The address of a literal, `[ipv6:2001:db8::1]` (RFC 5321 §4.1.3). */
const literal = (text: string): string => text.replace(/^\[(?:ipv6:)?|\]$/g, '')

const LINK = /(?:https?:\/\/|\bwww\.)[^\s<>()"]*[^\s<>()"'.,;:!?\]]/g
/** A link of United Internet that explains a refusal of an address. */
const LISTED = /\/\/postmaster\.[\w.]{1,40}\/\S{0,80}[?&]i=ip\b|\/dnsbl-lookup\b/
/** A quoted local part may have spaces. */
const ADDRESS =
  /(?:"[^"@]{0,64}"|[^\s<>()[\]{}"',;:@]{1,128})@(?:[a-z\d_.-]{0,254}[a-z\d_]|[\p{L}\p{N}_.-]{0,254}[\p{L}\p{N}_]|\[[\da-fipv.:]{2,50}\])/gu
const IPV4 = /(?<![\d.])((?:\d{1,3}\.){3}\d{1,3})(?::\d{2,5}\b)?(?!\d|\.\d)/g
const IPV6 =
  /(?<![\da-f:])(?:ipv6:)?[\da-f]{0,4}(?::[\da-f]{0,4}){2,8}(?:(?:\.\d{1,3}){3})?(?:%\w{1,16})?(?![\da-f]|:[\da-f:])/g
const HOST = /(?<![\w.@-])(?:[a-z0-9_][\w-]{0,62}\.){1,8}[a-z]{2,24}(?![\w@-])/g
/** Operators of lists; a name of theirs says that an address is listed. */
const OPERATORS =
  /(?:^|\.)(?:spamhaus|spamcop|sorbs|barracudacentral|uceprotect|invaluement|abusix|mailspike|senderscore|senderbase|spamrats|surriel|s5h|cloudmark|dnsbl|rbl|rbl-dns|njabl|spamauditor)\.|^ipcheck\.|^csi\./
/** The name of the list that refuses an address. */
const LISTED_BY =
  /(\b(?:blocked|refused|rejected|denied|listed) (?:using|by|in|on|at) (?:the )?)((?:[a-z0-9_][\w-]{0,62}\.){1,8}[a-z]{2,24})(?![\w@-])/g
const RESERVED = /\.(?:example|invalid|test|localhost|localdomain|local|internal|lan|intern|corp)$/
/** Ten characters and more with three digits and a letter. */
const TICKET = /(?<![\w.@-])(?=(?:[a-z-]*\d){3})(?=[\d-]*[a-z])[a-z\d-]{10,}(?![\w@])/g
