import { timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { type Cidr, cidr, contains } from '../names/cidr.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { type ApiKey, hashKey, type Scope } from '../store/key-file.ts'

const LOOPBACK = cidr('127.0.0.0/8')

/** Whether a host name or address is loopback. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1') return true
  const address = parseIp(bare)
  return address.ok && contains(LOOPBACK, address.value)
}

/** The proxies whose word about their callers counts (`--trust-proxy`). */
export type TrustedProxies = { readonly networks: readonly Cidr[]; readonly unix: boolean }

/** Who made a request, and how it reached the proxy in front, or this service. */
export type Client = {
  /** `192.0.2.1`; `unix` for a caller over the Unix socket that no proxy names. */
  readonly address: string
  /** It is on this machine, and no proxy passed it on. */
  readonly isHere: boolean
  readonly isHttps: boolean
  /** It came over the socket of the data folder, which only the owner of the folder can open. */
  readonly isOwner?: true
}

/** The owner of the data folder: a command beside the service. */
export const OWNER: Client = { address: 'owner', isHere: true, isHttps: false, isOwner: true }

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The maximum number of proxies between the caller and this service. */
const MAX_HOPS = 32

/**
 * The caller of a request. Of `X-Forwarded-For` the rightmost address counts that is not a trusted proxy, and only when
 * a trusted proxy sent the request: what stands further left was written by that caller. `Forwarded` (RFC 7239) is not
 * read. `peer`: the address of the connection; undefined over a Unix socket.
 */
export function clientOf(peer: string | undefined, headers: Headers, trusted: TrustedProxies): Client {
  const connected = parseIp((peer ?? '').split('%')[0]!)
  const isTrusted = (address: Ip): boolean => trusted.networks.some((network) => contains(network, address))
  const hears = connected.ok ? isTrusted(connected.value) : peer === undefined && trusted.unix
  const forwarded = headers['x-forwarded-for']
  const own = peer ?? 'unix'
  if (!hears) {
    const isPassedOn = forwarded !== undefined || headers.forwarded !== undefined
    return { address: own, isHere: isLoopbackHost(own) && !isPassedOn, isHttps: false }
  }
  const isHttps = lastOf(headers['x-forwarded-proto'])?.toLowerCase() === 'https'
  if (forwarded === undefined)
    return { address: own, isHere: isLoopbackHost(own) && headers.forwarded === undefined, isHttps }
  let address: Ip | undefined
  let rest = String(forwarded)
  for (let hops = 0; hops < MAX_HOPS && rest !== ''; hops++) {
    const at = rest.lastIndexOf(',')
    const hop = parseIp(withoutPort(rest.slice(at + 1).trim()))
    if (!hop.ok) break // what a trusted proxy cannot have written
    address = hop.value
    if (!isTrusted(address)) break
    rest = rest.slice(0, Math.max(0, at))
  }
  return address === undefined
    ? { address: own, isHere: false, isHttps }
    : { address, isHere: isLoopbackHost(address), isHttps }
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711` as some proxies write them. */
const withoutPort = (text: string): string =>
  /^\[([0-9a-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1')

/** What the nearest proxy has added. */
const lastOf = (field: Headers[string]): string | undefined => field && String(field).split(',').at(-1)?.trim()

export type CallerRule = {
  /** Names from `--host-name`, lower case. */
  readonly hostNames: readonly string[]
  /** Origins from `--cors-origin`. */
  readonly corsOrigins: readonly string[]
}

/**
 * Why a request must be refused while no key is in force, or undefined: its Host must be loopback, a configured name or
 * the address that it arrived at (DNS rebinding), and an Origin must be one of those too (CSRF).
 */
export function refusal(
  rule: CallerRule,
  request: {
    readonly host: string | undefined
    readonly origin: string | undefined
    readonly localAddress: string | undefined
  },
): 'foreign_host' | 'foreign_origin' | undefined {
  const own = (host: string): boolean =>
    isLoopbackHost(host) ||
    rule.hostNames.includes(host.toLowerCase()) ||
    (isIP(host) !== 0 && sameAddress(host, request.localAddress))
  const host = parseHostField(request.host ?? '')
  if (host === undefined || !own(host)) return 'foreign_host'
  if (request.origin === undefined || rule.corsOrigins.includes(request.origin)) return undefined
  const origin = hostOfOrigin(request.origin)
  return origin !== undefined && own(origin) ? undefined : 'foreign_origin'
}

/**
 * The host of a Host field, without brackets and in lower case; undefined if the field is not a host with an optional
 * port (RFC 9110 §7.2), such as `a@b`.
 */
export function parseHostField(text: string): string | undefined {
  const { literal, name, port } =
    /^(?:\[(?<literal>[0-9a-f:.]+)\]|(?<name>[a-z0-9._-]{1,255}))(?::(?<port>\d{0,5}))?$/i.exec(text)?.groups ?? {}
  if (Number(port ?? 0) > 65_535 || (literal !== undefined && isIP(literal) !== 6)) return undefined
  return (literal ?? name)?.toLowerCase()
}

/** The host of an Origin field (RFC 6454 §6.1); undefined for `null` and for invalid origins. */
function hostOfOrigin(text: string): string | undefined {
  const host = /^https?:\/\/(.+)$/i.exec(text)?.[1]
  return host === undefined ? undefined : parseHostField(host)
}

function sameAddress(a: string, b: string | undefined): boolean {
  const [x, y] = [parseIp(a), parseIp(b ?? '')]
  return x.ok && y.ok && x.value === y.value
}

/**
 * The key of a request: `Authorization: Bearer …` or `X-API-Key`, at most 512 characters. A key is never accepted in a
 * URL.
 */
export function presentedKey(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | undefined {
  const bearer =
    typeof headers.authorization === 'string' ? /^Bearer +(\S{1,512})$/i.exec(headers.authorization)?.[1] : undefined
  const header = headers['x-api-key']
  return bearer ?? (typeof header === 'string' && header.length <= 512 ? header.trim() || undefined : undefined)
}

/**
 * The key in force that equals `presented`, if any; hashes are compared in constant time, and expired keys never match.
 */
export function findKey(keys: readonly ApiKey[], presented: string, nowMs: number): ApiKey | undefined {
  const hash = Buffer.from(hashKey(presented), 'hex')
  let found: ApiKey | undefined
  for (const key of keys) if (timingSafeEqual(Buffer.from(key.hash, 'hex'), hash)) found = key
  return found && (found.expires_at === undefined || Date.parse(found.expires_at) > nowMs) ? found : undefined
}

/** Whether a key with these scopes has the permission `scope`; `admin` includes all. */
export const allows = (key: ApiKey, scope: Scope): boolean => key.scopes.includes(scope) || key.scopes.includes('admin')
