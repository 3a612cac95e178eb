import { parseIp } from '../../names/ip.ts'
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
  const asked = plain(parties.asked ?? '')
  const askedDomain = domainOf(asked)
  const sender = plain(parties.sender ?? '')
  const source = addressIn(parties.source ?? '')
  const ours = [domainOf(sender), plain(parties.helo ?? '')].filter((name) => /^[^.[\]]+\./.test(name))
  const isOurs = (name: string): boolean => ours.some((own) => name === own || name.endsWith(`.${own}`))
  const hostMark = (name: string): string => {
    if (name === askedDomain) return 'DOMAIN'
    if (isOurs(name)) return 'US'
    if (OPERATORS.test(name)) return 'DNSBL'
    return hasKnownSuffix(name) || RESERVED.test(name) ? '' : name
  }
  const addressMark = (address: string): string => {
    const at = domainOf(address)
    if (asked !== '' && address === asked) return 'ASKED'
    if (sender !== '' && address === sender) return 'US'
    if (askedDomain !== '' && at === askedDomain) return 'ASKED'
    return isOurs(at) ? 'US' : ''
  }
  return withoutRepeatedCode(plain(text.slice(0, MAX_READ)))
    .replace(LINK, (link) => (LISTED.test(link) || OPERATORS.test(hostOf(link)) ? 'DNSBL' : ''))
    .replace(ADDRESS, addressMark)
    .replace(IPV4, (found) => (found === source ? 'US-IP' : 'IP'))
    .replace(IPV6, (found) => {
      const address = addressIn(found)
      if (address === undefined) return found
      return address === source ? 'US-IP' : 'IP'
    })
    .replace(HOST, hostMark)
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
    .replace(/[\u2018\u2019\u00b4`]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()

/** A code that is repeated at the beginning of later lines does not part the words of a sentence. */
function withoutRepeatedCode(text: string): string {
  const apart = text.replace(/(?<![\w.])([245]\d\d)-(?=[a-z"'<])/g, '$1 ')
  const code = /^[245]\.\d{1,3}\.\d{1,3} /.exec(apart)?.[0]
  return code === undefined ? apart : code + apart.slice(code.length).replaceAll(` ${code}`, ' ')
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)
const hostOf = (link: string): string => link.replace(/^https?:\/\//, '').replace(/[/?#:].*$/s, '')
function addressIn(text: string): string | undefined {
  const found = parseIp(text)
  return found.ok ? found.value : undefined
}

const LINK = /(?:https?:\/\/|\bwww\.)[^\s<>()"]*[^\s<>()"'.,;:!?\]]/g
/** A link of United Internet that explains a refusal of an address. */
const LISTED = /\/\/postmaster\.[\w.]{1,40}\/\S{0,80}[?&]i=ip\b|\/dnsbl-lookup\b/
/** A quoted local part may have spaces. */
const ADDRESS = /(?:"[^"@]{0,64}"|[^\s<>()[\]{}"',;:@]{1,128})@[\p{L}\p{N}_.-]{0,254}[\p{L}\p{N}_]/gu
const IPV4 = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)/g
const IPV6 = /(?<![\da-f:])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?![\da-f:])/g
const HOST = /(?<![\w.@-])(?:[a-z0-9_][\w-]{0,62}\.){1,8}[a-z]{2,24}(?![\w@-])/g
/** Operators of lists; a name of theirs says that an address is listed. */
const OPERATORS =
  /(?:^|\.)(?:spamhaus|spamcop|sorbs|barracudacentral|uceprotect|invaluement|abusix|mailspike|senderscore|senderbase|spamrats|surriel|s5h|cloudmark|dnsbl|rbl|rbl-dns|njabl|spamauditor)\.|^ipcheck\.|^csi\./
const RESERVED = /\.(?:example|invalid|test|localhost|localdomain|local|internal|lan|intern|corp)$/
/** Ten characters and more with three digits and a letter. */
const TICKET = /(?<![\w.@-])(?=(?:[a-z-]*\d){3})(?=[\d-]*[a-z])[a-z\d-]{10,}(?![\w@])/g
