import type { MailHost } from '../../mailhosts/mailhosts.ts'
import type { Ip } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'

/** Whether a host has addresses; `unknown`: none was seen and a family stays unanswered. A literal has none: it is no name (RFC 5321 §5.1). */
export type Resolvable = 'yes' | 'no' | 'unknown'

/** Reads {@link Resolvable} from what both families answered. */
export function resolvable(host: MailHost): Resolvable {
  if (host.literal !== undefined) return 'no'
  if (host.addresses.length > 0) return 'yes'
  return host.answers.A === 'unknown' || host.answers.AAAA === 'unknown' ? 'unknown' : 'no'
}

/** The addresses that the world cannot reach; the text of a literal counts too. */
export const notPublic = (host: MailHost): Ip[] =>
  (host.literal === undefined ? host.addresses : [host.literal]).filter((address) => !isPublic(address))

/** All addresses of the hosts, without repeats. */
export const allAddresses = (hosts: readonly MailHost[]): Ip[] => [...new Set(hosts.flatMap((host) => host.addresses))]

/** Why a family of the host stays unanswered, where one does. */
export const unanswered = (host: MailHost): string | undefined => (host.errors.A ?? host.errors.AAAA)?.message
