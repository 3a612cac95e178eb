import { providerById, providerOf, limitsFor as smtpLimitsFor } from '../mailbox/provider.ts'
import { lookupMailHosts, orderMailHosts } from '../mailhosts/mailhosts.ts'
import { registrableDomain } from '../names/suffix.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { JobKind } from '../store/postgres/schema.ts'
import type { World } from '../world.ts'
import type { FindProvider, RowProvider } from './engine/claims.ts'

/** Rows that need only DNS queries, which the resolver and the allowances of the lists limit. */
const DNS_PROVIDER = 'dns'
const DNS_CONCURRENT = 40
/** Rows whose mail hosts do not exist or could not be determined; they end quickly. */
const NO_HOSTS = 'none'
/** Maximum number of rows of a provider in progress without limits toward mail hosts (`--no-courtesy`). */
const UNLIMITED = 640

/** The provider of a domain's best mail host, by the name used for its limits. Never rejects because of the DNS. */
export const findProviderOf =
  (world: Pick<World, 'resolve'>, limitsOf: (id: string) => RowProvider): FindProvider =>
  async (kind, domain, signal) =>
    limitsOf(await providerIdOf(world, kind, domain, signal))

async function providerIdOf(
  { resolve }: Pick<World, 'resolve'>,
  kind: JobKind,
  domain: string,
  signal: AbortSignal,
): Promise<string> {
  if (kind !== 'verify') return DNS_PROVIDER
  if (domain === '') return NO_HOSTS
  try {
    const { hosts } = await lookupMailHosts({ resolve, signal }, domain)
    const [best] = orderMailHosts(hosts, () => 0)
    if (!best) return NO_HOSTS
    return providerOf(best.exchange)?.id ?? registrableDomain(best.exchange) ?? best.exchange
  } catch (error) {
    if (error instanceof DnsError || signal.aborted) return NO_HOSTS
    throw error
  }
}

/** The limits toward a provider; none if `lifted` (`--no-courtesy`). */
export const limitsFor =
  (lifted: boolean) =>
  (id: string): RowProvider => {
    if (id === DNS_PROVIDER || id === NO_HOSTS)
      return { id, concurrent: DNS_CONCURRENT, perMinute: Number.POSITIVE_INFINITY }
    if (lifted) return { id, concurrent: UNLIMITED, perMinute: Number.POSITIVE_INFINITY }
    const { maxConnections, perMinute } = smtpLimitsFor(providerById(id))
    return { id, concurrent: maxConnections, perMinute }
  }
