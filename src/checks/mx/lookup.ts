import type { Problem } from '../../base/problem.ts'
import { hostError, lookupMailHosts, type MailHost, type MailHosts } from '../../mailhosts/mailhosts.ts'
import { type Domain, labelsOf } from '../../names/domain.ts'
import type { Ip } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { isTopLevelDomain, registrableDomain } from '../../names/suffix.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { mayExist } from '../one-record.ts'

/** Maximum number of registrable domains that are queried for hosts that do not exist. */
const MAX_ASKED = 5

export type MxFacts = {
  readonly domain: Domain
  readonly mail: MailHosts
  /** Registrable domains of MX hosts that do not exist: whoever registers one gets the mail. At most 5. */
  readonly unregistered: readonly string[]
}

type Asker = Pick<Ctx, 'resolve' | 'signal'>

/**
 * The mail hosts of `domain` with their addresses: at most 41 queries in two rounds, and 5 more in a third if hosts do
 * not exist. Rejects with DnsError if MX has no answer.
 */
export async function lookupMx(ctx: Asker, domain: Domain): Promise<MxFacts> {
  const mail = await lookupMailHosts(ctx, domain)
  const own = registrableDomain(domain)
  const missing = mail.hosts.filter(isMissing).map(({ exchange }) => registrableDomain(exchange))
  const others = [...new Set(missing.flatMap((name) => (name === undefined || name === own ? [] : [name])))]
  const asked = others.filter(canBeRegistered).slice(0, MAX_ASKED)
  const unregistered = await Promise.all(asked.map((name) => isUnregistered(ctx, name)))
  return { domain, mail, unregistered: asked.filter((_, i) => unregistered[i]) }
}

/** Below an existing top-level domain: nobody can register a name such as `mail.local`. */
const canBeRegistered = (name: string): boolean => isTopLevelDomain(labelsOf(name).at(-1) ?? '')

const isMissing = ({ answers, literal }: MailHost): boolean =>
  literal === undefined && answers.A === 'nxdomain' && answers.AAAA === 'nxdomain'

/** NXDOMAIN for a registrable domain: nobody owns it. A query without an answer shows nothing. */
async function isUnregistered(ctx: Asker, name: string): Promise<boolean> {
  const answer = await settled(ctx.resolve(name, 'SOA', ctx.signal))
  return !(answer instanceof DnsError) && !mayExist(answer)
}

/**
 * Whether a host has addresses; `unknown`: none is known and the lookup of a family has no answer. A literal has none,
 * because it is not a name (RFC 5321 §5.1).
 */
type Resolvable = 'yes' | 'no' | 'unknown'

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
