import { type Parsed, parsed, problem } from '../base/problem.ts'
import { unescaped } from '../base/text.ts'
import { type Domain, parseDomain } from './domain.ts'
import { type Email, formatEmail, parseEmail } from './email.ts'
import { type Ip, isNetworkOrRange, parseIp } from './ip.ts'
import {
  isAscii,
  MAX_TEXT,
  type Pasted,
  reduced,
  type Step,
  type Taken,
  trimmed,
  trimming,
  unlisted,
  unmarked,
  unpaired,
  unpunctuated,
  withoutBrackets,
  withoutEntities,
} from './pasted-steps.ts'
import { domainProblem, emailProblem, ipProblem, selectorProblem } from './problems.ts'

/**
 * What people paste: values as web pages, spreadsheets, mail programs, DNS consoles and log files show them. The
 * pages, lists, the API and the command line read values with this module alone.
 */

/** `joe%40example.org`: an address out of a URL. */
const withoutEscapes: Step = (text) => {
  const value = /^[^\s@]*%40[^\s@]*$/.test(text) ? unescaped(text) : text
  return value === text ? undefined : { value, taken: ['markup'] }
}

/** `joe@example.org/`: no domain has a slash. */
const unslashed: Step = (text) => {
  const address = /^([^\s/\\@]+@[^\s/\\@]+)[/\\]+$/.exec(text)?.[1]
  return address === undefined ? undefined : { value: address, taken: ['punctuation'] }
}

/** `<b>joe@example.org</b>`, `joe@example.org<br>`. */
const withoutTags: Step = (text) => {
  const value = text.replace(/<\/?[a-z][a-z\d]{0,10}(?:\s[^<>@]{0,500})?\/?>/gi, '  ')
  return value === text ? undefined : { value, taken: ['markup'] }
}

/** `=HYPERLINK("mailto:joe@example.org","Joe")` in any language, `="joe@example.org"`. */
const withoutFormula: Step = (text) => {
  const first = /^=\s*(?:[\p{L}.]{1,30}\()?\s*"([^"]*)"/u.exec(text)?.[1]
  return first === undefined ? undefined : { value: first, taken: ['markup'] }
}

