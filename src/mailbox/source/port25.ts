import { networkOf } from '../../names/cidr.ts'
import { familyOf, type Ip } from '../../names/ip.ts'

/** Distinguishes a machine that cannot reach port 25 from a mail host that does not answer. */
export type Port25Monitor = ReturnType<typeof port25Monitor>

const WINDOW_MS = 600_000
const MIN_NETWORKS = 3
/** Maximum number of networks without an answer that are kept. */
const MAX_NETWORKS = 100

/** Networks are unrelated if their /16 (IPv6: /32) differ. */
export function port25Monitor(now: () => number) {
  const networks = new Map<string, number>()
  return {
    timedOut: (address: Ip): void => {
      const network = networkOf(address, familyOf(address) === 4 ? 16 : 32)
      networks.delete(network)
      networks.set(network, now())
      if (networks.size > MAX_NETWORKS) networks.delete(networks.keys().next().value!)
    },
    /** A connection was made, or refused: port 25 is reachable. */
    reached: () => networks.clear(),
    /** The number of unrelated networks that timed out within 10 minutes without any success; 0 while fewer than 3. */
    blockedNetworks: (): number => {
      const recent = [...networks.values()].filter((at) => at > now() - WINDOW_MS).length
      return recent >= MIN_NETWORKS ? recent : 0
    },
  }
}
