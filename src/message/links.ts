import { canonicalName, parseMailDomain } from '../names/domain.ts'
import { parseIp } from '../names/ip.ts'
import { contentOf, type Mime } from './mime.ts'

/** The host of links in a message, and how often it is linked. */
export type LinkHost = { readonly host: string; readonly times: number }

const MAX_HOSTS = 100
/** Maximum number of octets of text that are searched for links. */
const MAX_TEXT = 2 * 1_048_576
/** Maximum number of spellings of hosts that are read. */
const MAX_READ = 1_000
/** Maximum length of a host, octets (RFC 1035 §2.3.4). */
const MAX_HOST = 255
/** Maximum number of links that are counted. */
const MAX_LINKS = 20_000

/** The hosts that the texts of a message link to, in the order in which they come first. No link is followed. */
export function linkHosts(body: Buffer, { parts }: Mime): readonly LinkHost[] {
  const times = new Map<string, number>()
  // Most links of a message lead to a few hosts: each spelling is read once.
  const read = new Map<string, string | undefined>()
  let room = MAX_TEXT
  let links = 0
  for (const part of parts) {
    if (!part.type.startsWith('text/') || part.disposition === 'attachment' || room <= 0) continue
    const text = contentOf(body, part, room).toString('latin1')
    room -= text.length
    for (const [, host = ''] of withoutReferences(text).matchAll(LINK)) {
      if (++links > MAX_LINKS) break
      if (!read.has(host) && read.size < MAX_READ) read.set(host, hostOf(host))
      const name = read.get(host)
      if (name !== undefined && (times.has(name) || times.size < MAX_HOSTS)) times.set(name, (times.get(name) ?? 0) + 1)
    }
  }
  return [...times].map(([host, count]) => ({ host, times: count }))
}

/** What follows the scheme of a link up to its path, or a name that begins with `www.`. */
const LINK = /(?:https?:(?:\/\/|\\\\)|\b(?=www\.[a-z0-9-]))([^\s"'<>/?#\\,;(){}[\]|`^]{1,300})/gi

/** Numeric character references of ASCII characters, with which links are hidden. */
const withoutReferences = (text: string): string =>
  text.includes('&#')
    ? text.replace(/&#(?:x([0-9a-f]{1,4})|(\d{1,5}));?/gi, (all, hex?: string, decimal?: string) => {
        const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
        return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : all
      })
    : text

/** The host of an authority: without user and port. Undefined if it is neither a name nor an address. */
function hostOf(authority: string): string | undefined {
  const written = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d{0,5}$/, '')
  let end = written.length
  while ('.:!'.includes(written.charAt(end - 1)) && end > 0) end--
  if (end > MAX_HOST) return undefined
  const host = written.slice(0, end)
  const address = parseIp(host)
  if (address.ok) return address.value
  const name = parseMailDomain(canonicalName(Buffer.from(host, 'latin1').toString('utf8')))
  return name.ok ? name.value : undefined
}
