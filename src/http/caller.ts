import { isIP } from 'node:net'
import { cidr, contains } from '../names/cidr.ts'
import { parseIp } from '../names/ip.ts'

const LOOPBACK = cidr('127.0.0.0/8')

/** Whether a host name or address stands for this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1') return true
  const address = parseIp(bare)
  return address.ok && contains(LOOPBACK, address.value)
}

export type CallerRule = {
  /** Names from `--host-name`, lower case. */
  readonly hostNames: readonly string[]
  /** Origins from `--cors-origin`. */
  readonly corsOrigins: readonly string[]
}

/**
 * Why a request may not be answered while no key is in force, or undefined when it may: its Host must be loopback, a configured name or the very
 * address it came in on (DNS rebinding), and an Origin must be one of those too (CSRF).
 */
export function refusal(
  rule: CallerRule,
  request: {
    readonly host: string | undefined
    readonly origin: string | undefined
    readonly localAddress: string | undefined
  },
): string | undefined {
  const own = (host: string): boolean =>
    isLoopbackHost(host) ||
    rule.hostNames.includes(host.toLowerCase()) ||
    (isIP(host) !== 0 && sameAddress(host, request.localAddress))
  const host = hostOf(`http://${request.host ?? ''}`)
  if (host === undefined || !own(host)) {
    return 'the Host of this request is neither loopback nor a name given by --host-name; name it, or set an API key'
  }
  if (request.origin === undefined || rule.corsOrigins.includes(request.origin)) return undefined
  const origin = hostOf(request.origin)
  return origin !== undefined && own(origin)
    ? undefined
    : 'the Origin of this request is foreign; name it by --cors-origin, or set an API key'
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname } = new URL(url)
  return hostname === '' ? undefined : hostname.replace(/^\[|\]$/g, '')
}

function sameAddress(a: string, b: string | undefined): boolean {
  const [x, y] = [parseIp(a), parseIp(b ?? '')]
  return x.ok && y.ok && x.value === y.value
}