/** The address of a link: `mailto:joe@example.org?subject=Hi`, also within Markdown or HTML. */
const linked: Step = (text) => {
  const link = /(?:^|[\s[(<"'=|])mailto:(?:\/\/)?([^"'?<>()[\]|\s]+)/i.exec(text)?.[1]
  if (link !== undefined) {
    const value = unescaped(link)
    if (value.includes('@')) return { value, taken: [/^mailto:/i.test(text) ? 'mailto' : 'markup'] }
  }
  const rest = /^mailto:(.*)$/is.exec(text)?.[1]
  return rest === undefined ? undefined : { value: rest, taken: ['mailto'] }
}

/** The text in the last pair of brackets with an `@`: `"Doe, Joe" <joe@example.org>`, `Joe (joe@example.org)`. */
const bracketed: Step = (text) => {
  for (const [open, close] of [
    ['<', '>'],
    ['(', ')'],
    ['[', ']'],
    ['{', '}'],
  ] as const) {
    const from = text.lastIndexOf(open)
    const to = text.indexOf(close, from)
    if (from < 0 || to < 0) continue
    const [before, inside, behind] = [text.slice(0, from), text.slice(from + 1, to), text.slice(to + 1)]
    if (!inside.includes('@') || behind.includes('@')) continue
    const isBare = /^[\s<([]*$/.test(before) && /^[\s>)\]]*$/.test(behind)
    return { value: inside, taken: [isBare ? 'brackets' : 'name'] }
  }
  const half = /^<([^>]*)$|^([^<]*)>$/.exec(text)
  return half ? { value: half[1] ?? half[2]!, taken: ['brackets'] } : undefined
}

/** `joe@example.org (Joe)`, `joe@example.org # left`, `joe@example.org - Joe`: a comment behind the address. */
const uncommented: Step = (text) => {
  const address =
    /^([^\s()]+@[^\s()@]+)(?:\s*\([^()@]*\)|\s+\[[^[\]@]*\]|\s+(?:#|\/\/|--?\s|[–—]\s|\p{Lu})[^@]*)$/u.exec(text)?.[1]
  return address === undefined ? undefined : { value: address, taken: ['name'] }
}

/** The value of a line of a log or of settings: `level=info to=joe@example.org id=1`, `mail = joe@example.org`. */
const logged: Step = (text) => {
  if (!text.includes('=') || !/[\s;&]/.test(text) || text.includes('://')) return undefined
  const address =
    /^[^@]*(?:^|[\s;,&])(?:to|rcpt|recipient|e?-?mail|user|addr|address)\s?=\s?["<]?([^\s"<>,;&@]+@[^\s"<>,;&@]+)[^@]*$/i.exec(
      text,
    )?.[1]
  return address === undefined ? undefined : { value: address, taken: ['text'] }
}

/** `Joe Doe - joe@example.org`, `Joe ....... joe@example.org`, `Joe Doe joe@example.org`: a name of two words at least. */
const behindName: Step = (text) => {
  const address =
    /^[^@]{1,200}\s(?:[-–—]|[.·_]{2,80})\s+([^\s@]+@[^\s@]+)$/.exec(text)?.[1] ??
    /^(?:(?:\p{Lu}[\p{L}.'-]{0,60}\s+){2,4}|"[^"@]{1,200}"\s+)([^\s@]+@[^\s@]+)$/u.exec(text)?.[1]
  return address === undefined ? undefined : { value: address, taken: ['name'] }
}

/** `E-Mail: joe@example.org`, `To: …`: no local part has a colon. */
const unlabeled: Step = (text) => {
  const rest = /^(?:[\p{L}][\p{L} .-]{0,30})[:：]\s*(?!\/\/)(?=\S*@)/u.exec(text)?.[0]
  return rest === undefined ? undefined : { value: text.slice(rest.length), taken: ['label'] }
}

/** The begin of a line of a chat: `[26.11.26, 10:02:11] Joe: …`, `26/11/2026, 10:02 - Joe: …`. */
export const CHAT_LINE =
  /^\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?(?:\]| -)\s+(?=\S)/i
/** The one address of a line of a chat. */
const unstamped: Step = (text) => {
  const stamp = CHAT_LINE.exec(text)?.[0]
  const address = stamp && /^[^@]*?([^\s@<>"'(),;:]+@[^\s@<>"'(),;]+)[^@]*$/.exec(text.slice(stamp.length))?.[1]
  return address ? { value: address, taken: ['text'] } : undefined
}

/** `joe (at) example (dot) org`, `joe at example dot org`, `joe＠example.org`: an address for people. */
const withoutWords: Step = (text) => {
  if (text.includes('@') || !AT_WORD.test(text)) return undefined
  const marked = text.replace(/\s{0,4}[[({<]\s{0,4}(?:at|a|ät)\s{0,4}[\])}>]\s{0,4}|[＠﹫]/i, '@')
  const value = withoutBrackets(marked)?.value ?? marked
  const spoken = /^([\w.+-]+) at ([\w-]+(?:(?: dot |\.)[\w-]+)+)$/i.exec(value)
  const read = spoken ? `${spoken[1]}@${spoken[2]!.replace(/ dot /gi, '.')}` : value
  return read.includes('@') ? { value: read, taken: ['at'] } : undefined
}
const AT_WORD = /\b(?:at|a)\b|[＠﹫]/i

/**
 * The one address of a text whose other words are not part of it: words behind it, a separator or blanks in front, its
 * own line. Behind a single blank the words in front may be part of it: a `+` of a URL that was read as a blank.
 */
const only: Step = (text) => {
  if (text.includes('://') || text.split('@').length !== 2) return undefined
  const line = text.split(/[\r\n]+/).find((one) => one.includes('@'))!
  if (line !== text) return /[,;|\t]/.test(line) ? undefined : { value: line, taken: ['text'] }
  let [from, to] = [text.indexOf('@'), text.indexOf('@') + 1]
  while (from > 0 && !APART.test(text[from - 1]!)) from--
  while (to < text.length && !APART.test(text[to]!)) to++
  if (to - from === text.length) return undefined
  const isApart = from === 0 || IN_FRONT.test(text.slice(Math.max(0, from - 100), from))
  // A domain that a blank broke.
  const isBroken = /^ (?:[a-z]{1,3}$|[\w-]*\.\w)/i.test(text.slice(to))
  return isApart && !isBroken ? { value: text.slice(from, to), taken: ['text'] } : undefined
}
/** What no address has outside of quotes. */
const APART = /[\s,;:="'<>()[\]{}|]/
/** What ends the words in front of an address. */
const IN_FRONT = /(?:[;:=|<>()[\]{}"']\s*|,\s+|\t|\s{2,}|[^\p{L}\p{N}\s.,+_%'-]\s+)$/u

const ADDRESS_STEPS: readonly Step[] = [
  withoutFormula,
  withoutEntities,
  withoutEscapes,
  withoutWords,
  unstamped,
  logged,
  unlisted,
  linked,
  withoutTags,
  bracketed,
  uncommented,
  unlabeled,
  behindName,
  unpaired,
  unpunctuated,
  unmarked,
  unslashed,
  only,
]

/** The form of nearly all addresses, which needs no reading. */
const PLAIN_ADDRESS = /^[\w.+-]+@[\w.-]*\w$/

/**
 * The addresses in a text, each as it is written: one or more (`a@example.org; B <b@example.org>`), or the whole text
 * if it has none.
 */
export function addressesIn(text: string): readonly Pasted<string>[] {
  if (PLAIN_ADDRESS.test(text)) return [{ value: text, taken: [] }]
  const bare = trimming(text)
  const { value } = bare
  if (PLAIN_ADDRESS.test(value) || !(/@|%40|&/.test(value) || AT_WORD.test(value))) return [bare]
  const quoted = quotedIn(value)
  if (quoted.length === 1) {
    const one = addressIn(quoted[0]!)
    return [{ ...one, taken: ['text', ...one.taken] }]
  }
  const isOne = value.indexOf('@') === value.lastIndexOf('@') || isMarkup(value)
  const isList = quoted.length === 0 && !isOne
  const parts = isList ? separated(value.replace(/^\[([^[\]]*)\]$/s, '$1').replace(LINE_TAGS, '\n')) : quoted
  if (parts.length < 2) return [addressIn(text)]
  return parts.map((part) => {
    const one = addressIn(part)
    return { ...one, taken: ['several', ...one.taken] }
  })
}

/** Tags of HTML between lines. */
const LINE_TAGS = /<\/?(?:br|p|div|li)(?:\s[^<>@]{0,200})?\/?>/gi

/** The addresses of a text that has each in quotes and other text beside them: rows of SQL, lists of programs. */
function quotedIn(text: string): readonly string[] {
  if (isMarkup(text) || !/[([{}\])]/.test(text)) return []
  const quoted = [...text.matchAll(/(['"])([^\s'"@<>]{1,128}@[^\s'"@<>]{1,255})\1/g)].map((found) => found[2]!)
  return quoted.length === text.split('@').length - 1 ? quoted : []
}

/** A formula or a link repeats its address. */
const isMarkup = (text: string): boolean => /^=|^\[[^\]]*\]\(mailto:|\[[^[\]|]{0,200}\|mailto:|<a\s/i.test(text)

const isAddress = (text: string): boolean => parseEmail(text).ok

/** The one address of a text, without what is around it; the text itself if that leads to none. */
function addressIn(text: string): Pasted<string> {
  // The mark by which spreadsheets keep a cell as text.
  const marked = /^\s*'([^'\s]+)$/.exec(text)?.[1]
  if (marked !== undefined && isAddress(marked)) return { value: marked, taken: ['quotes'] }
  // No local part has a label with the colon of East Asian text.
  const found = reduced(text.replace(/^\s*[\p{L}][\p{L} .-]{0,30}：\s*/u, ''), ADDRESS_STEPS, isAddress)
  return isAddress(found.value) ? found : trimming(text)
}

/**
 * A text with several `@` in parts with one each, at semicolons, commas, bars, slashes, line ends and `:::` behind an
 * address, outside of quotes and brackets; at blanks if each word is an address; before a bracket with another address.
 * A part without an `@` belongs to the next one (`Doe, Joe <joe@example.org>`) or, at the end, to the one before it.
 * Each character is looked at a few times.
 */
function separated(text: string): readonly string[] {
  const parts: string[] = []
  const hasQuotes = text.split('"').length % 2 === 1
  let [isQuoted, isInside, hasAt, from] = [false, false, false, 0]
  for (let at = 0; at < text.length; at++) {
    const c = text[at]!
    if (c === '@') hasAt = true
    if (c === '"' && hasQuotes && !isInside) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (c === '(' && hasAt && !isInside && text.slice(at, text.indexOf(')', at)).includes('@')) {
      parts.push(...wordsOf(text.slice(from, at)))
      from = at
      hasAt = false
      isInside = true
    } else if (c === '<' || c === '(') isInside = true
    else if (c === '>' || c === ')') isInside = false
    else if (!isInside && hasAt) {
      const end = separatorAt(text, at)
      if (end === undefined) continue
      parts.push(...wordsOf(text.slice(from, at)))
      at += end.length - 1
      from = at + 1
      hasAt = false
    }
  }
  const rest = text.slice(from)
  if (hasAt) parts.push(...wordsOf(rest))
  else if (/[^\s,;|]/.test(rest)) parts.push(`${parts.pop() ?? ''},${rest}`)
  return parts
}

const SEPARATOR =
  /:::|[;,|\\\r\n/，；،؛、]|\s(?:and|or|und|oder|bzw\.?|sowie|resp\.?|et|ou|y|e|o|en|of|och|oraz|и|или|[&+:])\s/iy

/** The separator behind an address that begins here. */
function separatorAt(text: string, at: number): string | undefined {
  SEPARATOR.lastIndex = at
  return SEPARATOR.exec(text)?.[0]
}

/** The parts of a text with several addresses between blanks: `a@example.org b@example.org`, `<a@…> <b@…>`. */
function wordsOf(text: string): readonly string[] {
  const angled = text.split('>').filter((part) => /<[^<]*@/.test(part))
  if (angled.length > 1) return angled.map((part) => `${part}>`)
  const words = text.includes('<') ? [] : text.split(/\s+/).filter((word) => word !== '')
  return words.length > 1 && words.every((word) => word.includes('@')) ? words : [text]
}

/**
 * One address, as it is pasted: `Joe <joe@example.org>`, `mailto:joe@example.org`, in quotes or brackets, with invisible
 * characters around it, with a stray mark behind it. Several are refused, never one of them taken.
 */
export function readAddress(text: string): Parsed<Pasted<Email>> {
  const first = parseEmail(text)
  if (first.ok && isAscii(text)) return parsed({ value: first.value, taken: [] })
  if (text.length > MAX_TEXT && !first.ok) return first
  const [one, ...others] = addressesIn(text)
  if (others.length > 0) return problem(emailProblem('several', { count: others.length + 1 }))
  const { value, taken } = one!
  const email = parseEmail(value)
  if (email.ok) return parsed({ value: email.value, taken })
  const blank = /^[^\s<>"()@]+(?:\s+[^\s<>"()@]+)+@[^\s@]+$/.test(value)
  const joined = value.replace(/\s+@\s*|@\s+/, '@')
  if (joined !== value && isAddress(joined)) return problem(emailProblem('blank_at', { text: joined }))
  if (/^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(value)) return problem(emailProblem('url', { text: value }))
  return problem(blank ? emailProblem('blank', { plus: value.replace(/\s+/g, '+') }) : email.problem)
}

/** An address as {@link readAddress} reads it, without what was taken away. */
export function parsePastedEmail(text: string): Parsed<Email> {
  const read = readAddress(text)
  return read.ok ? parsed(read.value.value) : read
}

/** An address for the wire as it was pasted; a text that is none, without white space around it. */
export function pastedAddress(text: string): string {
  const read = readAddress(text)
  return read.ok ? formatEmail(read.value.value) : trimmed(text)
}

/** What may stand in front of a domain in the name of a record that belongs to its mail. */
const RECORD_LABEL = /^(?:_dmarc|_mta-sts|_smtp\._tls|[a-z0-9-]{1,63}\._bimi|_domainkey)\./i
const KEY_NAME = /^([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)\._domainkey(?:\.(.+))?$/i

/** A domain, and the selector that its name began with. */
type PastedDomain = { readonly domain: Domain; readonly selector?: string }

/** Quotes of typography are in no name (RFC 5892 §2.6), though UTS 46 has them in one. */
const isDomain = (text: string): boolean => !/[\p{Pi}\p{Pf}‚„]/u.test(text) && parseDomain(text).ok

/** `Domain: example.org`, `client-ip=192.0.2.1`. */
const unnamed: Step = (text) => {
  const label = /^[\p{L}][\p{L} -]{0,30}(?:[=：]|:\s)\s*(?=\S)/u.exec(text)?.[0]
  return label === undefined ? undefined : { value: text.slice(label.length), taken: ['label'] }
}

/** The name of a line of a zone file, of `dig`, `host` or `nslookup`; a DNS type is in capitals there. */
const RECORD_LINE =
  /^(?:;;[^\n]*\n)*;?\s*([^\s;]{1,255})\s+(?:(?:\d{1,10}[smhdw]?\s+)?(?:IN\s+)?(?:A|AAAA|CAA|CNAME|DNSKEY|DS|MX|NS|PTR|SOA|SPF|SRV|TLSA|TXT)(?:\s|$)|(?:mail is handled by|has (?:IPv6 )?address|is an alias for|name server|descriptive text)\s|(?:mail exchanger|nameserver|text|canonical name|internet address)\s*=|Address(?:es)?:)/
const ofRecord: Step = (text) => {
  const name = RECORD_LINE.exec(text)?.[1]
  return name === undefined || recordNames(text).size > 1 ? undefined : { value: name, taken: ['text'] }
}
/** The names of the records of a text, one a line. */
const recordNames = (text: string): ReadonlySet<string> =>
  new Set(text.split(/[\r\n]+/).flatMap((line) => RECORD_LINE.exec(line)?.[1]?.replace(/\.$/, '').toLowerCase() ?? []))

/** `example dot org`. */
const spoken: Step = (text) =>
  /^[\w-]+(?: dot [\w-]+)+$/i.test(text) ? { value: text.replace(/ dot /gi, '.'), taken: ['at'] } : undefined

/** `example.org (ours)`, `example.org # ours`. */
const unremarked: Step = (text) => {
  const name = /^([^\s()]+)\s+(?:\([^()]*\)|(?:#|\/\/|[-–—]\s).*)$/s.exec(text)?.[1]
  return name === undefined ? undefined : { value: name, taken: ['name'] }
}

const NAME_STEPS: readonly Step[] = [
  ...[withoutEntities, withoutBrackets, unlisted, unpaired, unpunctuated, unmarked],
  ...[ofRecord, spoken, unremarked, unnamed],
]

/** The host of a URL, of `host:port/path` or `//host/`; undefined where there is none of it. */
export function hostOf(text: string): string | undefined {
  const url = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#\s]*)/i.exec(text)?.[1]
  const authority = (url ?? /^[^/?#\s]+(?=[/?#])/.exec(text)?.[0])?.replace(/^[^@]*@/, '')
  if (authority === undefined) return undefined
  return /^\[([^\]]+)\](?::\d{0,5})?$/.exec(authority)?.[1] ?? authority.replace(/:\d{0,5}$/, '')
}

/**
 * A domain as it is pasted: in quotes, with invisible characters around it or stray marks behind it, as
 * `_dmarc.example.org` or `mail._domainkey.example.org`. A URL, a port, an address and several domains are refused with
 * words that name them.
 */
export function readDomain(text: string): Parsed<Pasted<PastedDomain>> {
  const first = parseDomain(text)
  if (first.ok && isAscii(text)) return parsed({ value: { domain: first.value }, taken: [] })
  if (text.length > MAX_TEXT && !first.ok) return first
  const { value, taken } = reduced(text, NAME_STEPS, isDomain)
  const at = value.startsWith('@') ? value.slice(1) : value
  const label = RECORD_LABEL.exec(at)?.[0]
  const key = KEY_NAME.exec(at)
  const name = key?.[2] ?? at.slice(label?.length ?? 0)
  const domain = parseDomain(name)
  if (domain.ok && isDomain(name)) {
    const selector = key?.[2] === undefined ? undefined : key[1]!.toLowerCase()
    const more: readonly Taken[] = name === value ? [] : [at === value ? 'label' : 'punctuation']
    return parsed({
      value: { domain: domain.value, ...(selector !== undefined && { selector }) },
      taken: [...taken, ...more],
    })
  }
  if (RECORD_VALUE.test(text)) return problem(domainProblem('record', { text }))
  const { size: count } = recordNames(text)
  if (count > 1) return problem(domainProblem('several', { count }))
  return problem(domainFault(value) ?? (domain.ok ? domainProblem('invalid', { text }) : domain.problem))
}
const RECORD_VALUE = /^["'(\s]*v\s*=\s*(?:spf|dmarc|dkim|sts|tlsrpt|bimi)v?\d\b/i

function domainFault(text: string) {
  const words = text.split(/[\s,;|]+/).filter((word) => word !== '')
  if (words.length > 1 && words.every((word) => parseDomain(word).ok))
    return domainProblem('several', { count: words.length })
  if (/\s/.test(text)) return domainProblem('blank', { text })
  const email = /^[^/]*@/.test(text) ? readAddress(text) : undefined
  if (email?.ok) return domainProblem('mailbox', { text, domain: email.value.value.domain })
  const host = hostOf(text)
  if (host !== undefined && !isNetworkOrRange(text)) return domainProblem('url', { text, host })
  const port = /^(.+):\d{1,5}$/.exec(text)?.[1]
  if (port !== undefined && parseDomain(port).ok) return domainProblem('port', { text, host: port })
  return undefined
}

/** A domain as {@link readDomain} reads it, without what was taken away. */
export function parsePastedDomain(text: string): Parsed<Domain> {
  const read = readDomain(text)
  return read.ok ? parsed(read.value.value.domain) : read
}

/**
 * An IP address as it is pasted: in brackets (`[192.0.2.1]`, `[IPv6:2001:db8::1]`), quotes, with a port behind it, as a
 * term of SPF (`ip4:192.0.2.1`), as a name of the reverse zone, as the one address of a line of a log or a zone.
 * Networks and URLs are refused.
 */
export function readIp(text: string): Parsed<Pasted<Ip>> {
  const first = parseIp(text)
  if (first.ok) return parsed({ value: first.value, taken: [] })
  if (text.length > MAX_TEXT && !first.ok) return first
  const { value, taken } = reduced(text, IP_STEPS, isIpAddress)
  const address = parseIp(value)
  if (address.ok) return parsed({ value: address.value, taken })
  const count = ipsIn(value).length
  if (count > 1) return problem(ipProblem('several', { count }))
  if (/^\d{1,4}(?:\.\d{1,4}){3}$/.test(value) && parseIp(value.replace(/(^|\.)0+(?=\d)/g, '$1')).ok)
    return problem(ipProblem('zeros', { text: value }))
  if (parseDomain(value).ok) return problem(ipProblem('name', { text: value }))
  const host = hostOf(value)
  return host === undefined || (address.problem.id === 'ip.network' && !value.includes('//'))
    ? problem(address.problem)
    : problem(ipProblem('url', { text: value, host }))
}

const isIpAddress = (text: string): boolean => parseIp(text).ok
const unported: Step = (text) => {
  const address = /^(\[[^\]]+\]|[\d.]+):\d{1,5}$|^([\da-f:.]+)#\d{1,5}$/i.exec(text)?.slice(1).find(Boolean)
  return address === undefined ? undefined : { value: address, taken: ['port'] }
}
const untagged: Step = (text) => {
  const address = /^[+~?-]?(?:ipv6|ip4|ip6|ip):(.+)$/i.exec(text)?.[1]
  return address === undefined ? undefined : { value: address, taken: ['label'] }
}

/** A network of one address (`192.0.2.1/32`), and digits of East Asian text. */
const single: Step = (text) => {
  const address =
    /^([^:]+)\/32$|^(.+:.+)\/128$/.exec(text)?.slice(1).find(Boolean) ?? (isAscii(text) ? text : text.normalize('NFKC'))
  return address === text ? undefined : { value: address, taken: ['punctuation'] }
}

/** `1.2.0.192.in-addr.arpa`, or the 32 digits of `ip6.arpa` (RFC 3596 §2.5). */
const unreversed: Step = (text) => {
  const [, v4, v6] =
    /^(\d+(?:\.\d+){3})\.in-addr\.arpa\.?$|^([\da-f](?:\.[\da-f]){31})\.ip6\.arpa\.?$/i.exec(text) ?? []
  const parts = (v4 ?? v6)?.split('.').reverse()
  if (!parts) return undefined
  return { value: v4 === undefined ? parts.join('').match(/.{4}/g)!.join(':') : parts.join('.'), taken: ['label'] }
}

/** The addresses among the words of a text; none where it or one of them is a network or a range. */
function ipsIn(text: string): readonly string[] {
  if (isNetworkOrRange(text)) return []
  const words = text.split(/[\s()[\]{}<>=,;|"']+/)
  const found = words.filter((word) => isIpAddress(word))
  return found.length > 0 && words.some((word) => !isIpAddress(word) && isNetworkOrRange(word)) ? [] : found
}

/** The one address of a line: `mail.example.org [192.0.2.1]`, `mail.example.org. 300 IN A 192.0.2.1`. */
const inText: Step = (text) => {
  if (/[\r\n]/.test(text)) return undefined
  const [address, ...others] = ipsIn(text)
  return address === undefined || address === text || others.length > 0
    ? undefined
    : { value: address, taken: ['text'] }
}

const IP_STEPS: readonly Step[] = [
  withoutBrackets,
  unlisted,
  unported,
  unpaired,
  untagged,
  single,
  unreversed,
  inText,
  unpunctuated,
  unnamed,
]

/** An IP address as {@link readIp} reads it, without what was taken away. */
export function parsePastedIp(text: string): Parsed<Ip> {
  const read = readIp(text)
  return read.ok ? parsed(read.value.value) : read
}

const SELECTOR = /^[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/
const isSelector = (text: string): boolean => SELECTOR.test(text.toLowerCase())

/**
 * A DKIM selector (RFC 6376 §3.1), in lower case: one or more labels, at most 120 characters, also as the name of its
 * record (`mail._domainkey.example.org`) or as the tag of a signature (`s=mail`).
 */
export function readSelector(text: string): Parsed<Pasted<string>> {
  if (text.length > MAX_TEXT) return problem(selectorProblem('invalid', { text }))
  const tag = /(?:^|;)\s{0,100}s\s{0,10}=\s{0,10}([^\s;=]+)\s*(?:;|$)/i.exec(text)?.[1]
  const { value, taken } = reduced(tag ?? text, NAME_STEPS, isSelector)
  const selector = (KEY_NAME.exec(value)?.[1] ?? value).toLowerCase()
  const several = value.split(/[\s,;|]+/).filter((word) => isSelector(word))
  if (several.length > 1 && !isSelector(selector)) return problem(selectorProblem('several', { count: several.length }))
  if (selector.length > 120 || !SELECTOR.test(selector)) return problem(selectorProblem('invalid', { text }))
  return parsed({
    value: selector,
    taken: selector.length === value.length && tag === undefined ? taken : [...taken, 'label'],
  })
}
