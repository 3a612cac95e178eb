import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import { providerOfHost, providerOfInclude, spfIncludeOf } from '../../mailhosts/providers/index.ts'

/**
 * The first record of a domain that has none it can use, by its mail hosts. At a known provider its include, for hosts that take mail in are not
 * those that send it out; `mx` for other hosts. It ends in `~all`, since nobody knows yet what else sends; `-all` only for a domain that
 * takes no mail and has no address. Undefined where the mail hosts are not known, and where the provider gives each customer another include.
 */
export function firstRecord(mail: MailHosts | undefined): string | undefined {
  if (!mail) return undefined
  if (mail.kind === 'null' || mail.kind === 'none') return 'v=spf1 -all'
  if (mail.kind === 'implicit') return 'v=spf1 a ~all'
  const exchanges = mail.hosts.map(({ exchange }) => exchange)
  const providers = exchanges.map(providerOfHost)
  const includes = new Set(providers.flatMap((provider) => (provider ? [spfIncludeOf(provider, exchanges)] : [])))
  if (includes.has(undefined)) return undefined
  const own = providers.includes(undefined) ? ['mx'] : []
  return ['v=spf1', ...own, ...[...includes].map((name) => `include:${name}`), '~all'].join(' ')
}

/**
 * Whether a name is one that a known provider tells its customers to include. What the provider publishes is known from the table; a DNS that has no record
 * there (a filter, a closed network) is no reason to advise against it.
 */
export const isProvidersInclude = (name: string): boolean => {
  const provider = providerOfInclude(name)
  return provider !== undefined && [provider.spf, ...Object.values(provider.spfByMx ?? {})].includes(name.toLowerCase())
}
