import { within } from '../../base/deadline.ts'
import type { Ip } from '../../names/ip.ts'
import { isPublic } from '../../names/ip-range.ts'
import { DnsError, type Referral, settled } from '../../net/dns/resolver.ts'
import type { Ctx } from '../../world.ts'
import type { Finding } from '../check.ts'

/** The delegation of a zone, and the server of the parent zone that returned it. */
export type Delegation = Referral & { readonly from: string }

/** Time limit for the single query. */
const ANSWER_MS = 3_000

/**
 * Queries one server of the parent zone (`hosts`, the first by name) for the delegation of `zone`: its address, then
 * one query (RFC 1034 §4.2.1). Undefined without an answer, and if that server is authoritative for the zone itself, so
 * that it returns no referral.
 */
export async function lookupDelegation(
  ctx: Pick<Ctx, 'resolve' | 'askServer' | 'signal'>,
  zone: string,
  hosts: readonly string[],
): Promise<Delegation | undefined> {
  const from = hosts[0]
  if (from === undefined) return undefined
  const found = await settled(ctx.resolve(from, 'A', ctx.signal))
  const address = found instanceof DnsError ? undefined : found.records.find(isPublic)
  if (address === undefined) return undefined
  const answer = await settled(ctx.askServer(address, zone, 'NS', within(ANSWER_MS, ctx.signal)))
  if (answer instanceof DnsError || answer.referral?.zone !== zone) return undefined
  return { ...answer.referral, from }
}

type Compared = {
  readonly zone: string
  readonly delegation: Delegation
  /** Every server that the zone names. */
  readonly named: readonly string[]
  /** The addresses of the checked servers, if both families are known. */
  readonly addresses: ReadonlyMap<string, readonly Ip[]>
}

/**
 * The differences between parent and zone: other servers, other addresses, or none for a server whose name is in the
 * zone (RFC 1034 §4.2.2, RFC 9471 §2.1).
 */
export function delegationFindings({ zone, delegation, named, addresses }: Compared): Finding[] {
  const { from, servers, glue } = delegation
  const onlyAbove = servers.filter((host) => !named.includes(host))
  const onlyHere = named.filter((host) => !servers.includes(host))
  const findings: Finding[] = []
  if (onlyAbove.length + onlyHere.length > 0)
    findings.push({ id: 'ns.delegation', args: { zone, from, only_above: onlyAbove, only_here: onlyHere } })
  const isInside = (host: string): boolean => host === zone || host.endsWith(`.${zone}`)
  for (const host of servers.filter(isInside)) {
    const given = glue[host]
    const known = addresses.get(host)
    if (given === undefined) findings.push({ id: 'ns.glue_missing', args: { host, zone, from } })
    else if (known && known.length > 0 && given.some((address) => !known.includes(address)))
      findings.push({ id: 'ns.glue', args: { host, from, glue: given, addresses: known } })
  }
  return findings
}
