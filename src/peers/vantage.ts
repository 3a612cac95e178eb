import type { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import type { VantageFields } from '../answers/vantage.ts'
import { parseIp } from '../names/ip.ts'
import { isPublic } from '../names/ip-range.ts'
import type { Ctx } from '../world.ts'
import { askPeer, type PeerQuestion } from './ask.ts'
import { type Capability, type Peer, statusOf } from './peer.ts'
import { nodeError } from './problems.ts'
import type { PeerRegistry } from './registry.ts'

/** Maximum number of nodes queried for one request. */
const MAX_NODES = 8
/** With `all`, the other nodes have twice the time that this node took, and at least this long, ms. */
const LEAST_WAIT_MS = 3_000
/** When a quorum agrees, the others have this much longer, ms. */
const AFTER_QUORUM_MS = 1_000

/** How several nodes are asked about an operation. */
export type Vantage<Input, A> = {
  /** The `vantage` of the input. */
  readonly node: (input: Input) => string | undefined
  readonly needs: readonly Capability[]
  /** The input for another node, as text, and its time limit. */
  readonly question: (input: Input) => Pick<PeerQuestion<never>, 'query' | 'timeoutMs'>
  /** The subject of the question: it must be the same in every answer. */
  readonly subject: (answer: A) => string
  /** The word on which nodes must agree. */
  readonly verdict: (answer: A) => string
  /** The answer with the fields that `vantage` adds. */
  readonly add: (answer: A, fields: VantageFields) => A
}

type VantageQuestion<S extends z.ZodType> = Pick<PeerQuestion<S>, 'path' | 'schema' | 'query' | 'timeoutMs'> &
  Pick<Vantage<never, AnswerOf<S>>, 'needs' | 'subject' | 'verdict' | 'add'>

/**
 * This node's answer, with those of other nodes, asked at the same time, and their agreement. `all` asks up to 8 nodes
 * that are not dead; an id asks that one and returns its answer. With `all`, the nodes that are missing when a quorum
 * agrees have 1 s more; without a quorum, they have twice the time that this node took, at least 3 s.
 */
export async function fromVantages<S extends z.ZodType>(
  ctx: Ctx,
  peers: PeerRegistry,
  vantage: string,
  question: VantageQuestion<S>,
  local: () => Promise<AnswerOf<S>>,
): Promise<AnswerOf<S>> {
  const nodes = await nodesFor(ctx, peers, vantage, question.needs)
  const patience = vantage === 'all' ? patienceFor(ctx, nodes.length + 1) : NO_LIMIT
  const own = local()
  own.then((answer) => patience.heard({ node: peers.self.id, verdict: question.verdict(answer) }, true), ignored)
  const asking = { ...ctx, signal: AbortSignal.any([ctx.signal, ...patience.signals]) }
  const all = Promise.all([
    own,
    ...nodes.map(async (node) => {
      const answer = await askOne(asking, peers, node, question, own)
      if (answer) patience.heard({ node: node.id, verdict: question.verdict(answer) })
      return answer
    }),
  ])
  const [answer, ...others] = await all.finally(patience.end)
  const votes: Vote[] = [
    { node: peers.self.id, verdict: question.verdict(answer) },
    ...others.map((other, i) => ({ node: nodes[i]!.id, verdict: other && question.verdict(other) })),
  ]
  const { verdict, value = null, agree, disagreeing } = agreementOf(votes)
  const agreement = { verdict, value, agree, disagreeing: disagreeing.map((one) => ({ ...one })) }
  const [first] = others
  if (vantage === 'all' || nodes.length === 0) return question.add(answer, { agreement })
  if (!first) throw nodeError('no_answer', { id: vantage })
  return question.add(first, { vantage, agreement })
}

/** A rejection that another caller awaits. */
const ignored = (): void => {}

type Patience = {
  /** Fire when the time of the other nodes is over. */
  readonly signals: readonly AbortSignal[]
  /** Records the answer of a node; `isOwn`: this node's own answer. */
  readonly heard: (vote: Vote, isOwn?: boolean) => void
  readonly end: () => void
}
const NO_LIMIT: Patience = { signals: [], heard: () => {}, end: () => {} }

/**
 * How long the others are waited for: counted from this node's answer, and shorter once a quorum of the `nodes` agrees.
 */
function patienceFor(ctx: Ctx, nodes: number): Patience {
  const begunMs = ctx.monotonic()
  const late = new AbortController()
  const votes: Vote[] = []
  let timer: NodeJS.Timeout | undefined
  let isSettled = false
  const giveUpAfter = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => late.abort(new DOMException('no answer in time', 'TimeoutError')), ms).unref()
  }
  function heard(vote: Vote, isOwn = false): void {
    votes.push(vote)
    if (isSettled) return
    if (hasQuorum(votes, nodes)) {
      isSettled = true
      giveUpAfter(AFTER_QUORUM_MS)
    } else if (isOwn) giveUpAfter(restMs(ctx.monotonic() - begunMs))
  }
  return { signals: [late.signal], heard, end: () => clearTimeout(timer) }
}

