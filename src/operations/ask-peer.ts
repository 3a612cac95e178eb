import type { z } from 'zod'
import { readKnown } from '../answers/read-answer.ts'
import { within } from '../base/deadline.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { printable } from '../base/text.ts'
import { FetchError } from '../net/fetch.ts'
import type { Peer } from '../peers/peer.ts'
import type { Deps } from './deps.ts'
import type { Call } from './operation.ts'

/** A question for another node: one of our operations with its parameters as text. */
export type PeerQuestion = {
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  /** The shape that an answer must have to be believed. */
  readonly output: z.ZodType
  /** Whether an answer in order is about what was asked. */
  readonly fits: (answer: JsonObject) => boolean
  readonly timeoutMs: number
}

/** Asks one node. A problem says what went wrong: no answer, an error, a wrong shape, an answer about something else. Callers never pass on a call of another node. */
export async function askPeer(ctx: Call, deps: Deps, peer: Peer, question: PeerQuestion): Promise<Parsed<JsonObject>> {
  const answer = await answerOf(ctx, deps, peer, question)
  if (!answer.ok) ctx.log.warn('a node could not be asked', { node: peer.id, reason: answer.problem })
  return answer
}

async function answerOf(ctx: Call, deps: Deps, peer: Peer, question: PeerQuestion): Promise<Parsed<JsonObject>> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(question.query)) if (value !== undefined) query.set(name, value)
  try {
    const signal = within(question.timeoutMs, ctx.signal)
    const { status, body } = await deps.peers.ask(peer, `${question.path}?${query}`, signal)
    if (!isJsonObject(body)) return problem('the answer is no object')
    const answer = body
    if (status !== 200) return problem(printable(`it answered ${status}: ${String(answer.detail ?? '')}`, 200))
    const known = readKnown(question.output, answer)
    if (!known.ok) return problem(`its answer is not as it should be: ${known.problem}`)
    return question.fits(answer)
      ? parsed(known.value as JsonObject)
      : problem('the answer is not one to what was asked')
  } catch (error) {
    if (error instanceof FetchError) return problem(printable(error.message, 200))
    throw error
  }
}
