import { AppError } from '../base/errors.ts'
import { type Ip, parseIp } from '../names/ip.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

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
  const refuse = (why: string): never => {
    throw new AppError(
      'invalid_parameter',
      `${parameter}: ${why}; the operator of this node can allow it with --allow-network`,
      { parameter },
    )
  }
  const addresses = await addressesOf(ctx, url.hostname.replace(/^\[|\]$/g, ''))
  if (addresses.some((address) => deps.mayCall(url, address))) return
  if (addresses.length > 0)
    refuse(
      addresses.some((address) => deps.mayCall(new URL(`https://${url.host}`), address))
        ? `${origin} is not HTTPS`
        : `${url.hostname} has private or reserved addresses`,
    )
  if (url.protocol !== 'https:') refuse(`${origin} is not HTTPS`)
  if (isLoopbackName(url.hostname)) refuse(`${url.hostname} is this machine`)
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
