import type { z } from 'zod'
import type { AnswerOf } from '../answers/answer.ts'
import { readKnown } from '../answers/read-answer.ts'
import { within } from '../base/deadline.ts'
import { isJsonRecord, type Json } from '../base/json.ts'
import { type Parsed, problem } from '../base/problem.ts'
import { nodeProblem } from '../mailbox/problems.ts'
import type { Ip } from '../names/ip.ts'
import { FetchError } from '../net/fetch.ts'
import { addressesOf } from '../net/guarded-request.ts'
import type { Ctx } from '../world.ts'
import type { Peer } from './peer.ts'
import { nodeError } from './problems.ts'
import type { PeerRegistry } from './registry.ts'

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
 * Asks one node. A problem says what went wrong: no answer, an error, a wrong shape, an answer about something else.
 * Callers must not forward a call of another node.
 */
export async function askPeer<S extends z.ZodType>(
  ctx: Ctx,
  peers: PeerRegistry,
  peer: Peer,
  question: PeerQuestion<S>,
): Promise<Parsed<AnswerOf<S>>> {
  const answer = await answerOf(ctx, peers, peer, question)
  if (!answer.ok) ctx.log.warn('a node could not be asked', { node: peer.id, reason: answer.problem.text })
  return answer
}

async function answerOf<S extends z.ZodType>(
  ctx: Ctx,
  peers: PeerRegistry,
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

/**
 * Refuses the URL of a node that could not be called: private and reserved addresses, and plain HTTP, except in
 * networks that the operator allowed. A name that cannot be resolved now is accepted (HTTPS only), because its
 * addresses are checked again at every call. Throws AppError `invalid_parameter`, which names `parameter`.
 */
export async function refusePrivateUrl(
  ctx: Ctx,
  deps: { readonly mayCall: (url: URL, address: Ip) => boolean },
  origin: string,
  parameter = 'url',
): Promise<void> {
  const url = new URL(origin)
  const at = { parameter, at: parameter }
  const { hostname: host } = url
  const addresses = isLoopbackName(host)
    ? []
    : await addressesOf(ctx.resolve, url, ctx.signal).catch((error: unknown) => {
        if (error instanceof FetchError) return [] // none, or none that is known now
        throw error
      })
  if (addresses.some((address) => deps.mayCall(url, address))) return
  const isAllowedByHttps = addresses.some((address) => deps.mayCall(new URL(`https://${url.host}`), address))
  if (addresses.length > 0 && !isAllowedByHttps) throw nodeError('private_url', { host }, at)
  if (addresses.length > 0 || url.protocol !== 'https:') throw nodeError('not_https', { url: origin }, at)
  if (isLoopbackName(host)) throw nodeError('this_machine', { host }, at)
}

/** RFC 6761 §6.3: these names are this machine. */
const isLoopbackName = (host: string): boolean => /^(?:.*\.)?localhost\.?$/i.test(host)
