import { isIP } from 'node:net'
import { parseDomain } from '../names/domain.ts'
import { formatEmail, parseEmail } from '../names/email.ts'
import { isNetworkOrRange, parseIp } from '../names/ip.ts'
import { ipProblem } from '../names/problems.ts'

/** How a text in the search field is interpreted, and the value for its page. `words` describes it. */
export type Classified =
  | { readonly kind: 'domain'; readonly value: string; readonly words: string }
  | { readonly kind: 'address'; readonly value: string; readonly words: string }
  | { readonly kind: 'ip'; readonly value: string; readonly words: string }
  | { readonly kind: 'list'; readonly rows: readonly string[]; readonly words: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown'; readonly problem: string }

/** Maximum number of characters read from the search box. */
const MAX = 4_096

/**
 * A typed or pasted text: a domain, a mail address (also in a `From:` line or with a display name), an IP address (also
 * with a port or in brackets), a URL (its host), or several lines (a list). Never throws.
 */
export function classify(text: string): Classified {
  const lines = text
    .slice(0, MAX)
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const [first] = lines
  if (first === undefined) return { kind: 'nothing' }
  const one = classifyLine(unfolded(lines))
  if (one.kind !== 'unknown') return one
  const rows = lines.length > 1 ? lines : severalIn(first)
  return rows.length > 1 ? { kind: 'list', rows, words: `a list of ${rows.length} rows` } : one
}

/** The values of one line, where each of them is a domain or an address; otherwise none. */
function severalIn(line: string): readonly string[] {
  const words = line.split(/[\s,;]+/).filter((word) => word !== '')
  const isOne = (word: string): boolean => /[.:]/.test(word) && classifyLine(word).kind !== 'unknown'
  return words.length > 1 && words.every(isOne) ? words : []
}

/** A header field may be folded over lines (RFC 5322 §2.2.3). */
const unfolded = (lines: readonly string[]): string =>
  lines.length === 1 || FIELD.test(lines[0] ?? '') ? lines.join(' ') : lines.join('\n')

const FIELD = /^(?:from|to|cc|reply-to|sender|return-path|errors-to|mailto):/i

function classifyLine(line: string): Classified {
  const isField = FIELD.test(line)
  const bare = line.replace(FIELD, '').trim()
  const address = addressIn(isField ? bare.replace(/\?.*$/, '') : bare)
  if (address !== undefined) {
    const email = parseEmail(address)
    if (!email.ok) return { kind: 'unknown', problem: email.problem.text }
    const value = formatEmail(email.value)
    return { kind: 'address', value, words: value === line ? 'a mail address' : `the mail address ${value}` }
  }
  return classifyHost(bare, line)
}

/** The address in `"Joe" <joe@example.org>`, `joe@example.org (Joe)` or a plain one; undefined if there is none. */
function addressIn(text: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return undefined
  const bracketed = /<([^<>]*@[^<>]*)>/.exec(text)?.[1]
  if (bracketed !== undefined) return bracketed.trim()
  const plain = text
    .replace(/\s*\([^()]*\)$/, '')
    .replace(/[;,.]+$/, '')
    .trim()
  return plain.includes('@') ? plain : undefined
}

function classifyHost(text: string, typed: string): Classified {
  if (isNetworkOrRange(text)) return { kind: 'unknown', problem: ipProblem('network', { text }).text }
  const host = hostIn(text)
  const ip = parseIp(host)
  if (ip.ok)
    return { kind: 'ip', value: ip.value, words: host === typed ? 'an IP address' : `the IP address ${ip.value}` }
  const domain = parseDomain(host)
  if (!domain.ok) return { kind: 'unknown', problem: domain.problem.text }
  return { kind: 'domain', value: domain.value, words: host === typed ? 'a domain' : `the domain ${domain.value}` }
}

/**
 * The host of a URL, of `host:port`, `[2001:db8::1]:25` or `//host/path`; otherwise the text without final dots and
 * commas.
 */
function hostIn(text: string): string {
  const url = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#\s]*)/i.exec(text)?.[1]
  const authority = (url ?? text.split(/[/?#]/)[0] ?? '').replace(/^[^@]*@/, '').replace(/[,;]+$/, '')
  const literal = /^\[([^\]]+)\](?::\d{0,5})?$/.exec(authority)?.[1]
  if (literal !== undefined) return literal
  return isIP(authority) === 6 ? authority : authority.replace(/:\d{0,5}$/, '')
}
