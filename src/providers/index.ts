import { APPLICATIONS } from './applications.ts'
import { FORWARDERS, GATEWAYS } from './gateways.ts'
import { CONSUMER, MAILBOXES } from './mailboxes.ts'
import { NEWSLETTERS } from './newsletters.ts'
import type { Provider } from './provider.ts'
import { WEB_HOSTS, WEB_HOSTS_EUROPE } from './web-hosts.ts'

export type { Provider, ProviderKind } from './provider.ts'

/** Every known provider, those that host mailboxes first. */
export const PROVIDERS: readonly Provider[] = [
  ...MAILBOXES,
  ...WEB_HOSTS,
  ...WEB_HOSTS_EUROPE,
  ...CONSUMER,
  ...GATEWAYS,
  ...FORWARDERS,
  ...NEWSLETTERS,
  ...APPLICATIONS,
]

const BY_ID = new Map(PROVIDERS.map((provider) => [provider.id, provider]))
const BY_MX = patternsOf((provider) => provider.mx)
const BY_VERIFICATION = patternsOf((provider) => provider.verificationMx ?? [])
const BY_INCLUDE = patternsOf((provider) => provider.includes)
const BY_CNAME = patternsOf((provider) => provider.cnames)
const BY_INBOUND = patternsOf((provider) => provider.inbound ?? [])
const BY_RETURN_PATH = patternsOf((provider) => provider.returnPaths)
/** Maximum length of a DNS name with a final dot, characters. */
const MAX_NAME = 254

export const providerById = (id: string): Provider | undefined => BY_ID.get(id)

/**
 * The provider of a mail host, by its name (any case, one final dot allowed); undefined for a host of an unknown
 * provider.
 */
export const providerOfHost = (mxHost: string): Provider | undefined =>
  find(BY_VERIFICATION, mxHost) ? undefined : find(BY_MX, mxHost)

/** The provider to which an MX record proves that the domain is its customer's; such a host takes no mail. */
export const providerOfVerification = (mxHost: string): Provider | undefined => find(BY_VERIFICATION, mxHost)

/**
 * The provider of an SPF `include:` or `redirect=` target. A target with macros is matched by the text after the last
 * of them.
 */
export const providerOfInclude = (target: string): Provider | undefined =>
  find(BY_INCLUDE, target.slice(target.lastIndexOf('}') + 1).replace(/^\./, ''))

/** The provider to which the alias (CNAME) of a DKIM selector leads. */
export const providerOfAlias = (target: string): Provider | undefined => find(BY_CNAME, target)

/** The provider to which the MX host or the alias (CNAME) of a return-path name leads. */
export const providerOfReturnPath = (host: string): Provider | undefined => find(BY_RETURN_PATH, host)

/** The sending provider that takes mail in at an MX host, for an application of its customer. */
export const providerOfInbound = (mxHost: string): Provider | undefined => find(BY_INBOUND, mxHost)

/**
 * The SPF include that a provider tells a customer with these MX hosts to publish; undefined if it needs none or gives
 * each customer another.
 */
export function spfIncludeOf(provider: Provider, exchanges: readonly string[]): string | undefined {
  const special = Object.entries(provider.spfByMx ?? {}).find(([pattern]) =>
    exchanges.some((exchange) => matches(pattern, normal(exchange))),
  )
  return special?.[1] ?? provider.spf
}

/** How a customer of the provider enables DKIM for `domain`, as an instruction; undefined if the table has none. */
export const dkimStepsOf = ({ dkim }: Provider, domain: string): string | undefined =>
  dkim?.replaceAll('{domain}', domain).replaceAll('{dashed}', domain.replaceAll('.', '-'))

function patternsOf(pick: (provider: Provider) => readonly string[]): ReadonlyMap<string, Provider> {
  return new Map(PROVIDERS.flatMap((provider) => pick(provider).map((pattern) => [pattern, provider] as const)))
}

/** Looks a name up, then each of its parents, so that the longest pattern wins. */
function find(patterns: ReadonlyMap<string, Provider>, name: string): Provider | undefined {
  if (name.length > MAX_NAME) return undefined
  const host = normal(name)
  const exact = patterns.get(host)
  if (exact) return exact
  for (let at = 0; at >= 0; at = host.indexOf('.', at + 1)) {
    const found = patterns.get(at === 0 ? `.${host}` : host.slice(at))
    if (found) return found
  }
  return undefined
}

const normal = (name: string): string => name.toLowerCase().replace(/\.$/, '')
const matches = (pattern: string, host: string): boolean =>
  pattern.startsWith('.') ? host.endsWith(pattern) || host === pattern.slice(1) : host === pattern
