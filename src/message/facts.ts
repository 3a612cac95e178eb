import type { CheckHostAnswer } from '../checks/spf/index.ts'
import type { Ip } from '../names/ip.ts'
import type { ArcChain } from './arc.ts'
import type { VerifiedSignature } from './dkim.ts'
import type { MessageDmarc } from './dmarc.ts'
import type { Envelope, Hop, Receiver, ReceiverClaims } from './envelope.ts'
import type { LinkHost } from './links.ts'
import type { Mime } from './mime.ts'
import type { MailHead } from './outline.ts'
import type { Author } from './parse.ts'

/** The names of an address and whether one of them resolves back (RFC 8601 §2.7.3); null: no answer. */
export type AddressNames = { readonly names: readonly string[]; readonly confirmed: boolean | null }

/** Everything that is known about a message: what it says, and what the DNS says about it. */
export type Facts = {
  readonly mail: MailHead
  readonly mime: Mime
  readonly author: Author
  readonly envelope: Envelope
  /** Newest first. */
  readonly hops: readonly Hop[]
  readonly names: ReadonlyMap<Ip, AddressNames>
  readonly results: readonly ReceiverClaims[]
  /** Who may have received it, where that is not sure. */
  readonly receivers: readonly Receiver[]
  /** Undefined if the address of the connection is not known. */
  readonly spf?: CheckHostAnswer
  /** From top to bottom, with the cause of each failure. */
  readonly dkim: readonly VerifiedSignature[]
  readonly arc: ArcChain
  readonly dmarc: MessageDmarc
  readonly links: readonly LinkHost[]
  /** The connection with which the receiver got the message. */
  readonly connection: {
    readonly address?: Ip
    readonly by: string
    readonly forwardConfirmed: boolean | null
    readonly tls: boolean | null
  }
  /** What shows that the message was forwarded, if anything does. */
  readonly forwarding?: string
  /** The body is not here: nothing of it is judged. */
  readonly headerOnly: boolean
  /** The text was changed when it was copied: its octets are not those of the message. */
  readonly isCopied: boolean
  /** A host on the way says that the message was sent with SMTPUTF8 (RFC 6531). */
  readonly smtputf8: boolean
  /** The time of the judgement, ms since the epoch. */
  readonly at: number
}
