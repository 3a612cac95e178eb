type Query = Readonly<Record<string, unknown>>

/** A path with its query, without undefined values. */
export function pathWith(path: string, query: Query): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`
}

const part = (value: unknown): string => encodeURIComponent(String(value).trim())

export const domainPath = (name: unknown, query: Query = {}): string => pathWith(`/domain/${part(name)}`, query)
export const addressPath = (email: unknown, query: Query = {}): string =>
  pathWith(`/address/${part(email).replaceAll('%40', '@')}`, query)
export const ipPath = (ip: unknown, query: Query = {}): string =>
  pathWith(`/ip/${part(ip).replaceAll('%3A', ':')}`, query)
export const jobPath = (id: unknown): string => `/jobs/${part(id)}`
export const receivedPath = (id: unknown): string => `/message/${part(id)}`
export const reportsPath = (domain: unknown): string => `/reports/${part(domain)}`
export const monitorPath = (id: unknown): string => `/monitors/${part(id)}`

/**
 * The page that shows the answer of an operation: for a browser that opens a path of the API. Undefined if there is
 * none.
 */
export function pathFor(operation: string, raw: Query): string | undefined {
  const { domain, email, ip, id, ...rest } = raw
  if (operation === 'check') return domain === undefined ? '/' : domainPath(domain, { ...rest, only: 'check' })
  if (operation === 'report') return domain === undefined ? '/' : domainPath(domain, rest)
  if (operation === 'verify') return email === undefined ? '/' : addressPath(email, rest)
  if (operation === 'blacklist') return ip === undefined ? '/' : ipPath(ip, rest)
  if (operation === 'message') return '/message'
  if (operation === 'message-received') return receivedPath(id)
  if (operation === 'reports domains') return '/reports'
  if (operation === 'reports providers') return pathWith('/reports/providers', rest)
  if (operation === 'reports show') return domain === undefined ? '/reports' : pathWith(reportsPath(domain), rest)
  if (operation === 'jobs list') return '/jobs'
  if (operation === 'jobs show') return jobPath(id)
  if (operation === 'accepted list') return '/accepted'
  if (operation === 'monitors list' || operation === 'monitors summary') return pathWith('/monitors', rest)
  if (operation === 'monitors digest') return pathWith('/monitors/digest', rest)
  if (operation === 'monitors show') return monitorPath(id)
  if (operation === 'peers') return '/nodes'
  if (operation === 'pool') return '/sources'
  if (operation === 'blacklists') return '/blacklists'
  return undefined
}
