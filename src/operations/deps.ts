import type { Blacklists } from '../dnsbl/blacklists.ts'

/** What operations are given beside the world: the rooms that keep state, made once for the life of the process. */
export type Deps = {
  readonly blacklists: Blacklists
}
