import type { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { readKnown } from '../answers/read-answer.ts'
import { within } from '../base/deadline.ts'
import { isJsonRecord, type Json } from '../base/json.ts'
import { type Parsed, problem } from '../base/parsed.ts'
import { nodeProblem } from '../mailbox/problems.ts'
import { FetchError } from '../net/fetch.ts'
import type { Peer } from '../peers/peer.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

/** A question to another node: one of our operations with its parameters as text. */
export type PeerQuestion<S extends z.ZodType> = {
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  /** The shape that a valid answer must have. */
  readonly schema: S
  /** Whether a valid answer is about the question. */
  readonly fits: (answer: AnswerOf<S>) => boolean
  readonly timeoutMs: number
}

/**
 * Asks one node. A problem says what went wrong: no answer, an error, a wrong shape, an answer about something else. Callers must not forward a call of
 * another node.
 */
export async function askPeer<S extends z.ZodType>(
  ctx: Ctx,
  peers: Deps['peers'],
  peer: Peer,
  question: PeerQuestion<S>,
): Promise<Parsed<AnswerOf<S>>> {
  const answer = await answerOf(ctx, peers, peer, question)
  if (!answer.ok) ctx.log.warn('a node could not be asked', { node: peer.id, reason: answer.problem.text })
  return answer
}

async function answerOf<S extends z.ZodType>(
  ctx: Ctx,
  peers: Deps['peers'],
  peer: Peer,
  question: PeerQuestion<S>,
): Promise<Parsed<AnswerOf<S>>> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(question.query)) if (value !== undefined) query.set(name, value)
  try {
    const signal = within(question.timeoutMs, ctx.signal)
    const { status, body } = await peers.ask(peer, `${question.path}?${query}`, signal)
    if (status !== 200) return problem(nodeProblem('status', { status, detail: detailOf(body) }))
    const known = readKnown(question.schema, body)
    if (!known.ok) return problem(nodeProblem('invalid_answer', { why: known.problem }))
    return question.fits(known.value) ? known : problem(nodeProblem('other_question'))
  } catch (error) {
    if (error instanceof FetchError) return problem(nodeProblem('unreachable', { why: error.problem }))
    throw error
  }
}

const detailOf = (body: Json): string => (isJsonRecord(body) ? String(body.detail ?? '') : '')
