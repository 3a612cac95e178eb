import type { z } from 'zod'
import { verifyAnswer } from '../answers/verify.ts'
import { AppError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { printable } from '../base/text.ts'
import { anotherSourceMayHelp, outcomeOf, REASONS, type Reason } from '../mailbox/reasons.ts'
import type { Peer } from '../peers/peer.ts'
import { askPeer } from './ask-peer.ts'
import type { Deps } from './deps.ts'
import type { Call } from './operation.ts'

/** Nodes that one verification goes on to at most. */
const MAX_NODES = 3
/** Less time than this is not worth a call to another node, ms: it is the least `timeout` of a verification. */
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
 * Verifies here and, where it is asked for, from other nodes: `peer` names one (`auto`: the least loaded, or this one where there is none); with `pool`, when every
 * source address here was refused because of itself, up to 3 nodes are asked in the time that is left. A call that came from a node ends here.
 */
export async function verifyElsewhere(
  ctx: Call,
  deps: Deps,
  asked: Elsewhere,
  here: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const begun = ctx.now()
  if (ctx.caller?.peer !== undefined || asked.peer === deps.peers.self.id) return here()
  if (asked.peer !== undefined && asked.peer !== 'auto') return fromNamed(ctx, deps, asked, asked.peer)
  if (asked.peer === 'auto') return (await fromNodes(ctx, deps, asked, begun, () => true))?.answer ?? here()
  const own = await here()
  if (!asked.pool || own.result !== 'blocked' || !anotherSourceMayHelp(own.reason as Reason, true)) return own
  const other = await fromNodes(ctx, deps, asked, begun, ({ result }) => result !== 'blocked')
  return other ? joined(own, other.answer, ctx.now() - begun) : own
}

async function fromNamed(ctx: Call, deps: Deps, asked: Elsewhere, id: string): Promise<JsonObject> {
  const peer = (await deps.peers.all()).get(id)
  if (!peer) throw new AppError('invalid_parameter', `peer: the node ${id} is not known here`, { parameter: 'peer' })
  const answer = await verifyAt(ctx, deps, peer, asked, asked.timeoutMs)
  if (!answer.ok)
    throw new AppError('upstream_unavailable', `the node ${id} did not verify: ${answer.problem}`, {
      parameter: 'peer',
    })
  return answer.value
}

async function fromNodes(
  ctx: Call,
  deps: Deps,
  asked: Elsewhere,
  begunMs: number,
  isEnough: (answer: JsonObject) => boolean,
): Promise<{ readonly answer: JsonObject } | undefined> {
  const nodes = await deps.peers.choose('verify')
  for (const node of nodes.slice(0, MAX_NODES)) {
    const leftMs = asked.timeoutMs - (ctx.now() - begunMs)
    if (leftMs < LEAST_MS) return undefined
    const answer = await verifyAt(ctx, deps, node, asked, leftMs)
    if (answer.ok && isEnough(answer.value)) return { answer: answer.value }
  }
  return undefined
}

async function verifyAt(ctx: Call, deps: Deps, peer: Peer, asked: Elsewhere, timeoutMs: number) {
  const wholeMs = Math.max(LEAST_MS, Math.floor(timeoutMs))
  const answer = await askPeer(ctx, deps, peer, {
    path: '/v1/verify',
    query: { ...asked.query, pool: 'true', timeout: `${wholeMs}ms` },
    output: believed,
    fits: (got) => got.email === asked.query.email?.trim() || isSameAddress(got.email, asked.query.email),
    timeoutMs: wholeMs + LEAST_MS / 2,
  })
  if (!answer.ok) return answer
  const said = believed.parse(answer.value)
  if (!addsUp(said)) return { ok: false as const, problem: 'its result does not follow from its reason' }
  return { ok: true as const, value: { ...said, message: printable(said.message), peer: peer.id } as JsonObject }
}

/** The result and what to expect follow from the reason: a node that says otherwise is not believed. */
function addsUp({
  reason,
  code,
  result,
  deliverability,
}: Pick<z.output<typeof believed>, 'reason' | 'code' | 'result' | 'deliverability'>): boolean {
  if (!(REASONS as readonly string[]).includes(reason)) return false
  const outcome = outcomeOf(reason as Reason, code)
  return outcome.result === result && outcome.deliverability === deliverability
}

/** An address is answered in its printed form, which may differ in the case and the form of the domain. */
const isSameAddress = (a: unknown, b: string | undefined): boolean =>
  typeof a === 'string' && b !== undefined && localOf(a) === localOf(b)
const localOf = (email: string): string => email.trim().slice(0, email.trim().lastIndexOf('@')).toLowerCase()

/** What another node found, with what was tried here before it. */
function joined(own: JsonObject, other: JsonObject, durationMs: number): JsonObject {
  const { disposable, free, is_role, role, suggestion, checked } = own
  const attempts = [...list(own.attempts), ...list(other.attempts).map((one) => ({ ...one, peer: other.peer }))]
  return {
    ...other,
    ...{ disposable, free, is_role, role, suggestion, checked },
    attempts,
    duration_ms: Math.max(0, Math.round(durationMs)),
  }
}

const list = (value: JsonObject[string]): readonly JsonObject[] => (Array.isArray(value) ? value : [])
