import { type VerifyAnswer, verifyAnswer } from '../answers/verify.ts'
import { AppError } from '../base/errors.ts'
import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { printable } from '../base/text.ts'
import { anotherSourceMayHelp, outcomeOf, REASONS, type Reason } from '../mailbox/reasons.ts'
import { formatEmail, parseEmail } from '../names/email.ts'
import type { Peer } from '../peers/peer.ts'
import { askPeer } from './ask-peer.ts'
import type { Deps } from './deps.ts'
import type { Call } from './operation.ts'

/** The most nodes asked for one verification. */
const MAX_NODES = 3
/** With less time left no other node is asked, ms: the least `timeout` of a verification. */
const LEAST_MS = 1_000

/** What is believed of another node's verification. */
const believed = verifyAnswer.extend({ attempts: verifyAnswer.shape.attempts.max(100) })

export type Elsewhere = {
  readonly peer: string | undefined
  readonly pool: boolean
  /** The other parameters for another node, as text. */
  readonly query: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
}

/**
 * Verifies here and, where it is asked for, from other nodes. `peer` names one; `auto` is the least loaded of them, or this one when none of 3 answers: a node
 * gets at most half of the time that is left. With `pool`, when every source address here was refused because of itself, up to 3 nodes are asked in the time that
 * is left. `here` is told how many ms it has. A call that came from a node ends here.
 */
export async function verifyElsewhere(
  ctx: Call,
  deps: Pick<Deps, 'peers'>,
  asked: Elsewhere,
  here: (timeoutMs: number) => Promise<VerifyAnswer>,
): Promise<VerifyAnswer> {
  const begunMs = ctx.now()
  const leftMs = (): number => Math.max(LEAST_MS, asked.timeoutMs - (ctx.now() - begunMs))
  if (ctx.caller?.peer !== undefined || asked.peer === deps.peers.self.id) return here(asked.timeoutMs)
  if (asked.peer !== undefined && asked.peer !== 'auto') return fromNamed(ctx, deps, asked, asked.peer)
  if (asked.peer === 'auto') {
    const other = await fromNodes(ctx, deps, asked, { begunMs, isLast: () => false, isEnough: () => true })
    return other ?? here(leftMs())
  }
  const own = await here(asked.timeoutMs)
  if (!asked.pool || own.result !== 'blocked' || !mayHelpElsewhere(own.reason)) return own
  const other = await fromNodes(ctx, deps, asked, {
    begunMs,
    isLast: (rest) => rest === 0,
    isEnough: ({ result }) => result !== 'blocked',
  })
  return other ? joined(own, other, ctx.now() - begunMs) : own
}

async function fromNamed(ctx: Call, deps: Pick<Deps, 'peers'>, asked: Elsewhere, id: string): Promise<VerifyAnswer> {
  const peer = (await deps.peers.all()).get(id)
  if (!peer) throw new AppError('invalid_parameter', `peer: the node ${id} is not known here`, { parameter: 'peer' })
  const answer = await verifyAt(ctx, deps, peer, asked, asked.timeoutMs)
  if (!answer.ok)
    throw new AppError('upstream_unavailable', `the node ${id} did not verify: ${answer.problem}`, {
      parameter: 'peer',
    })
  return answer.value
}

type Search = {
  readonly begunMs: number
  /** Whether a node may use all the time that is left, when `rest` nodes come after it. */
  readonly isLast: (rest: number) => boolean
  readonly isEnough: (answer: VerifyAnswer) => boolean
}

/** The first answer that is enough, of up to 3 nodes asked one after the other; a node that is not the last gets half of the time that is left. */
async function fromNodes(
  ctx: Call,
  deps: Pick<Deps, 'peers'>,
  asked: Elsewhere,
  { begunMs, isLast, isEnough }: Search,
): Promise<VerifyAnswer | undefined> {
  const nodes = (await deps.peers.choose('verify')).slice(0, MAX_NODES)
  for (const [i, node] of nodes.entries()) {
    const leftMs = asked.timeoutMs - (ctx.now() - begunMs)
    const shareMs = isLast(nodes.length - 1 - i) ? leftMs : leftMs / 2
    if (shareMs < LEAST_MS) return undefined
    const answer = await verifyAt(ctx, deps, node, asked, shareMs)
    if (answer.ok && isEnough(answer.value)) return answer.value
  }
  return undefined
}

async function verifyAt(
  ctx: Call,
  deps: Pick<Deps, 'peers'>,
  peer: Peer,
  asked: Elsewhere,
  timeoutMs: number,
): Promise<Parsed<VerifyAnswer>> {
  const wholeMs = Math.max(LEAST_MS, Math.floor(timeoutMs))
  const answer = await askPeer(ctx, deps.peers, peer, {
    path: '/v1/verify',
    query: { ...asked.query, pool: 'true', timeout: `${wholeMs}ms` },
    schema: believed,
    fits: (got) => isSameAddress(got.email, asked.query.email ?? ''),
    timeoutMs: wholeMs + LEAST_MS / 2,
  })
  if (!answer.ok) return answer
  const said = answer.value
  if (!addsUp(said)) return problem('its result does not follow from its reason')
  return parsed({ ...said, message: printable(said.message), peer: peer.id })
}

const isReason = (text: string): text is Reason => REASONS.some((reason) => reason === text)

const mayHelpElsewhere = (reason: string): boolean => isReason(reason) && anotherSourceMayHelp(reason, true)

/** Whether result and deliverability follow from the reason; an answer in which they do not is ignored. */
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

/** Whether two texts are one address: it is answered in its printed form, in which the domain may be written otherwise. What is no address must be equal. */
function isSameAddress(a: string, b: string): boolean {
  if (a.trim() === b.trim()) return true
  const [one, other] = [parseEmail(a), parseEmail(b)]
  return one.ok && other.ok && formatEmail(one.value) === formatEmail(other.value)
}

/** The answer of another node, with the attempts made here before it. */
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
