import type { MailHosts } from '../mailhosts/mailhosts.ts'
import type { StarttlsFacts } from './tls-host.ts'

/** What a domain is used for; the checks apply what its role needs (docs/score.md). */
export type Role =
  | 'no_such_domain'
  | 'sends_and_takes_mail'
  | 'takes_mail_only'
  | 'sends_only'
  | 'parked'
  | 'web_name_only'

/** What the facts of all checks together say of the domain. Computed once (domain-context.ts) and handed to every judge. */
export type DomainContext = {
  readonly role: Role
  /** The records that decide the role, in words for the reader. */
  readonly because: string
  /** Whether SPF lets anybody send as this domain; null: no usable record, or not known. */
  readonly sends: boolean | null
  /** Whether the domain takes mail: false for a null MX, for neither MX nor address, and for an address alone beside an SPF that passes nobody; null: not known. */
  readonly takes: boolean | null
  /** The mail hosts; absent: not known. */
  readonly mail?: MailHosts
  /** The TLS of the mail hosts; absent: not looked at, or the mail hosts are not known. */
  readonly tls?: StarttlsFacts
}

/** Nothing is known of the other checks: the domain is judged as one that sends and takes mail. */
export const UNKNOWN_CONTEXT: DomainContext = {
  role: 'sends_and_takes_mail',
  because: 'nothing says otherwise',
  sends: null,
  takes: null,
}
