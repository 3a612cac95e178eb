import { keysOf } from '../base/json.ts'
import type { Problem } from '../base/problem.ts'
import type { MailHosts } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import type { TlsInfo } from '../net/smtp/dial.ts'
import type { Provider } from '../providers/index.ts'
import { roleProblem } from './problems.ts'

export { ROLE_WORDS } from './problems.ts'

/** What a domain is used for (docs/score.md, "Roles"). */
export type Role =
  | 'no_such_domain'
  | 'sends_and_accepts_mail'
  | 'accepts_mail_only'
  | 'sends_only'
  | 'parked'
  | 'no_mail'
  | 'return_path'

/** The checks that the score consists of. */
type ScoredCheck = 'spf' | 'dkim' | 'dmarc' | 'mx' | 'ptr'

/**
 * Senders that cannot deliver to some or all of the mail hosts: those that apply MTA-STS, those that apply DANE, and
 * those without IPv6.
 */
export type Barrier = {
  readonly kind: 'mta_sts' | 'dane' | 'ipv6_only'
  readonly finding: string
  readonly hosts: readonly string[]
  /** They cannot deliver to any host that has an address. */
  readonly all: boolean
}

/** A barrier that may exist, or concern more hosts than are known. */
export type OpenBarrier = 'refusal' | 'ipv6_only'

/** A possible role of the domain, with its consequences. */
export type OtherRole = { readonly role: Role; readonly noMail?: Problem }

/** `absent`: proven, or none that can be used; `isOpen`: an answer is missing. */
export type Mailboxes = {
  readonly provider: Provider
  readonly key: 'usable' | 'absent' | 'unknown'
  readonly isOpen: boolean
}

/**
 * What the facts of all checks together show about the domain. Computed once (domain-context.ts) and passed to every
 * judge.
 */
export type DomainContext = {
  readonly role: Role
  /** The records that decide the role. */
  readonly because: Problem
  /** The name is one of a reverse zone: it names addresses, and nothing about mail applies to it. */
  readonly reverse?: true
  /** The registrable domain above the name; absent: it is one itself, or a public suffix. */
  readonly above?: string
  /** Other possible roles, because SPF, MX or DMARC has no answer; empty if the role is certain. */
  readonly otherRoles: readonly OtherRole[]
  /** Whether SPF lets anybody send as this domain; null: no usable record, or not known. */
  readonly sends: boolean | null
  /**
   * An answer about SPF is missing, so that others may send than is known: any, or only the mail hosts. Absent: all are
   * known.
   */
  readonly sendersOpen?: 'any' | 'mail_hosts'
  /**
   * Whether mail to the domain arrives: false for a null MX, for neither MX nor address, for only an address with an
   * SPF record that passes nobody, and if no MX host has a public address; null: not known.
   */
  readonly takes: boolean | null
  /** False: none of the domain's own mail can pass DMARC, because SPF lets nobody pass and DKIM is proven absent. */
  readonly canPass: boolean
  /** Nothing is sent as the name, also not by a service that signs with a key of it. */
  readonly silent: boolean
  /** The organizational domain whose DKIM keys align for the name too (`adkim=r`); null: not known; absent: none. */
  readonly relaxedAt?: string | null
  /** Whether receivers apply a DMARC policy of quarantine or reject to the domain; null: not known. */
  readonly enforces: boolean | null
  /** Whether the zone of the domain is signed; null: not known. */
  readonly signed: boolean | null
  /** Why mail to the domain has no destination of its own; absent if it has one, and if that is not known. */
  readonly noMail?: Problem
  /** The provider of all MX hosts that work, if it hosts mailboxes, and its DKIM key of the domain. */
  readonly mailboxes?: Mailboxes
  /** The mail hosts; absent: not known, with the reason. */
  readonly mail?: MailHosts
  readonly mailError?: Problem
  readonly names: Readonly<Record<string, readonly string[]>>
  /** Addresses of the mail hosts that SPF passes. */
  readonly sendingHosts: readonly Ip[]
  /** The TLS of the mail hosts; absent: not checked, or the mail hosts are not known. */
  readonly tls?: StarttlsFacts
  /** Which senders cannot deliver; empty if mail arrives, and if that is not known. */
  readonly barriers: readonly Barrier[]
  /** Which senders may be unable to deliver: an answer about MTA-STS, DANE or the addresses of a host is missing. */
  readonly openBarriers: readonly OpenBarrier[]
}

