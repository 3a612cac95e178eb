import type { Ip } from '../names/ip.ts'
import type { ProxyName, SourceName } from '../names/source.ts'
import type { TlsInfo } from '../net/smtp/dial.ts'
import type { Stage } from '../net/smtp/reply.ts'
import type { TranscriptLine } from '../net/smtp/transcript.ts'
import type { Deliverability, Reason, Result } from './reasons.ts'

/** What is asked. */
export type VerifyInput = {
  /** As the caller wrote it: it is parsed here. */
  readonly email: string
  /** An address of this machine to ask from; without `pool` it is the only one. */
  readonly bindIp?: Ip
  /** Use the pool of source addresses, with failover. */
  readonly pool?: boolean
  /** Nodes of the pool are not asked: the question came from one. */
  readonly withoutNodes?: boolean
  /** 1,000 to 300,000; bounds everything. Default 30,000. */
  readonly timeoutMs?: number
  /** How old a remembered answer may be, ms; 0 asks anew. Default 600,000. */
  readonly maxAgeMs?: number
  /** Instead of 25; for tests that the operator allowed. */
  readonly port?: number
  /** Part of a list: sessions stay open for a moment and are reused for the next address there. */
  readonly reuse?: boolean
  /** Told of what is known so far, several times a second while mail hosts are asked. */
  readonly onProgress?: (soFar: MailboxAnswer) => void
  readonly disposable?: boolean
  readonly free?: boolean
  readonly role?: boolean
  readonly suggestion?: boolean
}

/** One attempt at one address of one mail host. */
export type Attempt = {
  /** Undefined where no connection came about and the system chose the source. */
  readonly ipUsed: Ip | undefined
  readonly mxServer: string
  readonly address: Ip
  readonly stage: Stage
  /** 0 where no reply came. */
  readonly code: number
  readonly enhancedCode?: string
  /** At most 512 printable characters. */
  readonly message: string
  readonly reason: Reason
  readonly durationMs: number
  /** The proxy that it was made by. */
  readonly proxy?: ProxyName
  /** The node that made it, where it was not this one. */
  readonly peer?: string
}

/** What else the caller asked for. A flag that is off leaves its field empty and is not in `checked`. */
export type SideData = {
  readonly disposable: boolean
  readonly free: boolean
  readonly isRole: boolean
  readonly role: string
  readonly suggestion: string
  readonly checked: readonly ('disposable' | 'free' | 'role' | 'suggestion')[]
}

/** What the mail servers said. */
export type MailboxAnswer = {
  /** The address, parsed and formatted. */
  readonly email: string
  readonly result: Result
  readonly reason: Reason
  readonly deliverability: Deliverability
  /** 0 to 100: how sure the deliverability is (docs/verification.md). */
  readonly confidence: number
  /** 0 where nothing answered. */
  readonly code: number
  readonly enhancedCode?: string
  readonly message: string
  /** "" where nothing answered. */
  readonly mxServer: string
  readonly ipUsed: Ip | ''
  /** The source of the decisive dialogue; undefined: the system's choice, or there was no dialogue. */
  readonly usedSource?: SourceName | undefined
  /** The node that found out, where it was not this one. */
  readonly peer?: string
  /** Whether a made-up mailbox is accepted too; null: not asked, or the reply tells nothing. */
  readonly catchAll: boolean | null
  /** The address needs SMTPUTF8 (RFC 6531). */
  readonly smtputf8: boolean
  /** Whether the decisive dialogue went over TLS; null where there was none. */
  readonly starttls: boolean | null
  readonly tls?: TlsInfo
  readonly provider?: string
  /** Hosts that the domain names, in MX order. */
  readonly mxHosts: readonly string[]
  /** Hosts that were tried, in order. */
  readonly mxTried: readonly string[]
  readonly attempts: readonly Attempt[]
  /** Source addresses of the pool that were not used toward this provider, and why; at most 20. Undefined is the system's choice. */
  readonly skippedSources: readonly { readonly address: SourceName | undefined; readonly why: string }[]
  readonly retryAfterMs?: number
  readonly transcript: readonly TranscriptLine[]
  readonly observedAtMs: number
}

export type Verification = MailboxAnswer & {
  readonly side: SideData
  readonly durationMs: number
  /** Answered from memory. */
  readonly remembered: boolean
}