const restMs = (tookMs: number): number => Math.max(tookMs, LEAST_WAIT_MS - tookMs)

async function askOne<S extends z.ZodType>(
  ctx: Ctx,
  peers: PeerRegistry,
  peer: Peer,
  question: VantageQuestion<S>,
  own: Promise<AnswerOf<S>>,
): Promise<AnswerOf<S> | undefined> {
  const { path, schema, query, timeoutMs, subject } = question
  const asked = await askPeer(ctx, peers, peer, { path, query, schema, timeoutMs, fits: () => true })
  if (!asked.ok) return undefined
  const isSame = subject(asked.value) === subject(await own)
  if (!isSame) ctx.log.warn('the answer of a node is about another target', { node: peer.id })
  return isSame ? asked.value : undefined
}

async function nodesFor(
  ctx: Ctx,
  peers: PeerRegistry,
  vantage: string,
  needs: readonly Capability[],
): Promise<readonly Peer[]> {
  const { self, ttlMs } = peers
  const all = await peers.all()
  if (vantage === self.id) return []
  if (vantage !== 'all') {
    const named = all.get(vantage)
    if (named) return [named]
    throw nodeError('not_registered', { id: vantage }, { parameter: 'vantage', at: 'vantage' })
  }
  const able = [...all.values()].filter(
    (peer) =>
      peer.id !== self.id &&
      statusOf(peer, ctx.now(), ttlMs) !== 'dead' &&
      needs.every((need) => peer.capabilities.includes(need)),
  )
  return onePerHost(able.sort((a, b) => b.lastSeenAtMs - a.lastSeenAtMs)).slice(0, MAX_NODES)
}

/**
 * One machine has one vote: only the first of the nodes at one host; hosts without a public address (labs) may have
 * several.
 */
function onePerHost(peers: readonly Peer[]): readonly Peer[] {
  const hosts = new Set<string>()
  return peers.filter(({ url }) => {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
    const address = parseIp(host)
    if (host === 'localhost' || (address.ok && !isPublic(address.value))) return true
    const isFirst = !hosts.has(host)
    hosts.add(host)
    return isFirst
  })
}

/** The answer of one node; undefined: it failed or was not received in time. */
export type Vote = { readonly node: string; readonly verdict: string | undefined }

type Agreement = {
  /** `insufficient`: too few nodes answered for a quorum; `split`: enough answered, but too few of them agree. */
  readonly verdict: 'consistent' | 'split' | 'insufficient'
  /** The answer of a quorum; undefined if there is none. */
  readonly value: string | undefined
  /** `3/4`: nodes that gave the most frequent answer, of all queried nodes. */
  readonly agree: string
  /** The other nodes, with their answers (null: none). */
  readonly disagreeing: readonly { readonly node: string; readonly verdict: string | null }[]
}

/** How many of this number of nodes may disagree or fail: one of up to 5, two from 6 on. */
const allowedOf = (nodes: number): number => (nodes >= 6 ? 2 : 1)

/** How many nodes must agree: all except those that may disagree or fail, and at least two. */
const quorumOf = (nodes: number): number => Math.max(2, nodes - allowedOf(nodes))

/**
 * The combined answer of several nodes. Of up to 5 nodes one may disagree or fail, from 6 on two: a lying or dead node
 * never determines the value. Two nodes that differ give none, because either could be wrong.
 */
export function agreementOf(votes: readonly Vote[]): Agreement {
  const { word, count, answered } = tallied(votes)
  const quorum = quorumOf(votes.length)
  const verdict = answered < quorum ? 'insufficient' : count >= quorum ? 'consistent' : 'split'
  return {
    verdict,
    value: verdict === 'consistent' ? word : undefined,
    agree: `${count}/${votes.length}`,
    disagreeing: votes
      .filter((vote) => vote.verdict === undefined || vote.verdict !== word)
      .map((vote) => ({ node: vote.node, verdict: vote.verdict ?? null })),
  }
}

/** Whether `heard`, of `nodes` queried nodes, already agree, whatever the others answer. */
export const hasQuorum = (heard: readonly Vote[], nodes: number): boolean => tallied(heard).count >= quorumOf(nodes)

/** The most frequent answer (of equals the first one), how many gave it, and how many answered at all. */
function tallied(votes: readonly Vote[]): {
  readonly word: string | undefined
  readonly count: number
  readonly answered: number
} {
  const counts = new Map<string, number>()
  for (const { verdict } of votes) if (verdict !== undefined) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
  const [word, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [undefined, 0]
  return { word, count, answered: votes.filter((vote) => vote.verdict !== undefined).length }
}
