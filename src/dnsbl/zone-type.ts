import { type Parsed, parsed, problem } from '../base/problem.ts'
import { cidr, contains, parseCidr } from '../names/cidr.ts'
import type { Domain } from '../names/domain.ts'
import type { Family, Ip } from '../names/ip.ts'
import { listFileProblem } from './problems.ts'

/** What is looked up: an address on lists of addresses, a name on lists of domains. */
export type Subject = Ip | Domain

/**
 * The importance of a listing: A receivers act on it, B useful, C niche, D policy or information (never evidence of
 * spam).
 */
export type Tier = 'A' | 'B' | 'C' | 'D'
/** The subject of a listing: the address, its neighbourhood, its whole network (AS), or the owner's own policy. */
export type Scope = 'ip' | 'range' | 'asn' | 'policy' | 'domain'

/**
 * An answer of a list: `127.0.0.2`, a range of the last octet `127.0.0.4-7`, or a network `127.0.1.0/24`. All within
 * 127.0.0.0/8 (RFC 5782 §2.1).
 */
type CodePattern = string

/**
 * The meaning of one answer of a list. `tier` and `scope` are present if they differ from those of the list (a policy
 * code of Spamhaus).
 */
export type CodeRow = {
  readonly code: CodePattern
  readonly meaning: string
  readonly tier?: Tier
  readonly scope?: Scope
}

/** The meaning of one bit of the last octet of an answer, of lists that join several (RFC 5782 §2.3). */
export type BitRow = Omit<CodeRow, 'code'> & { readonly bit: number }

/** The number of queries that a list permits one user. */
export type Allowance = { readonly perSecond: number } | { readonly perDay: number }

type KeyName = 'dqs' | 'spamrats'
/** The operator's keys: secrets, each one DNS label. */
export type ListKeys = { readonly [K in KeyName]?: string }

/** One blacklist: a row of the set. */
export type List = {
  /** The name in every answer. */
  readonly name: string
  readonly zone: string
  /** The zone for IPv6 addresses, if it is another one. */
  readonly zoneV6?: string
  readonly tier: Tier
  /** Whether IPv6 addresses are supported; `unknown` counts as no until the self-test proves it. */
  readonly ipv6: 'yes' | 'no' | 'unknown'
  readonly scope: Scope
  readonly codes: readonly CodeRow[]
  /** Known codes that are not listings. */
  readonly ignored: readonly CodeRow[]
  /** A code in neither table is an error of the list (otherwise a listing). */
  readonly strict: boolean
  readonly allowance: Allowance
  /** How the list differs from the test points of RFC 5782 §5. */
  readonly testPoint: {
    /** False: the list has entries for 127.0.0.1, so the negative test uses a random address of 127.0.0.0/8. */
    readonly negative: boolean
    /** Codes of its positive test point, in addition to the listing codes. */
    readonly answers: readonly CodePattern[]
    /** The names that a list of domains must and must not contain. */
    readonly names?: { readonly positive: string; readonly negative: string }
  }
  /**
   * A list of domains: whether it is asked about the name itself or about its registrable domain. Undefined: a list of
   * addresses.
   */
  readonly names?: 'exact' | 'registrable'
  /** In place of `codes`: each answer is a set of bits. */
  readonly bits?: readonly BitRow[]
  /** Answers that are neither listings nor refusals. */
  readonly faults?: readonly { readonly code: CodePattern; readonly reason: string; readonly meaning: string }[]
  /** The operator's page, and the day on which the row was compared with it; empty until then. */
  readonly source?: { readonly page: string; readonly seen: string }
  /** https, where people can look up or remove an entry. */
  readonly delistUrl: string
  /** The queried zone if the operator has a key: `{key}` stands for it. */
  readonly keyForm?: { readonly key: KeyName; readonly zone: string }
  /** The day on which live queries confirmed the row: `2026-01-31`; empty until then. */
  readonly verified: string
  readonly notes: string
}

/** A set of lists. Its length is {@link LIST_COUNT}: replace rows, never remove one. */
export type ListSet = { readonly version: string; readonly lists: readonly List[] }

export const LIST_COUNT = 29

/** The zone of a list for display: without a key. */
export const zoneFor = (list: List, family: Family): string => (family === 6 ? (list.zoneV6 ?? list.zone) : list.zone)

/** Every answer of a list is in this network; any other address is not an answer of a list (RFC 5782 §2.1). */
export const ANSWERS = cidr('127.0.0.0/8')

const LAST_OCTETS = /^(127\.\d{1,3}\.\d{1,3})\.(\d{1,3})-(\d{1,3})$/

/** Reads the text of a {@link CodePattern}; refuses addresses outside 127.0.0.0/8. */
export function parseCodePattern(text: string): Parsed<CodePattern> {
  const range = LAST_OCTETS.exec(text)
  const [first, last] = range ? [Number(range[2]), Number(range[3])] : [0, 0]
  if (range && (first > last || last > 255)) return problem(listFileProblem('code_range', { text }))
  const network = parseCidr(range ? `${range[1]}.${range[2]}` : text)
  if (!network.ok || network.value.prefix < 8 || !contains(ANSWERS, network.value.base))
    return problem(listFileProblem('code', { text }))
  return parsed(text)
}

/** Whether an answer is one of a pattern's codes. */
export function hasCode(pattern: CodePattern, code: Ip): boolean {
  const range = LAST_OCTETS.exec(pattern)
  if (!range) return pattern.includes('/') ? contains(cidr(pattern), code) : pattern === code
  const dot = code.lastIndexOf('.')
  const last = Number(code.slice(dot + 1))
  return code.slice(0, dot) === range[1] && last >= Number(range[2]) && last <= Number(range[3])
}

/** The row of a table that describes `code`. */
export const rowOf = (rows: readonly CodeRow[], code: Ip): CodeRow | undefined =>
  rows.find((row) => hasCode(row.code, code))
