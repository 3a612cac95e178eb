import type { Ip } from '../names/ip.ts'

/**
 * One `record` of a DMARC aggregate report (RFC 7489 appendix C, RFC 9990 §3.1). Texts are trimmed; names and results
 * are in lower case.
 */
export type DmarcRow = {
  readonly address: Ip
  /** Number of messages; 1 or more. */
  readonly count: number
  /** What the receiver did: `none`, `quarantine`, `reject`, `pass` (RFC 9990), or what it wrote. */
  readonly disposition: string
  /** The receiver's result with alignment; null if the report has none. */
  readonly dkimAligned: boolean | null
  readonly spfAligned: boolean | null
  /** Types of the policy overrides: `forwarded`, `mailing_list`, `local_policy` … */
  readonly reasons: readonly string[]
  readonly headerFrom: string
  readonly envelopeFrom: string
  readonly dkim: readonly DkimResult[]
  readonly spf: readonly SpfResult[]
}
export type DkimResult = { readonly domain: string; readonly selector: string; readonly result: string }
export type SpfResult = { readonly domain: string; readonly scope: string; readonly result: string }

/** A DMARC aggregate report without its records. */
export type DmarcHead = {
  /** Null: the element is missing; a missing one is never guessed. */
  readonly organization: string | null
  readonly email: string | null
  readonly reportId: string | null
  readonly domain: string | null
  /** Unix seconds. */
  readonly begin: number
  readonly end: number
  /** The elements of `policy_published` but its domain, as written. */
  readonly policy: Readonly<Record<string, string>>
  /** Records of any content. */
  readonly records: number
  readonly messages: number
}

/** A TLS report (RFC 8460 §4). */
export type TlsReport = {
  readonly organization: string | null
  readonly contact: string | null
  readonly reportId: string | null
  readonly begin: number
  readonly end: number
  readonly policies: readonly TlsPolicy[]
}
export type TlsPolicy = {
  /** In lower case; null if the report does not name it. */
  readonly domain: string | null
  readonly type: string
  /** Sessions; null if the report has no number. */
  readonly successful: number | null
  readonly failed: number | null
  readonly failures: readonly TlsFailure[]
}
export type TlsFailure = {
  readonly type: string
  readonly host: string | null
  readonly sessions: number | null
}

/** The largest count of a record or session total that is believed. */
export const MAX_COUNT = 1_000_000_000_000
