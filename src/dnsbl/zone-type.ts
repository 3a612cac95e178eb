import type { Family } from '../names/ip.ts'

/** How much a listing weighs: A receivers act on it, B useful, C niche, D policy or information (never evidence of spam). */
export type Tier = 'A' | 'B' | 'C' | 'D'
/** What a listing is about: the address, its neighbourhood, its whole network (AS), or the owner's own policy. */
export type Scope = 'ip' | 'range' | 'asn' | 'policy'

/** An answer of a list: `127.0.0.2`, a range of the last octet `127.0.0.4-7`, or a network `127.0.1.0/24`. All within 127.0.0.0/8 (RFC 5782 §2.1). */
export type CodePattern = string

/** What one answer of a list means. `tier` and `scope` stand where the code differs from its list (a policy code of Spamhaus). */
export type CodeRow = {
  readonly code: CodePattern
  readonly meaning: string
  readonly tier?: Tier
  readonly scope?: Scope
}

/** How many questions a list lets one user ask. */
export type Allowance = { readonly perSecond: number } | { readonly perDay: number }

export type KeyName = 'dqs' | 'spamrats'
/** The keys that an operator has: secrets, of one DNS label each. */
export type ListKeys = { readonly [K in KeyName]?: string }

/** One blacklist: a row of the set. */
export type List = {
  /** The name in every answer. */
  readonly name: string
  readonly zone: string
  /** The zone for IPv6 addresses, where it is another one. */
  readonly zoneV6?: string
  readonly tier: Tier
  /** Whether IPv6 addresses can be asked about; `unknown` is no until the self-test proves it. */
  readonly ipv6: 'yes' | 'no' | 'unknown'
  readonly scope: Scope
  /** Codes that are listings. */
  readonly codes: readonly CodeRow[]
  /** Codes that are known and are no listings. */
  readonly ignored: readonly CodeRow[]
  /** A code that is in neither table is an error of the list (otherwise a listing). */
  readonly strict: boolean
  readonly allowance: Allowance
  /** How the list departs from the test points of RFC 5782 §5. */
  readonly testPoint: {
    /** False: the list has entries for 127.0.0.1, so that the negative test asks for a random address of 127.0.0.0/8. */
    readonly negative: boolean
    /** Codes that its positive test point answers with, beside the listing codes. */
    readonly answers: readonly CodePattern[]
  }
  /** https, where an entry can be looked up or removed. */
  readonly delistUrl: string
  /** The zone asked when the operator has a key: `{key}` stands for it. */
  readonly keyForm?: { readonly key: KeyName; readonly zone: string }
  /** The day on which the row was seen to hold, asked live: `2026-01-31`; empty until someone has. */
  readonly verified: string
  readonly notes: string
}

/** A set of lists. Its length is {@link LIST_COUNT}: replace, never drop. */
export type ListSet = { readonly version: string; readonly lists: readonly List[] }

export const LIST_COUNT = 29

/** The zone of a list as it may be shown: without a key. */
export const zoneFor = (list: List, family: Family): string => (family === 6 ? (list.zoneV6 ?? list.zone) : list.zone)
