import { type Parsed, parsed, problem } from '../base/problem.ts'
import { parseDomain } from './domain.ts'
import { type Family, familyOf, type Ip, parseIp } from './ip.ts'
import { sourceProblem } from './problems.ts'

/** The permitted form of a node id. */
export const NODE_ID = /^[A-Za-z0-9._-]{1,64}$/

/**
 * A SOCKS5 proxy as it is shown and stored: `socks5://host:port`, never with its login; `#2` distinguishes a second
 * login at the same port.
 */
export type ProxyName = string & { readonly __brand: 'ProxyName' }
/** Another node of the cluster as a source: `peer:<id>`. */
export type NodeName = string & { readonly __brand: 'NodeName' }
export type SourceName = Ip | ProxyName | NodeName

/** How to connect to a proxy. `user` and `password` are never shown. */
export type SocksProxy = {
  readonly name: ProxyName
  readonly host: string
  readonly port: number
  readonly login?: { readonly user: string; readonly password: string }
}

export type PoolEntry =
  | { readonly kind: 'address'; readonly name: Ip }
  | { readonly kind: 'proxy'; readonly name: ProxyName; readonly proxy: SocksProxy }
  | { readonly kind: 'node'; readonly name: NodeName }

const PROXY = 'socks5://'
const NODE = 'peer:'

export const isProxy = (source: SourceName | undefined): source is ProxyName => source?.startsWith(PROXY) === true
export const isNode = (source: SourceName | undefined): source is NodeName => source?.startsWith(NODE) === true
/** The address of a source; undefined for proxies, nodes and the system's choice. */
export const addressOf = (source: SourceName | undefined): Ip | undefined =>
  source === undefined || isProxy(source) || isNode(source) ? undefined : source

/** The family of an address; undefined if it is not known before a connection is made. */
export const familyOfSource = (source: SourceName | undefined): Family | undefined => {
  const address = addressOf(source)
  return address === undefined ? undefined : familyOf(address)
}

export const nodeName = (id: string): NodeName => `${NODE}${id}` as NodeName
export const nodeIdOf = (node: NodeName): string => node.slice(NODE.length)

/** Reads a stored source: the form of {@link parsePoolEntry} without a login. */
export function parseSourceName(text: string): Parsed<SourceName> {
  const entry = parsePoolEntry(text.replace(/#\d{1,4}$/, ''))
  if (!entry.ok) return entry
  if (entry.value.kind === 'proxy') return parsed(text as ProxyName)
  return parsed(entry.value.name)
}

/**
 * Reads an entry of the pool: an address, `socks5://user:password@host:port` or `peer:<id>`. A text that may contain a
 * password is not repeated.
 */
export function parsePoolEntry(text: string): Parsed<PoolEntry> {
  if (text.startsWith(NODE)) return nodeEntry(text.slice(NODE.length))
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || text.includes('@')) return proxyEntry(text)
  const address = parseIp(text)
  return address.ok ? parsed({ kind: 'address', name: address.value }) : address
}

const nodeEntry = (id: string): Parsed<PoolEntry> =>
  NODE_ID.test(id) ? parsed({ kind: 'node', name: nodeName(id) }) : problem(sourceProblem('node_id'))

function proxyEntry(text: string): Parsed<PoolEntry> {
  if (/^socks5h:/i.test(text)) return problem(sourceProblem('socks5h'))
  const url = /^socks5:\/\//i.test(text) ? URL.parse(text) : null
  if (!url || !/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
    return problem(sourceProblem('proxy'))
  const host = hostOf(url.hostname)
  if (host === undefined) return problem(sourceProblem('host'))
  if (url.port === '0') return problem(sourceProblem('port'))
  const port = Number(url.port || 1080)
  const login = loginOf(url)
  if (login === 'invalid') return problem(sourceProblem('login'))
  const name = `${PROXY}${host.includes(':') ? `[${host}]` : host}:${port}` as ProxyName
  return parsed({ kind: 'proxy', name, proxy: { name, host, port, ...(login && { login }) } })
}

function hostOf(text: string): string | undefined {
  const address = parseIp(text.replace(/^\[|\]$/g, ''))
  if (address.ok) return address.value
  const domain = parseDomain(text)
  return domain.ok ? domain.value : undefined
}

/** RFC 1929 §2: each is 1 to 255 octets. */
function loginOf({ username, password }: URL): SocksProxy['login'] | 'invalid' {
  if (username === '' && password === '') return undefined
  try {
    const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
    const fits = (part: string): boolean => Buffer.byteLength(part) >= 1 && Buffer.byteLength(part) <= 255
    return fits(login.user) && fits(login.password) ? login : 'invalid'
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    return 'invalid'
  }
}

/** The entries without duplicates; proxies at one host and port with different logins get different names. */
export function distinctEntries(entries: readonly PoolEntry[]): readonly PoolEntry[] {
  const kept = new Map<string, PoolEntry>()
  for (const entry of entries) {
    if (entry.kind !== 'proxy') kept.set(entry.name, entry)
    else keepProxy(kept, entry)
  }
  return [...kept.values()]
}

function keepProxy(kept: Map<string, PoolEntry>, { name, proxy }: PoolEntry & { readonly kind: 'proxy' }): void {
  for (let n = 1; ; n++) {
    const named = (n === 1 ? name : `${name}#${n}`) as ProxyName
    const there = kept.get(named)
    if (there?.kind !== 'proxy')
      return void kept.set(named, { kind: 'proxy', name: named, proxy: { ...proxy, name: named } })
    if (there.proxy.login?.user === proxy.login?.user && there.proxy.login?.password === proxy.login?.password) return
  }
}
