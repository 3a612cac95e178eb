import type { Problem } from '../base/problem.ts'
import type { MailHosts } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import type { TlsInfo } from '../net/smtp/dial.ts'

/** The TLS of a mail host. */
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
  /** The best outdated TLS version that the host accepts (`TLSv1.1`, `TLSv1`); absent: none, or not known. */
  readonly outdated?: string
  /** The names in its banner and in its reply to EHLO; absent if there is none. */
  readonly bannerName?: string
  readonly ehloName?: string
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
