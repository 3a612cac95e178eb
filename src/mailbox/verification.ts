import type { Ip } from '../names/ip.ts'
import type { ProxyName, SourceName } from '../names/source.ts'
import type { TlsInfo } from '../net/smtp/dial.ts'
import type { Stage } from '../net/smtp/reply.ts'
import type { TranscriptLine } from '../net/smtp/transcript.ts'
import type { Deliverability, Reason, Result } from './reasons.ts'

export type VerifyInput = {
  /** As the caller wrote it; it is parsed here. */
  readonly email: string
  /** The source address, an address of this machine; without `pool` it is the only one. */
  readonly bindIp?: Ip
  /** Use the pool of source addresses, with failover. */
  readonly pool?: boolean
  /** Nodes of the pool are not used, because the question came from a node. */
  readonly withoutNodes?: boolean
  /** 1,000 to 300,000; bounds everything. Default 30,000. */
  readonly timeoutMs?: number
  /** Maximum age of a cached answer, ms; 0 requires a new one. Default 600,000. */
  readonly maxAgeMs?: number
  /** In place of 25; for tests that the operator allowed. */
  readonly port?: number
  /** Part of a list: sessions stay open for a short time and are reused for the next address. */
  readonly reuse?: boolean
  /** Called with the known result, several times a second while mail hosts are asked. */
  readonly onProgress?: (soFar: MailboxAnswer) => void
  readonly disposable?: boolean
  readonly free?: boolean
  readonly role?: boolean
  readonly suggestion?: boolean
}

/** One attempt at one address of one mail host. */
export type Attempt = {
  /** Undefined if there was no connection and the system chose the source. */
  readonly ipUsed: Ip | undefined
  readonly mxServer: string
  readonly address: Ip
  readonly stage: Stage
  /** 0 without a reply. */
  readonly code: number
  readonly enhancedCode?: string
  /** At most 512 printable characters. */
  readonly message: string
  readonly reason: Reason
  readonly durationMs: number
  /** The proxy that made the connection. */
  readonly proxy?: ProxyName
  /** The node that made the attempt, if it was not this one. */
  readonly peer?: string
}

/** The additional data that the caller requested. A flag that is off leaves its field empty and is not in `checked`. */
export type SideData = {
  readonly disposable: boolean
  readonly free: boolean
  readonly isRole: boolean
  readonly role: string
  readonly suggestion: string
  readonly checked: readonly ('disposable' | 'free' | 'role' | 'suggestion')[]
}

/** The result from the mail servers. */
export type MailboxAnswer = {
  /** The address, parsed and formatted. */
  readonly email: string
  readonly result: Result
  readonly reason: Reason
  readonly deliverability: Deliverability
  /** 0 to 100: how certain the deliverability is (docs/verification.md). */
  readonly confidence: number
  /** 0 without a reply. */
  readonly code: number
  readonly enhancedCode?: string
  readonly message: string
  /** "" without a reply. */
  readonly mxServer: string
  readonly ipUsed: Ip | ''
  /** The source of the decisive session; undefined: the system's choice, or there was no session. */
  readonly usedSource?: SourceName | undefined
  /** The node that gave the result, if it was not this one. */
  readonly peer?: string
  /** Whether a made-up mailbox is accepted too; null: not asked, or the reply leaves it unknown. */
  readonly catchAll: boolean | null
  /** The address needs SMTPUTF8 (RFC 6531). */
  readonly smtputf8: boolean
  /** Whether the decisive session used TLS; null if there was none. */
  readonly starttls: boolean | null
  readonly tls?: TlsInfo
  readonly provider?: string
  /** Hosts that the domain names, in MX order. */
  readonly mxHosts: readonly string[]
  /** Hosts that were tried, in order. */
  readonly mxTried: readonly string[]
  readonly attempts: readonly Attempt[]
  /**
   * Source addresses of the pool that were not used toward this provider, with the reasons; at most 20. Undefined is
   * the system's choice.
   */
  readonly skippedSources: readonly { readonly address: SourceName | undefined; readonly why: string }[]
  readonly retryAfterMs?: number
  readonly transcript: readonly TranscriptLine[]
  readonly observedAtMs: number
}

export type Verification = MailboxAnswer & {
  readonly side: SideData
  readonly durationMs: number
  /** From the cache. */
  readonly cached: boolean
}
