import type { MailHosts } from '../mailhosts/mailhosts.ts'
import type { Domain } from '../names/domain.ts'
import type { Ip } from '../names/ip.ts'
import type { TlsInfo } from '../net/smtp/dial.ts'

/** What a mail host showed of TLS. */
export type TlsHost = {
  readonly host: string
  readonly preference: number
  /** Absent: it has none that could be connected to. */
  readonly address?: Ip
  /** It announced STARTTLS; null: the host did not answer. */
  readonly offered: boolean | null
  /** Whether TLS works is not known: time ran out, or the host asked to wait. */
  readonly open?: true
  /** The result of the handshake; absent where there was none. */
  readonly tls?: TlsInfo
  /** The best outdated TLS version that the host accepts (`TLSv1.1`, `TLSv1`); absent: none, or not known. */
  readonly outdated?: string
  /** The names by which it greets, in its banner and in its reply to EHLO; absent where it says none. */
  readonly bannerName?: string
  readonly ehloName?: string
  /** Why there was no TLS although it was announced, or why the host did not answer. */
  readonly reason?: string
}

/** The TLS of all mail hosts, as far as they were connected to. */
export type StarttlsFacts = {
  readonly domain: Domain
  readonly mail: MailHosts['kind']
  readonly hosts: readonly TlsHost[]
  /** Hosts beyond the 10. */
  readonly leftOut: number
  /** When the hosts were connected to, ms since the epoch. */
  readonly nowMs: number
}
