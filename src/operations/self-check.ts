import type { SelfCheckAnswer } from '../answers/pool.ts'
import { atMost } from '../base/at-most.ts'
import type { DnsRecord } from '../checks/check.ts'
import { lookupAddress } from '../checks/ptr/index.ts'
import { checkHost } from '../checks/spf/index.ts'
import type { SourcePool } from '../mailbox/source/pool.ts'
import { parseDomain } from '../names/domain.ts'
import { familyOf, type Ip, reverseName } from '../names/ip.ts'
import { isNode, isProxy, type NodeName, nodeIdOf, type SourceName } from '../names/source.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Exit } from '../net/socks/proxies.ts'
import { statusOf } from '../peers/peer.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

const MAX_SOURCES = 64
/** Maximum number of sources that are checked at the same time. */
const AT_A_TIME = 8

/** A source with the fields of one in `/v1/pool` and `/v1/doctor`. */
type CheckedSource = SelfCheckAnswer & {
  readonly source: SourceName
  readonly leavesFrom: Exit | undefined
}

type Used = Pick<Deps, 'heloName' | 'sourcePool' | 'peers'>

/**
 * Checks the sources as a mail host does: PTR, its confirmation, HELO name and SPF, also for the exit address of a
 * proxy, which is determined first; for a node, whether it can be called. Never rejects because of the DNS or a proxy.
 */
export const checkSources = (ctx: Ctx, deps: Used): Promise<CheckedSource[]> =>
  atMost(AT_A_TIME, deps.sourcePool.sources().slice(0, MAX_SOURCES), (source) => checkSource(ctx, deps, source))

async function checkSource(ctx: Ctx, deps: Used, source: SourceName): Promise<CheckedSource> {
  if (isNode(source))
    return { ...NOTHING_SEEN, source, leavesFrom: undefined, problems: await faultsOfNode(ctx, deps, source) }
  const { lie, problem } = isProxy(source) ? await examined(ctx, deps, source) : {}
  const leavesFrom = deps.sourcePool.leavesFrom(source)
  const faults = [lie, problem].filter((fault) => fault !== undefined)
  if (!leavesFrom) return { ...NOTHING_SEEN, source, leavesFrom, problems: faults }
  const check = await selfCheck(ctx, deps, leavesFrom.address)
  return { ...check, source, leavesFrom, problems: [...faults, ...check.problems] }
}

const NOTHING_SEEN: SelfCheckAnswer = {
  ptr: [],
  forward_confirmed: null,
  helo: '',
  helo_resolves: null,
  spf: 'none',
  problems: [],
  fixes: [],
}

async function examined(ctx: Ctx, { sourcePool }: Used, source: SourceName): ReturnType<SourcePool['examine']> {
  try {
    return await sourcePool.examine(source, ctx.signal)
  } catch (error) {
    if (!ctx.signal.aborted) throw error
    return { problem: 'the proxy was not queried in time' }
  }
}

async function faultsOfNode(ctx: Ctx, { peers }: Used, source: NodeName): Promise<readonly string[]> {
  const id = nodeIdOf(source)
  if (id === peers.self.id) return ['it is this node']
  const peer = (await peers.all()).get(id)
  if (!peer) return ['the node is not registered']
  const status = statusOf(peer, ctx.now(), peers.ttlMs)
  return status === 'alive' ? [] : [`the node is ${status}`]
}

/**
 * What a mail host sees of one of our source addresses, and what to publish if that is not sufficient. Null: could not
 * be determined. `spf`: the result of the address for the HELO name, from which the reverse-path is derived
 * (RFC 7208 §2.3).
 */
async function selfCheck(ctx: Ctx, { heloName }: Pick<Deps, 'heloName'>, address: Ip): Promise<SelfCheckAnswer> {
  const [ptr, helo] = await Promise.all([lookupAddress(ctx, address), heloName(address, ctx)])
  const name = parseDomain(helo)
  const leads = ptr.forward.map(({ leads }) => leads)
  const isConfirmed = ptr.error ? null : leads.includes('back') ? true : leads.includes('unknown') ? null : false
  const seen = { ptr: ptr.names, forward_confirmed: isConfirmed, helo }
  if (!name.ok) {
    const problem = ptr.error ? ptr.error.message : 'no PTR name for EHLO: set a PTR record, or set --helo'
    return { ...seen, helo_resolves: null, spf: ptr.error ? 'temperror' : 'none', problems: [problem], fixes: [] }
  }
  const [resolves, spf] = await Promise.all([
    leadsTo(ctx, name.value, address),
    checkHost(ctx, { ip: address, sender: `verify@${name.value}`, helo }),
  ])
  const judged = { ...seen, helo_resolves: resolves, spf: spf.result }
  return { ...judged, ...judge(address, judged) }
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

function judge(
  address: Ip,
  { ptr, forward_confirmed, helo, helo_resolves, spf }: Omit<SelfCheckAnswer, 'problems' | 'fixes'>,
): Pick<SelfCheckAnswer, 'problems' | 'fixes'> {
  const rtype = familyOf(address) === 4 ? 'A' : 'AAAA'
  const rows: readonly (readonly [boolean, string, DnsRecord])[] = [
    [
      ptr.length === 0 && forward_confirmed === false,
      'it has no PTR record',
      { name: reverseName(address), rtype: 'PTR', value: `${helo}.` },
    ],
    [
      ptr.length > 0 && forward_confirmed === false,
      'its PTR name does not resolve back to it',
      { name: ptr[0] ?? helo, rtype, value: address },
    ],
    [
      ptr.length > 0 && !ptr.includes(helo),
      'its PTR name is not the HELO name',
      { name: reverseName(address), rtype: 'PTR', value: `${helo}.` },
    ],
    [helo_resolves === false, `the HELO name ${helo} does not resolve to it`, { name: helo, rtype, value: address }],
    [
      !['pass', 'temperror'].includes(spf),
      `the SPF record of ${helo} gives ${spf} for it`,
      { name: helo, rtype: 'TXT', value: `v=spf1 ${familyOf(address) === 4 ? 'ip4' : 'ip6'}:${address} -all` },
    ],
  ]
  const wrong = rows.filter(([isWrong]) => isWrong)
  const fixes = new Map(wrong.map(([, , fix]) => [`${fix.name} ${fix.rtype} ${fix.value}`, fix]))
  return {
    problems: wrong.map(([, problem]) => problem),
    fixes: [...fixes.values()].map((fix) => ({ type: 'dns', action: 'add', ...fix })),
  }
}
