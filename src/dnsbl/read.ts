import { cidr, contains } from '../names/cidr.ts'
import type { Ip } from '../names/ip.ts'
import { type Answer, DnsError, type DnsReason } from '../net/dns/resolver.ts'
import { ANSWERS, type CodeRow, hasCode, type List, rowOf, type Scope, type Tier } from './zone-type.ts'

/** `listed` and `not_listed` are reliable answers; the others say why there is none. */
export type ListStatus = 'listed' | 'not_listed' | 'blocked' | 'timeout' | 'error' | 'unsupported'

/** The content of one answer of a list. `meaning` has one text for each of `codes`. */
export type Reading = {
  readonly status: ListStatus
  /** The A records of the answer, each once; at most 20. */
  readonly codes: readonly Ip[]
  readonly meaning: readonly string[]
  /** The worst tier of the codes that are listings; otherwise the tier of the list. */
  readonly tier: Tier
  readonly scope: Scope
  /** A stable word, if the status is neither `listed` nor `not_listed`. */
  readonly reason?: string
}

const REFUSALS = cidr('127.255.255.0/24')
const REFUSAL_WORDS: Readonly<Record<string, readonly [reason: string, meaning: string]>> = {
  '127.255.255.252': ['typing_error', 'the list reports that its name is misspelled'],
  '127.255.255.254': ['public_resolver', 'the list refuses queries from a public resolver'],
  '127.255.255.255': ['too_many_queries', 'the list reports too many queries'],
  '127.0.0.1': ['refused', 'the list refuses to answer'],
}

/**
 * Reads the answer to a query about an address, or the reason why there is none, by the seven rules of
 * docs/blacklists.md.
 */
export function readAnswer(list: List, answer: Answer<'A'> | DnsError): Reading {
  const nothing = { codes: [], meaning: [], tier: list.tier, scope: list.scope }
  if (answer instanceof DnsError) return { ...nothing, ...faultOf(answer.reason) }
  if (answer.kind !== 'found' || answer.records.length === 0) return { ...nothing, status: 'not_listed' }
  const codes = [...new Set(answer.records.slice(0, MAX_RECORDS))]
  const known = codes.map((code) => ({ code, listing: listingOf(list, code), ignored: rowOf(list.ignored, code) }))
  const told = { ...nothing, codes, meaning: known.map(meaningOf) }

  if (answer.records.length > MAX_RECORDS) return { ...told, status: 'error', reason: 'implausible' }
  // RFC 5782 §2.1
  if (codes.some((code) => !contains(ANSWERS, code))) return { ...told, status: 'error', reason: 'rewritten_or_parked' }
  const fault = (list.faults ?? []).find((row) => codes.some((code) => hasCode(row.code, code)))
  if (fault) return { ...told, meaning: [fault.meaning], status: 'error', reason: fault.reason }
  const refusal = known.find(isRefusal)
  if (refusal) return { ...told, status: 'blocked', reason: REFUSAL_WORDS[refusal.code]?.[0] ?? 'refused' }

  const listings = known.flatMap(({ listing }) => (listing ? [listing] : []))
  if (listings.length > 0) return { ...told, status: 'listed', ...weightOf(list, listings) }
  if (known.every(({ ignored }) => ignored)) return { ...told, status: 'not_listed' }
  return list.strict ? { ...told, status: 'error', reason: 'unknown_code' } : { ...told, status: 'listed' }
}

/**
 * The row of a code that is a listing; of a list with bits, one row for all bits that are set, with the worst tier of
 * them (RFC 5782 §2.3).
 */
function listingOf(list: List, code: Ip): CodeRow | undefined {
  if (!list.bits) return rowOf(list.codes, code)
  const octet = Number(code.slice(code.lastIndexOf('.') + 1))
  const set = code.startsWith('127.0.0.') && octet > 1 ? list.bits.filter(({ bit }) => (octet & bit) !== 0) : []
  const [first, ...others] = set.toSorted((a, b) => (a.tier ?? list.tier).localeCompare(b.tier ?? list.tier))
  if (!first) return undefined
  const { bit: _, ...row } = first
  return { ...row, code, meaning: [first, ...others].map(({ meaning }) => meaning).join('; ') }
}

/** Maximum number of A records in an answer; real lists return only a few. */
const MAX_RECORDS = 20

type Known = { readonly code: Ip; readonly listing: CodeRow | undefined; readonly ignored: CodeRow | undefined }

const isRefusal = ({ code, listing, ignored }: Known): boolean =>
  contains(REFUSALS, code) || (code === '127.0.0.1' && !listing && !ignored)

const meaningOf = (known: Known): string =>
  isRefusal(known)
    ? (REFUSAL_WORDS[known.code]?.[1] ?? 'the list refuses to answer')
    : ((known.listing ?? known.ignored)?.meaning ?? 'a code that the list does not describe')

/** The worst of the listings: an address on a policy list and on a spam list is on a spam list. */
function weightOf(list: List, listings: readonly CodeRow[]): { tier: Tier; scope: Scope } {
  const weights = listings.map((row) => ({ tier: row.tier ?? list.tier, scope: row.scope ?? list.scope }))
  return weights.reduce((worst, next) => (next.tier < worst.tier ? next : worst))
}

/** A query without an answer; never the same as "not listed". */
const faultOf = (reason: DnsReason): { readonly status: ListStatus; readonly reason: string } => ({
  status: reason === 'timeout' || reason === 'aborted' ? 'timeout' : reason === 'refused' ? 'blocked' : 'error',
  reason: reason === 'timeout' ? 'no_answer' : reason,
})
