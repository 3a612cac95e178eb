import { PROVIDERS, type Provider } from './table.ts'

export type { Provider }

/** What holds for a host of nobody we know. */
export const UNKNOWN_PROVIDER: Omit<Provider, 'id' | 'name' | 'mx'> = {
  maxConnections: 20,
  perMinute: 120,
  tells: 'existence',
  secondRcpt: 'ok',
  batch: false,
  seen: 'the general courtesy limits of verification.md',
}

/** The provider of a mail host, by its name (any case, one trailing dot allowed); undefined for a host of nobody we know. */
export function providerOf(mxHost: string): Provider | undefined {
  if (mxHost.length > 254) return undefined
  const host = mxHost.toLowerCase().replace(/\.$/, '')
  return PROVIDERS.find(({ mx }) => mx.some((name) => host.endsWith(name) || host === name.slice(1)))
}

/** The provider with this id. */
export const providerById = (id: string): Provider | undefined => PROVIDERS.find((provider) => provider.id === id)
