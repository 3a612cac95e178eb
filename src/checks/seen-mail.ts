import type { Ip } from '../names/ip.ts'

/** The addresses of an SPF record. */
export type SpfReach = {
  /** Null: that depends on the message or on an unknown part. */
  readonly passes: (address: Ip) => boolean | null
  /** A term other than `all` has the address by itself, also beyond the tenth lookup. */
  readonly names: (address: Ip) => boolean
  /** Everybody passes. */
  readonly everybody: boolean
}

/** A DMARC policy with the records beside it. */
export type TriedPolicy = {
  readonly policy: 'quarantine' | 'reject'
  readonly adkim: 'r' | 's'
  readonly aspf: 'r' | 's'
  /** Who passes the SPF record of the domain; absent: not known. */
  readonly passes?: SpfReach['passes']
}

/** What reports say about the mail of a domain. Both functions answer at once. */
export type SeenMail = {
  /** Names below the domain as which mail passes, those with the most first; at most 1,000. */
  readonly subdomains: readonly string[]
  /**
   * The domain's own senders of which the reports show an address that `before` has and `after` has not, in words;
   * undefined: none.
   */
  readonly lostBySpf: (before: SpfReach, after: SpfReach) => string | undefined
  readonly stepUp: (tried: TriedPolicy) => SeenStepUp
}

/** What a stricter policy would have done to the mail that was seen. */
export type SeenStepUp = {
  /** It would have hit more mail of the domain's own senders than may be. */
  readonly isBlocked: boolean
  readonly words: string
  /** Days with reports on which this rests, of the last 28. */
  readonly days: number
}
