import type { Problem } from '../../base/problem.ts'
import { hostError, type MailHost } from '../../mailhosts/mailhosts.ts'
import type { Ip } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'

/**
 * Whether a host has addresses; `unknown`: none is known and the lookup of a family has no answer. A literal has none,
 * because it is not a name (RFC 5321 §5.1).
 */
export type Resolvable = 'yes' | 'no' | 'unknown'

/** Determines {@link Resolvable} from the answers of both families. */
export function resolvable(host: MailHost): Resolvable {
  if (host.literal !== undefined) return 'no'
  if (host.addresses.length > 0) return 'yes'
  return host.answers.A === 'unknown' || host.answers.AAAA === 'unknown' ? 'unknown' : 'no'
}

/** The addresses that are not reachable from the internet, including that of a literal. */
export const notPublic = (host: MailHost): Ip[] =>
  (host.literal === undefined ? host.addresses : [host.literal]).filter((address) => !isPublic(address))

/** All addresses of the hosts, without repeats. */
export const allAddresses = (hosts: readonly MailHost[]): Ip[] => [...new Set(hosts.flatMap((host) => host.addresses))]

/** Why the lookup of an address family of the host has no answer, if so. */
export const unanswered = (host: MailHost): Problem | undefined => hostError(host)?.problem