export const CONTEXT_FIELDS = keysOf<keyof DomainContext>({
  role: true,
  because: true,
  reverse: true,
  above: true,
  otherRoles: true,
  sends: true,
  sendersOpen: true,
  takes: true,
  canPass: true,
  silent: true,
  relaxedAt: true,
  enforces: true,
  signed: true,
  noMail: true,
  mailboxes: true,
  mail: true,
  mailError: true,
  names: true,
  sendingHosts: true,
  tls: true,
  barriers: true,
  openBarriers: true,
} satisfies Record<keyof DomainContext, true>)

/** The scored checks that a role does not need. */
const LEFT_OUT: Readonly<Record<Role, readonly ScoredCheck[]>> = {
  no_such_domain: ['spf', 'dkim', 'dmarc', 'ptr'], // one finding reports it, that of MX
  sends_and_accepts_mail: [],
  accepts_mail_only: ['dkim', 'ptr'],
  sends_only: ['mx'],
  parked: ['dkim', 'mx', 'ptr'],
  no_mail: ['dkim', 'mx', 'ptr'],
  return_path: ['dkim', 'ptr'],
}

export const applies = (check: ScoredCheck, { role, reverse }: Pick<DomainContext, 'role' | 'reverse'>): boolean =>
  !reverse && !LEFT_OUT[role].includes(check)

/** The key of a certificate: `bits` of the modulus for RSA, of the curve for EC. */
export type CertificateKey = { readonly type: 'rsa' | 'ec' | 'other'; readonly bits: number | null }

/** Nothing is known about the other checks: the domain is judged as one that sends and accepts mail. */
export const UNKNOWN_CONTEXT: DomainContext = {
  role: 'sends_and_accepts_mail',
  because: roleProblem('no_other_use'),
  otherRoles: [],
  sends: null,
  takes: null,
  canPass: true,
  silent: false,
  enforces: null,
  signed: null,
  names: {},
  sendingHosts: [],
  barriers: [],
  openBarriers: [],
}

export type TlsHost = {
  readonly host: string
  readonly preference: number
  /** Absent: it has no address that could be used. */
  readonly address?: Ip
  /** It announced STARTTLS; null: the host did not answer. */
  readonly offered: boolean | null
  /** Whether TLS works is not known: the time ran out, or the host deferred. */
  readonly open?: true
  /** The result of the handshake; absent if there was none. */
  readonly tls?: TlsInfo
  /** The key of its certificate; absent: there is none that can be parsed. */
  readonly key?: CertificateKey
  /** The best outdated TLS version that the host accepts (`TLSv1.1`, `TLSv1`); absent: none, or not known. */
  readonly outdated?: string
  /** Why it is not known whether the host accepts outdated TLS versions. */
  readonly outdatedReason?: Problem
  /** The names in its banner and in its reply to EHLO; absent if there is none. */
  readonly bannerName?: string
  readonly ehloName?: string
  /** When it was contacted, if that was for another domain, too; ms since the epoch. */
  readonly seenAtMs?: number
  /** Why there was no TLS although it was announced, or why the host did not answer. */
  readonly reason?: Problem
}

/** The TLS of all mail hosts that were contacted. */
export type StarttlsFacts = {
  readonly domain: Domain
  readonly mail: MailHosts['kind']
  readonly hosts: readonly TlsHost[]
  /** Number of hosts beyond the first 10. */
  readonly leftOut: number
  /** When the hosts were contacted, ms since the epoch. */
  readonly nowMs: number
}
