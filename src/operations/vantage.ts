import type { z } from 'zod'
import { AppError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { parsed, problem } from '../base/parsed.ts'
import { NODE_ID } from '../names/node-id.ts'
import { agreementOf, type Vote } from '../peers/agreement.ts'
import { type Capability, type Peer, statusOf } from '../peers/peer.ts'
import { askPeer, type PeerQuestion } from './ask-peer.ts'
import type { Deps } from './deps.ts'
import type { Call } from './operation.ts'
import { textParam } from './params.ts'

/** The most nodes asked for one request. */
const MAX_NODES = 8
/** With `all`, the other nodes have twice the time that this node took, and at least this long, ms. */
const LEAST_WAIT_MS = 3_000

export const vantageParam = textParam<string>(
  'invalid_parameter',
  (text) => (NODE_ID.test(text) ? parsed(text) : problem('neither all nor the id of a node')),
  { description: 'nodes to ask too: all, or the id of one; adds what they agree on', example: 'all' },
)

export type VantageQuestion = Pick<PeerQuestion, 'path' | 'query'> & {
  readonly output: z.ZodType
  /** The field that names the subject of the request: it must be the same in every answer. */
  readonly subject: string
  readonly needs: readonly Capability[]
  /** What the nodes must agree on. */
  readonly verdict: (answer: JsonObject) => string
  readonly timeoutMs: number
}

/**
 * This node's answer; with `vantage`, other nodes are asked at the same time and `agreement` is added: `all` asks up to 8 nodes that are not dead, an id
 * that one, whose answer is then the one given. With `all` a silent node is given up after twice the time that this node took, at least 3 s. A call that came
 * from a node is answered by this one alone.
 */
export async function fromVantages(
  ctx: Call,
  deps: Deps,
  vantage: string | undefined,
  question: VantageQuestion,
  local: () => Promise<JsonObject>,
): Promise<JsonObject> {
  if (vantage === undefined || ctx.caller?.peer !== undefined) return local()
  const peers = await peersFor(ctx, deps, vantage, question.needs)
  const own = local()
  const patience = vantage === 'all' ? patienceFor(ctx, own) : { signal: ctx.signal, end: () => {} }
  const asking = { ...ctx, signal: patience.signal }
  const all = Promise.all([own, ...peers.map((peer) => askOne(asking, deps, peer, question, own))])
  const [answer, ...others] = await all.finally(patience.end)
  const votes: Vote[] = [
    { node: deps.peers.self.id, verdict: question.verdict(answer!) },
    ...others.map((other, i) => ({ node: peers[i]!.id, verdict: other && question.verdict(other) })),
  ]
  const { verdict, agree, dissent } = agreementOf(votes)
  const agreement = { verdict: verdict ?? null, agree, dissent: dissent.map((one) => ({ ...one })) }
  const [first] = others
  if (vantage === 'all' || peers.length === 0) return { ...answer, agreement }
  if (!first) throw new AppError('upstream_unavailable', `the node ${vantage} gave no answer; the log says why`)
  return { ...first, vantage, agreement }
}

/** A signal that fires when the time of the other nodes is over, counted from when `own` settles. `end` clears its timer. */
function patienceFor(ctx: Call, own: Promise<unknown>): { readonly signal: AbortSignal; readonly end: () => void } {
  const begunMs = ctx.now()
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const wait = (): void => {
    const tookMs = ctx.now() - begunMs
    const giveUp = (): void => late.abort(new DOMException('no answer in time', 'TimeoutError'))
    timer = setTimeout(giveUp, restMs(tookMs)).unref()
  }
  own.then(wait, () => {})
  return { signal: AbortSignal.any([ctx.signal, late.signal]), end: () => clearTimeout(timer) }
}

const restMs = (tookMs: number): number => Math.max(tookMs, LEAST_WAIT_MS - tookMs)

async function askOne(
  ctx: Call,
  deps: Deps,
  peer: Peer,
  question: VantageQuestion,
  own: Promise<JsonObject>,
): Promise<JsonObject | undefined> {
  const { path, query, output, timeoutMs } = question
  const asked = await askPeer(ctx, deps, peer, { path, query, output, timeoutMs, fits: () => true })
  if (!asked.ok) return undefined
  const isSame = asked.value[question.subject] === (await own)[question.subject]
  if (!isSame) ctx.log.warn('a node answered about something else', { node: peer.id })
  return isSame ? asked.value : undefined
}

async function peersFor(
  ctx: Call,
  deps: Deps,
  vantage: string,
  needs: readonly Capability[],
): Promise<readonly Peer[]> {
  const { self, ttlMs } = deps.peers
  const all = await deps.peers.all()
  if (vantage === self.id) return []
  if (vantage !== 'all') {
    const named = all.get(vantage)
    if (named) return [named]
    throw new AppError('invalid_parameter', `vantage: the node ${vantage} is not known here`, { parameter: 'vantage' })
  }
  const able = [...all.values()].filter(
    (peer) =>
      peer.id !== self.id &&
      statusOf(peer, ctx.now(), ttlMs) !== 'dead' &&
      needs.every((need) => peer.capabilities.includes(need)),
  )
  return able.sort((a, b) => b.lastSeenAtMs - a.lastSeenAtMs).slice(0, MAX_NODES)
}
