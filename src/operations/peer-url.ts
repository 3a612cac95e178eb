import { type Ip, parseIp } from '../names/ip.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'
import { nodeError } from './problems.ts'

/**
 * Refuses the URL of a node that could not be called: private and reserved addresses, and plain HTTP, except in networks that the operator allowed. A name that cannot
 * be resolved now is accepted (HTTPS only), because its addresses are checked again at every call. Throws AppError `invalid_parameter`, which names `parameter`.
 */
export async function refusePrivateUrl(
  ctx: Ctx,
  deps: Pick<Deps, 'mayCall'>,
  origin: string,
  parameter = 'url',
): Promise<void> {
  const url = new URL(origin)
  const at = { parameter, at: parameter }
  const { hostname: host } = url
  const addresses = await addressesOf(ctx, url.hostname.replace(/^\[|\]$/g, ''))
  if (addresses.some((address) => deps.mayCall(url, address))) return
  const isAllowedByHttps = addresses.some((address) => deps.mayCall(new URL(`https://${url.host}`), address))
  if (addresses.length > 0 && !isAllowedByHttps) throw nodeError('private_url', { host }, at)
  if (addresses.length > 0 || url.protocol !== 'https:') throw nodeError('not_https', { url: origin }, at)
  if (isLoopbackName(host)) throw nodeError('this_machine', { host }, at)
}

async function addressesOf(ctx: Ctx, host: string): Promise<readonly Ip[]> {
  const literal = parseIp(host)
  if (literal.ok) return [literal.value]
  if (isLoopbackName(host)) return []
  const asked = await Promise.allSettled([ctx.resolve(host, 'A', ctx.signal), ctx.resolve(host, 'AAAA', ctx.signal)])
  const bug = asked.find((one) => one.status === 'rejected' && !(one.reason instanceof DnsError))
  if (bug?.status === 'rejected') throw bug.reason
  return asked.flatMap((one) => (one.status === 'fulfilled' ? one.value.records : []))
}

/** RFC 6761 §6.3: these names are this machine. */
const isLoopbackName = (host: string): boolean => /^(?:.*\.)?localhost\.?$/i.test(host)
