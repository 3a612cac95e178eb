import type { Problem } from '../../base/problem.ts'
import { unescaped } from '../../base/text.ts'
import { canonicalName, type Domain, parseDomain } from '../../names/domain.ts'
import { reportUriProblem } from './problems.ts'

/**
 * One destination of reports (RFC 9989 §4.8 dmarc-uri). With a `problem` it is not a syntactically valid reporting URI
 * and is not used.
 */
export type ReportUri = {
  /** The URI as written, without a size suffix. */
  readonly uri: string
  /** Lower case; "" if there is none. */
  readonly scheme: string
  /** The host that receives the reports: of the mailbox for `mailto:`, otherwise of the authority. */
  readonly host?: Domain
  /** The `!10m` of RFC 7489 §6.2, which RFC 9989 removed and reporters ignore (RFC 9989 Appendix C.4). */
  readonly size?: string
  readonly problem?: Problem
}

/** Maximum number of URIs read from one list. */
export const MAX_URIS = 50

/**
 * Reads a comma-separated list of report URIs (RFC 9989 §4.8 dmarc-urilist). Returns at most {@link MAX_URIS}, the
 * number that were written, and the number of commas beside an empty item, which receivers ignore.
 */
export function parseReportUris(value: string): {
  readonly uris: readonly ReportUri[]
  readonly written: number
  readonly empty: number
} {
  const items = value.split(',').map(trimmed)
  const filled = items.filter((item) => item !== '')
  const uris = (filled.length === 0 ? [''] : filled.slice(0, MAX_URIS)).map(parseReportUri)
  return { uris, written: Math.max(1, filled.length), empty: filled.length === 0 ? 0 : items.length - filled.length }
}

/** A recognizable address in a text that is not a URI. */
const ADDRESS = /(?<![^\s,;<(])[A-Za-z0-9._%+=&~-]{1,64}@[A-Za-z0-9.-]{1,253}[A-Za-z0-9]/g

/** A domain with other characters than those of a URI: the DNS has it in its ASCII form (RFC 5890 §2.3.2.1). */
const FOREIGN_HOST = /(?<=@)[^\s,;<>@!"'`\u2018-\u201f\u00ab\u00bb]{1,253}/g

/** The text with the domains of mail addresses as the DNS has them. */
export const withAsciiHosts = (text: string): string =>
  text.replace(FOREIGN_HOST, (host) => {
    const read = /[^\x20-\x7e]/.test(host) ? parseDomain(host) : undefined
    return read?.ok ? read.value : host
  })

/**
 * The addresses that the owner of an invalid URI evidently meant, as `mailto:` URIs (`r@a.example`,
 * `mailto://r@a.example`); empty if none can be recognized.
 */
export function mendedUris({ uri, scheme }: ReportUri): readonly ReportUri[] {
  if (scheme !== '' && scheme !== 'mailto') return []
  const addresses =
    uri
      .slice(0, 1_000)
      .replace(/(?<=^|[\s,;<])mail[ \t]?to[:;=/ \t]*/gi, ' ')
      .match(ADDRESS) ?? []
  return addresses.map((address) => parseReportUri(`mailto:${address}`)).filter((one) => one.problem === undefined)
}

export const formatReportUri = (uri: ReportUri): string => `${uri.uri}${uri.size ?? ''}`

/** Without the white space of RFC 5234 at its ends; a no-break space is part of the URI. */
const trimmed = (text: string): string => text.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')

const SIZE = /^[ \t]*\d{1,20}[ \t]*[kmgt]?$/i
const SCHEME = /^[a-z][a-z0-9+.-]{0,30}:/i
const URI_CHARACTERS = /^[A-Za-z0-9\-._~:/?#[\]@$&'()*+;=%]*$/
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i

function parseReportUri(text: string): ReportUri {
  const mark = text.lastIndexOf('!')
  // RFC 9989 §4.8: "!" must be encoded, so an unencoded one can only begin the size of RFC 7489 §6.2.
  const sized = mark >= 0 && SIZE.test(text.slice(mark + 1))
  const uri = trimmed(sized ? text.slice(0, mark) : text)
  const scheme = SCHEME.exec(uri)?.[0].slice(0, -1).toLowerCase() ?? ''
  const base = { uri, scheme, ...(sized ? { size: text.slice(mark).replace(/[ \t]+/g, '') } : {}) }
  const wrong = problemOf(uri, scheme)
  if (wrong !== undefined) return { ...base, problem: wrong }
  const host = scheme === 'mailto' ? mailboxHost(uri.slice(7)) : authorityHost(uri.slice(scheme.length + 1))
  if (host === undefined)
    return { ...base, problem: scheme === 'mailto' ? reportUriProblem('mailbox') : reportUriProblem('host') }
  return { ...base, host }
}

function problemOf(uri: string, scheme: string): Problem | undefined {
  if (uri === '') return reportUriProblem('empty')
  if (scheme === '') return uri.includes('@') ? reportUriProblem('no_mailto') : reportUriProblem('uri')
  if (uri.includes('!')) return reportUriProblem('exclamation')
  if (!URI_CHARACTERS.test(uri) || BROKEN_ESCAPE.test(uri)) return reportUriProblem('characters')
  return undefined
}

/** The domain of the mailbox of a `mailto:` (RFC 6068 §2): what follows the last "@", before any "?". */
function mailboxHost(rest: string): Domain | undefined {
  const address = unescaped(rest.split(/[?#]/, 1)[0]!)
  const at = address.lastIndexOf('@')
  return at > 0 && !address.startsWith('//') ? hostOf(address.slice(at + 1)) : undefined
}

/** The host of `//user@host:port/…` (RFC 3986 §3.2). */
function authorityHost(rest: string): Domain | undefined {
  if (!rest.startsWith('//')) return undefined
  const authority = rest.slice(2).split(/[/?#]/, 1)[0]!
  return hostOf(authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d{0,5}$/, ''))
}

function hostOf(text: string): Domain | undefined {
  const host = parseDomain(canonicalName(text))
  return host.ok ? host.value : undefined
}
