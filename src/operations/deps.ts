import type { Blacklists } from '../dnsbl/blacklists.ts'
import type { LookupGeo } from '../geo/geo.ts'
import type { Verifier } from '../mailbox/verify.ts'
import type { Ip } from '../names/ip.ts'

/** What operations are given beside the world: the rooms that keep state, made once for the life of the process. */
export type Deps = {
  readonly blacklists: Blacklists
  readonly geo: LookupGeo
  readonly verifier: Verifier
  /** Whether a socket of this machine can have the address as its own. */
  readonly canBind: (address: Ip) => Promise<boolean>
  /** The port that mail servers are asked at: 25, but for labs. */
  readonly smtpPort: number
}
