import { networkOf } from '../../names/cidr.ts'
import { familyOf, type Ip } from '../../names/ip.ts'

/** Tells a machine that cannot reach port 25 from a mail host that does not answer. */
export type Reach = {
  readonly timedOut: (address: Ip) => void
  /** A connection came about, or was refused by somebody: port 25 can be reached. */
  readonly reached: () => void
  /** How many unrelated networks timed out in the last 10 minutes with nothing reached in between; 0 while fewer than 3. */
  readonly blocked: () => number
}

const WINDOW_MS = 600_000
const NETWORKS = 3
const MAX_KEPT = 100

/** Networks are unrelated when their /16 (IPv6: /32) differ. */
export function reach(now: () => number): Reach {
  const networks = new Map<string, number>()
  return {
    timedOut: (address) => {
      const network = networkOf(address, familyOf(address) === 4 ? 16 : 32)
      networks.delete(network)
      networks.set(network, now())
      if (networks.size > MAX_KEPT) networks.delete(networks.keys().next().value!)
    },
    reached: () => networks.clear(),
    blocked: () => {
      const recent = [...networks.values()].filter((at) => at > now() - WINDOW_MS).length
      return recent >= NETWORKS ? recent : 0
    },
  }
}
