import { PROVIDERS, type Provider } from './table.ts'

export type { Provider }

/** The row of hosts whose provider is not known. */
export const UNKNOWN_PROVIDER: Omit<Provider, 'id' | 'name' | 'mx'> = {
  maxConnections: 20,
  perMinute: 120,
  tells: 'existence',
  secondRcpt: 'ok',
  batch: false,
  seen: 'the general limits of docs/verification.md',
}

/** The provider of a mail host, by its name (any case, one trailing dot allowed); undefined when it is not known. */
export function providerOf(mxHost: string): Provider | undefined {
  if (mxHost.length > 254) return undefined
  const host = mxHost.toLowerCase().replace(/\.$/, '')
  return PROVIDERS.find(({ mx }) => mx.some((name) => host.endsWith(name) || host === name.slice(1)))
}

/** The provider with this id. */
export const providerById = (id: string): Provider | undefined => PROVIDERS.find((provider) => provider.id === id)
