import type { Blacklists } from '../dnsbl/blacklists.ts'
import type { LookupGeo } from '../geo/geo.ts'
import type { OwnListing } from '../mailbox/provider/blacklists.ts'
import type { Identity } from '../mailbox/source/helo.ts'
import type { Verifier } from '../mailbox/verify.ts'
import type { Ip } from '../names/ip.ts'
import type { PeerRoom } from '../peers/room.ts'

/** Whether a thing that the service needs is there: undefined, or why it is not. Never rejects. */
export type Probe = (signal: AbortSignal) => Promise<string | undefined>

/** The source addresses of verification. */
export type SourcePool = {
  /** Whether the operator has named them; else they are this machine's own public addresses. */
  readonly isConfigured: boolean
  readonly addresses: () => readonly Ip[]
  /** Reads the files of the pool again. Throws AppError when one cannot be used; the pool then stays as it was. */
  readonly reload: () => void
  /** Asks the blacklists about the addresses when what is known is older than 15 minutes. */
  readonly refresh: (signal: AbortSignal) => Promise<void>
  /** The listings last seen; undefined: not asked yet. */
  readonly listings: (address: Ip) => readonly OwnListing[] | undefined
  /** Why an address is not worth trying with a provider. */
  readonly refusedBy: (address: Ip, provider: string) => string | undefined
}

/** What operations are given beside the world: the rooms that keep state, made once for the life of the process. */
export type Deps = {
  readonly blacklists: Blacklists
  readonly geo: LookupGeo
  readonly verifier: Verifier
  readonly sourcePool: SourcePool
  /** The name to greet mail hosts with from a source address. */
  readonly heloName: Identity['heloName']
  readonly peers: PeerRoom
  /** Whether another node may be called at one address of its URL. */
  readonly mayCall: (url: URL, address: Ip) => boolean
  /** Resolvers in use that are well-known public ones. */
  readonly publicResolvers: readonly string[]
  readonly probes: { readonly resolver: Probe; readonly store: Probe }
  /** Whether a socket of this machine can have the address as its own. */
  readonly canBind: (address: Ip) => Promise<boolean>
  /** The port that mail servers are asked at: 25, but for labs. */
  readonly smtpPort: number
}
