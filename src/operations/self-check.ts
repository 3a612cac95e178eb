import type { SelfCheckAnswer } from '../answers/pool.ts'
import { atMost } from '../base/at-most.ts'
import type { DnsRecord } from '../checks/check.ts'
import { lookupAddress } from '../checks/ptr/index.ts'
import { checkHost } from '../checks/spf/index.ts'
import { parseDomain } from '../names/domain.ts'
import { familyOf, type Ip, reverseName } from '../names/ip.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

/** Addresses that are looked at, and at a time. */
const MAX_ADDRESSES = 64
const AT_A_TIME = 8

/** What a mail host will see of one of our source addresses, and what to publish where that falls short. Null: could not be found out. */
export type SelfCheck = {
  readonly address: Ip
  readonly ptr: readonly string[]
  readonly forwardConfirmed: boolean | null
  /** The name for EHLO; an address literal where there is none. */
  readonly helo: string
  /** Whether the HELO name leads to the address. */
  readonly heloResolves: boolean | null
  /** What SPF says of this address for the HELO name, which the reverse-path is made of (RFC 7208 §2.3). */
  readonly spf: string
  readonly problems: readonly string[]
  readonly fixes: readonly DnsRecord[]
}

/** Looks at the source addresses as a mail host does: PTR, its confirmation, HELO name and SPF belong together. Never rejects because of the DNS. */
export const selfChecks = (ctx: Ctx, deps: Pick<Deps, 'heloName'>, addresses: readonly Ip[]): Promise<SelfCheck[]> =>
  atMost(AT_A_TIME, addresses.slice(0, MAX_ADDRESSES), (address) => selfCheck(ctx, deps, address))

async function selfCheck(ctx: Ctx, { heloName }: Pick<Deps, 'heloName'>, address: Ip): Promise<SelfCheck> {
  const [ptr, helo] = await Promise.all([lookupAddress(ctx, address), heloName(address, ctx)])
  const name = parseDomain(helo)
  const leads = ptr.forward.map(({ leads }) => leads)
  const forwardConfirmed = ptr.error ? null : leads.includes('back') ? true : leads.includes('unknown') ? null : false
  const seen = { address, ptr: ptr.names, forwardConfirmed, helo }
  if (!name.ok) {
    const problem = ptr.error ? ptr.error.message : 'it has no PTR name to greet with: set one, or name --helo'
    return { ...seen, heloResolves: null, spf: ptr.error ? 'temperror' : 'none', problems: [problem], fixes: [] }
  }
  const [forward, spf] = await Promise.all([
    leadsTo(ctx, name.value, address),
    checkHost(ctx, { ip: address, sender: `verify@${name.value}`, helo }),
  ])
  return { ...seen, heloResolves: forward, spf: spf.result, ...judged(seen, forward, spf.result) }
}

async function leadsTo(ctx: Ctx, name: string, address: Ip): Promise<boolean | null> {
  try {
    const { records } = await ctx.resolve(name, familyOf(address) === 4 ? 'A' : 'AAAA', ctx.signal)
    return records.includes(address)
  } catch (error) {
    if (error instanceof DnsError) return null
    throw error
  }
}

function judged(
  seen: Pick<SelfCheck, 'address' | 'ptr' | 'forwardConfirmed' | 'helo'>,
  heloResolves: boolean | null,
  spf: string,
): Pick<SelfCheck, 'problems' | 'fixes'> {
  const { address, helo } = seen
  const rtype = familyOf(address) === 4 ? 'A' : 'AAAA'
  const rows: readonly (readonly [boolean, string, DnsRecord])[] = [
    [
      seen.ptr.length === 0 && seen.forwardConfirmed === false,
      'it has no PTR record',
      { name: reverseName(address), rtype: 'PTR', value: `${helo}.` },
    ],
    [
      seen.ptr.length > 0 && seen.forwardConfirmed === false,
      'its PTR name does not lead back to it',
      { name: seen.ptr[0] ?? helo, rtype, value: address },
    ],
    [
      seen.ptr.length > 0 && !seen.ptr.includes(helo),
      'its PTR name is not the HELO name',
      { name: reverseName(address), rtype: 'PTR', value: `${helo}.` },
    ],
    [heloResolves === false, `the HELO name ${helo} does not lead to it`, { name: helo, rtype, value: address }],
    [
      !['pass', 'temperror'].includes(spf),
      `SPF of ${helo} says ${spf} for it`,
      { name: helo, rtype: 'TXT', value: `v=spf1 ${familyOf(address) === 4 ? 'ip4' : 'ip6'}:${address} -all` },
    ],
  ]
  const wrong = rows.filter(([isWrong]) => isWrong)
  const fixes = new Map(wrong.map(([, , fix]) => [`${fix.name} ${fix.rtype} ${fix.value}`, fix]))
  return { problems: wrong.map(([, problem]) => problem), fixes: [...fixes.values()] }
}

/** The fields of one address in `/v1/pool` and `/v1/doctor`. */
export const presentSelfCheck = (check: SelfCheck): SelfCheckAnswer => ({
  ptr: check.ptr,
  forward_confirmed: check.forwardConfirmed,
  helo: check.helo,
  helo_resolves: check.heloResolves,
  spf: check.spf,
  problems: check.problems,
  fixes: check.fixes.map((fix) => ({ type: 'dns', ...fix })),
})
