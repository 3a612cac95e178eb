import type { GeoAnswer } from '../answers/peers.ts'
import { type VerifyAnswer, verifyAnswer } from '../answers/verify.ts'
import { atMost } from '../base/at-most.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { printable } from '../base/text.ts'
import type { LookupGeo } from '../geo/geo.ts'
import { firstDestination } from '../mailbox/attempt/destinations.ts'
import type { AskNode } from '../mailbox/attempt/state.ts'
import { nodeProblem } from '../mailbox/problems.ts'
import { anotherSourceMayHelp, isReason, outcomeOf } from '../mailbox/reasons.ts'
import { type SourceEvent, sourceEvent } from '../mailbox/source/circuit-breaker.ts'
import type { Verifier } from '../mailbox/verify.ts'
import { formatEmail, parseEmail } from '../names/email.ts'
import type { Ip } from '../names/ip.ts'
import { nodeIdOf, nodeName } from '../names/source.ts'
import type { Ctx } from '../world.ts'
import { askPeer } from './ask.ts'
import { type Peer, statusOf } from './peer.ts'
import { nodeError } from './problems.ts'
import type { PeerRegistry } from './registry.ts'

/** Maximum number of nodes queried for one verification. */
const MAX_NODES = 3
/** With less time left no other node is asked, ms: the minimum `timeout` of a verification. */
const LEAST_MS = 1_000

/** The parts of another node's verification that are used. */
const believed = verifyAnswer.extend({ attempts: verifyAnswer.shape.attempts.max(100) })

type Elsewhere = {
  readonly peer: string | undefined
  readonly email: string
  readonly pool: boolean
  /** The parameters for another node, as text. */
  readonly query: () => Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
}

/**
 * Verifies here and, if requested, from other nodes. `peer` names one; `auto` is the best for the provider of the mail
 * host ({@link nearestNodes}), or this one if none of 3 answers: a node gets at most half of the remaining time. With
 * `pool`, if every source here was refused because of the source, up to 3 nodes are asked in the remaining time. `here`
 * gets its time limit in ms. A call from another node is not forwarded.
 */
export async function verifyElsewhere(
  ctx: Call,
  deps: Used,
  asked: Elsewhere,
  here: (timeoutMs: number) => Promise<VerifyAnswer>,
): Promise<VerifyAnswer> {
  const begunMs = ctx.monotonic()
  const leftMs = (): number => Math.max(LEAST_MS, asked.timeoutMs - (ctx.monotonic() - begunMs))
  if (ctx.caller?.peer !== undefined || asked.peer === deps.peers.self.id) return here(asked.timeoutMs)
  if (asked.peer !== undefined && asked.peer !== 'auto') return fromNamed(ctx, deps, asked, asked.peer)
  if (asked.peer === 'auto') {
    const other = await fromNodes(ctx, deps, asked, { begunMs, isLast: () => false, isEnough: () => true, tried: [] })
    return other ?? here(leftMs())
  }
  const own = await here(asked.timeoutMs)
  if (!asked.pool || own.result !== 'blocked' || !mayHelpElsewhere(own.reason)) return own
  const other = await fromNodes(ctx, deps, asked, {
    begunMs,
    isLast: (rest) => rest === 0,
    isEnough: ({ result }) => result !== 'blocked',
    tried: own.attempts.flatMap(({ peer }) => peer ?? []),
  })
  return other ? joined(own, other, ctx.monotonic() - begunMs) : own
}

/** The world for a call; `caller.peer` is the node that makes it. */
type Call = Ctx & { readonly caller?: { readonly peer?: string } }
type Used = { readonly peers: PeerRegistry; readonly geo: LookupGeo; readonly verifier: Verifier }

async function fromNamed(ctx: Call, deps: Used, asked: Elsewhere, id: string): Promise<VerifyAnswer> {
  const peer = (await deps.peers.all()).get(id)
  if (!peer) throw nodeError('not_registered', { id }, { parameter: 'peer', at: 'peer' })
  const answer = await verifyAt(ctx, deps.peers, peer, asked, asked.timeoutMs)
  if (!answer.ok) throw nodeError('not_verified', { id, why: answer.problem }, { parameter: 'peer' })
  return answer.value
}

