import { lookupMailHosts, type MailHost, type MailHosts } from '../../mailhosts/mailhosts.ts'
import { type Domain, labelsOf } from '../../names/domain.ts'
import { isTopLevelDomain, registrableDomain } from '../../names/suffix.ts'
import { DnsError, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { mayExist } from '../exists.ts'

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
