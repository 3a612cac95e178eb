import type { MailHosts } from '../../mailhosts/mailhosts.ts'
import { providerOfHost, providerOfInclude, spfIncludeOf } from '../../mailhosts/providers/index.ts'

/**
 * The first record of a domain without a usable one, derived from its mail hosts. For a known provider its include, because the hosts that receive mail are
 * not those that send it; `mx` for other hosts. It ends in `~all`, because other senders are not known yet; `-all` only for a domain that accepts no mail and
 * has no address. Undefined if the mail hosts are not known, and if the provider gives each customer another include.
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
 * Whether a known provider tells its customers to include this name. The table shows what the provider publishes; a DNS without that record (a filter, a
 * closed network) is no reason to advise against it.
 */
export const isProvidersInclude = (name: string): boolean => {
  const provider = providerOfInclude(name)
  return provider !== undefined && [provider.spf, ...Object.values(provider.spfByMx ?? {})].includes(name.toLowerCase())
}