type Search = {
  readonly begunMs: number
  /** Whether a node may use all of the remaining time, with `rest` nodes after it. */
  readonly isLast: (rest: number) => boolean
  readonly isEnough: (answer: VerifyAnswer) => boolean
  /** Nodes that were already asked. */
  readonly tried: readonly string[]
}

/**
 * The first sufficient answer, of up to 3 nodes asked in turn; a node that is not the last gets half of the remaining
 * time.
 */
async function fromNodes(
  ctx: Call,
  deps: Used,
  asked: Elsewhere,
  { begunMs, isLast, isEnough, tried }: Search,
): Promise<VerifyAnswer | undefined> {
  const alive = (await deps.peers.choose('verify')).filter(({ id }) => !tried.includes(id))
  if (alive.length === 0) return undefined
  const email = parseEmail(asked.email)
  const to = email.ok ? await firstDestination(ctx, email.value.domain) : undefined
  const nodes = (await nearestNodes(deps, alive, to)).slice(0, MAX_NODES)
  for (const [i, node] of nodes.entries()) {
    const leftMs = asked.timeoutMs - (ctx.monotonic() - begunMs)
    const shareMs = isLast(nodes.length - 1 - i) ? leftMs : leftMs / 2
    if (shareMs < LEAST_MS) return undefined
    const use = to && deps.verifier.sources.begin(nodeName(node.id), to.provider, false)
    if (use?.ok === false) continue // its trial has started in the meantime
    const answer = await verifyAt(ctx, deps.peers, node, asked, shareMs)
    use?.end(eventOf(answer, ctx.signal.aborted))
    if (answer.ok && isEnough(answer.value)) return answer.value
  }
  return undefined
}

/** What the answer of a node shows about it as a source. */
function eventOf(answer: Parsed<VerifyAnswer>, isAborted: boolean): SourceEvent {
  if (isAborted) return { kind: 'unanswered' }
  if (!answer.ok) return { kind: 'failed', reason: 'network_unreachable', text: answer.problem.text }
  const { reason, message: text, duration_ms: latencyMs } = answer.value
  return isReason(reason) ? sourceEvent({ reason, text, latencyMs }, true) : { kind: 'unanswered' }
}

/** Makes a node of the pool verify, for a verification of this node. */
export const askNodeOf =
  (peers: PeerRegistry): AskNode =>
  async (ctx, { node, email, timeoutMs }) => {
    const id = nodeIdOf(node)
    if (id === peers.self.id) return problem(nodeProblem('this_node'))
    const peer = (await peers.all()).get(id)
    if (!peer) return problem(nodeProblem('not_registered'))
    if (statusOf(peer, ctx.now(), peers.ttlMs) === 'dead') return problem(nodeProblem('dead'))
    if (!peer.capabilities.includes('verify')) return problem(nodeProblem('no_capability'))
    return verifyAt(ctx, peers, peer, { email, query: () => ({ email, max_age: '0' }) }, timeoutMs)
  }

async function verifyAt(
  ctx: Ctx,
  peers: PeerRegistry,
  peer: Peer,
  asked: Pick<Elsewhere, 'email' | 'query'>,
  timeoutMs: number,
): Promise<Parsed<VerifyAnswer>> {
  const wholeMs = Math.max(LEAST_MS, Math.floor(timeoutMs))
  const answer = await askPeer(ctx, peers, peer, {
    path: '/v1/verify',
    query: { ...asked.query(), pool: 'true', timeout: `${wholeMs}ms` },
    schema: believed,
    fits: (got) => isSameAddress(got.email, asked.email),
    timeoutMs: wholeMs + LEAST_MS / 2,
  })
  if (!answer.ok) return answer
  const said = answer.value
  if (!addsUp(said)) return problem(nodeProblem('contradiction'))
  return parsed({ ...said, message: printable(said.message), peer: peer.id })
}

const mayHelpElsewhere = (reason: string): boolean => isReason(reason) && anotherSourceMayHelp(reason, true)

