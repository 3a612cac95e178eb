import { lookupMailHosts, type MailHosts, orderMailHosts } from '../../mailhosts/mailhosts.ts'
import type { Domain } from '../../names/domain.ts'
import { type Family, familyOf, type Ip } from '../../names/ip.ts'
import { registrableDomain } from '../../names/suffix.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import { limitsFor, type Provider, providerOf } from '../provider.ts'
import type { ProviderKey } from '../source/source-rows.ts'
import type { ProviderLimits } from '../source/sources.ts'

export type Destination = { readonly host: string; readonly address: Ip; readonly provider: Provider | undefined }

/**
 * Every address of every host in MX order (RFC 5321 §5.1): by preference, equal ones shuffled; IPv4 first, because its
 * PTR records are more often correct.
 */
export const destinationsOf = (hosts: MailHosts, random: () => number): readonly Destination[] =>
  orderMailHosts(hosts.hosts, random).flatMap(({ exchange, addresses }) =>
    addresses.map((address) => ({ host: exchange, address, provider: providerOf(exchange) })),
  )

/** The key of limits and source states: the provider's id, otherwise the registrable domain of the host. */
export const providerKeyOf = ({ host, provider }: Pick<Destination, 'host' | 'provider'>): ProviderKey =>
  provider?.id ?? registrableDomain(host) ?? host

export const familiesOf = (destinations: readonly Destination[]): ReadonlySet<Family> =>
  new Set(destinations.map(({ address }) => familyOf(address)))

/**
 * The first mail host for the domain, and the limits toward its provider; undefined if there is no mail host, or it
 * cannot be determined.
 */
export async function firstDestination(
  ctx: Pick<Ctx, 'resolve' | 'signal' | 'random'>,
  domain: Domain,
): Promise<{ readonly address: Ip; readonly provider: ProviderLimits } | undefined> {
  try {
    const [first] = destinationsOf(await lookupMailHosts(ctx, domain), ctx.random)
    if (!first) return undefined
    const { perMinute } = limitsFor(first.provider)
    return { address: first.address, provider: { key: providerKeyOf(first), perMinute } }
  } catch (error) {
    if (error instanceof DnsError) return undefined
    throw error
  }
}
