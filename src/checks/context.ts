import type { MailHosts } from '../mailhosts/mailhosts.ts'
import type { Ip } from '../names/ip.ts'
import type { StarttlsFacts } from './tls-host.ts'

/** What a domain is used for (docs/score.md, "Roles"). */
export type Role =
  | 'no_such_domain'
  | 'sends_and_takes_mail'
  | 'takes_mail_only'
  | 'sends_only'
  | 'parked'
  | 'web_name_only'

/** The checks that the score is made of. */
export type ScoredCheck = 'spf' | 'dkim' | 'dmarc' | 'mx' | 'ptr'

/** Senders that cannot deliver to some or all of the mail hosts: those that apply MTA-STS, those that apply DANE, and those without IPv6. */
export type Barrier = {
  readonly kind: 'mta_sts' | 'dane' | 'ipv6_only'
  /** The finding that tells of it. */
  readonly finding: string
  readonly hosts: readonly string[]
  /** They can deliver to none of the hosts that have an address. */
  readonly all: boolean
}

/** A role that the domain may have, with what follows from it. */
export type OtherRole = { readonly role: Role; readonly noMail?: string }

/** What the facts of all checks together say of the domain. Computed once (domain-context.ts) and handed to every judge. */
export type DomainContext = {
  readonly role: Role
  /** The records that decide the role, in words for the reader. */
  readonly because: string
  /** The roles that the domain may have instead, because SPF, MX or DMARC got no answer; empty where the role is certain. */
  readonly otherRoles: readonly OtherRole[]
  /** Whether SPF lets anybody send as this domain; null: no usable record, or not known. */
  readonly sends: boolean | null
  /** Whether the domain takes mail: false for a null MX, for neither MX nor address, and for an address alone beside an SPF that passes nobody; null: not known. */
  readonly takes: boolean | null
  /** Why mail to the domain goes nowhere, to stand behind its name; absent where it goes somewhere, and where that is not known. */
  readonly noMail?: string
  /** The mail hosts; absent: not known, and why. */
  readonly mail?: MailHosts
  readonly mailError?: string
  /** The PTR names of the mail hosts' addresses, as far as they are known. */
  readonly names: Readonly<Record<string, readonly string[]>>
  /** Addresses of the mail hosts that SPF passes. */
  readonly sendingHosts: readonly Ip[]
  /** The TLS of the mail hosts; absent: not looked at, or the mail hosts are not known. */
  readonly tls?: StarttlsFacts
  /** Which senders cannot deliver; empty where mail arrives, and where that is not known. */
  readonly barriers: readonly Barrier[]
  /** Whether senders that apply MTA-STS can deliver could not be determined: the record or the policy got no answer. */
  readonly isStsOpen: boolean
}

/** The scored checks that a role does not need. */
const LEFT_OUT: Readonly<Record<Role, readonly ScoredCheck[]>> = {
  no_such_domain: ['spf', 'dkim', 'dmarc', 'ptr'], // one finding says it, that of MX
  sends_and_takes_mail: [],
  takes_mail_only: ['dkim', 'ptr'],
  sends_only: ['mx'],
  parked: ['dkim', 'mx', 'ptr'],
  web_name_only: ['dkim', 'mx', 'ptr'],
}

/** Whether a scored check applies to a domain in this role. */
export const applies = (check: ScoredCheck, { role }: Pick<DomainContext, 'role'>): boolean =>
  !LEFT_OUT[role].includes(check)

/** The role in words: "The domain is …". */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  no_such_domain: 'a name that does not exist',
  sends_and_takes_mail: 'a domain that sends and accepts mail',
  takes_mail_only: 'a domain that only accepts mail',
  sends_only: 'a domain that only sends mail',
  parked: 'a domain without mail (parked)',
  web_name_only: 'a name without mail of its own',
}

/** Nothing is known of the other checks: the domain is judged as one that sends and takes mail. */
export const UNKNOWN_CONTEXT: DomainContext = {
  role: 'sends_and_takes_mail',
  because: 'no record indicates another use',
  otherRoles: [],
  sends: null,
  takes: null,
  names: {},
  sendingHosts: [],
  barriers: [],
  isStsOpen: false,
}