/** Whether result and deliverability match the reason; an answer in which they do not is ignored. */
function addsUp({
  reason,
  code,
  result,
  deliverability,
}: Pick<VerifyAnswer, 'reason' | 'code' | 'result' | 'deliverability'>): boolean {
  if (!isReason(reason)) return false
  const outcome = outcomeOf(reason, code)
  return outcome.result === result && outcome.deliverability === deliverability
}

/**
 * Whether two texts are the same address: answers contain the formatted address, in which the domain may be written
 * differently. Invalid addresses must be equal.
 */
function isSameAddress(a: string, b: string): boolean {
  if (a.trim() === b.trim()) return true
  const [one, other] = [parseEmail(a), parseEmail(b)]
  return one.ok && other.ok && formatEmail(one.value) === formatEmail(other.value)
}

/** The answer of another node, with the earlier attempts made here. */
function joined(own: VerifyAnswer, other: VerifyAnswer, durationMs: number): VerifyAnswer {
  const { disposable, free, is_role, role, suggestion, checked } = own
  const attempts = [...own.attempts, ...other.attempts.map((one) => ({ ...one, peer: other.peer }))]
  return {
    ...other,
    ...{ disposable, free, is_role, role, suggestion, checked },
    attempts,
    duration_ms: Math.max(0, Math.round(durationMs)),
  }
}

/** Distances that differ by less count as equal, so that the load decides, km. */
const STEP_KM = 500
/** The assumed distance if only countries or continents are known, and if nothing is, in steps. */
const SAME_COUNTRY = 1
const SAME_CONTINENT = 6
const ELSEWHERE = 16
const UNKNOWN = 17
/** Maximum number of nodes that are located at the same time. */
const AT_A_TIME = 8

/**
 * The nodes that may verify a mailbox, best first: by their state toward the provider of the mail host, then by the
 * distance between node and mail host, then in their order (by load). Nodes in a cooldown toward the provider are left
 * out. Without a destination the order stays.
 */
export async function nearestNodes(
  { geo, verifier }: Pick<Used, 'geo' | 'verifier'>,
  nodes: readonly Peer[],
  to: Awaited<ReturnType<typeof firstDestination>>,
): Promise<readonly Peer[]> {
  if (!to) return nodes
  await verifier.sources.load()
  const there = await geo(to.address)
  const ranked = await atMost(AT_A_TIME, nodes, async (node) => ({
    node,
    health: verifier.sources.health(nodeName(node.id), to.provider),
    steps: await stepsTo(geo, node.addresses[0], there),
  }))
  return ranked
    .filter(({ health }) => health < 3)
    .toSorted((a, b) => a.health - b.health || a.steps - b.steps)
    .map(({ node }) => node)
}

async function stepsTo(geo: LookupGeo, address: Ip | undefined, there: GeoAnswer): Promise<number> {
  return address === undefined ? UNKNOWN : distanceSteps(await geo(address), there)
}

type Place = Pick<GeoAnswer, 'country' | 'continent' | 'latitude' | 'longitude'>

/** The distance between two places, in steps of 500 km; by country or continent if only that is known. */
export function distanceSteps(a: Place, b: Place): number {
  const [from, to] = [pointOf(a), pointOf(b)]
  if (from && to) return Math.floor(kmBetween(from, to) / STEP_KM)
  if (a.country === null || b.country === null) return UNKNOWN
  if (a.country === b.country) return SAME_COUNTRY
  return a.continent !== null && a.continent === b.continent ? SAME_CONTINENT : ELSEWHERE
}

type Point = { readonly latitude: number; readonly longitude: number }
const pointOf = ({ latitude, longitude }: Place): Point | undefined =>
  latitude === null || longitude === null ? undefined : { latitude, longitude }

const EARTH_KM = 6_371
/** The great-circle distance, by the haversine formula. */
function kmBetween(a: Point, b: Point): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180
  const [lat1, lat2] = [radians(a.latitude), radians(b.latitude)]
  const half =
    Math.sin((lat2 - lat1) / 2) ** 2 +
    Math.cos(lat1) * Math.cos(lat2) * Math.sin(radians(b.longitude - a.longitude) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(half)))
}
