import type { VerifyAnswer } from '../../answers/verify.ts'
import { LimitError } from '../../base/limiter.ts'
import { problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import { formatEmail } from '../../names/email.ts'
import { parseIp } from '../../names/ip.ts'
import { type NodeName, nodeIdOf } from '../../names/source.ts'
import type { Stage } from '../../net/smtp/reply.ts'
import { nodeProblem } from '../problems.ts'
import { providerOf } from '../provider.ts'
import { REASONS, type Reason } from '../reasons.ts'
import type { SourceEvent } from '../source/circuit-breaker.ts'
import type { Destination } from './destinations.ts'
import type { DialogueResult } from './dialogue.ts'
import { type Held, limitsOf, planElsewhere, type SourcePass, tooMany, waitForRate } from './state.ts'
import { eventOf, heldBy } from './try-host.ts'

/** Maximum number of attempts that are taken over from another node. */
const MAX_ATTEMPTS = 20
/**
 * A node that is not the last source gets this share of the remaining time. With less than this time left, no node is
 * asked, ms.
 */
const SHARE = 0.5
const LEAST_MS = 1_000

/**
 * Makes a node of the pool verify, with the same limits, rates and circuit breaker as any other source. Its attempts
 * are appended to `results`; a node without an answer is a failed attempt. Returns the limit that held the node back.
 */
export async function tryNode(pass: SourcePass, node: NodeName): Promise<Held | undefined> {
  const { ctx, state, source, destinations } = pass
  const first = destinations[0]
  if (!first) return undefined
  const limits = limitsOf(first)
  const use = state.sources.begin(source, limits, false)
  if (!use.ok) return heldBy(pass, use)
  try {
    const release = await state.limits.acquire(first.address, limits, ctx.signal)
    try {
      const turn = await waitForRate(pass, limits)
      if (turn !== 'now') return turn?.held
      return await askAndKeep(pass, node, first, use.end)
    } finally {
      release()
    }
  } catch (error) {
    if (ctx.signal.aborted) return undefined
    if (error instanceof LimitError) return tooMany(error)
    throw error
  } finally {
    use.end({ kind: 'unanswered' }) // where the node was not asked
  }
}

async function askAndKeep(
  pass: SourcePass,
  node: NodeName,
  first: Destination,
  end: (event: SourceEvent) => void,
): Promise<Held | undefined> {
  const { ctx, state, query, results, isLastSource } = pass
  const leftMs = query.deadlineMs() - ctx.monotonic()
  const timeoutMs = isLastSource ? leftMs : leftMs * SHARE
  const begunMs = ctx.monotonic()
  const answer =
    timeoutMs < LEAST_MS
      ? problem(nodeProblem('no_time'))
      : await state.askNode(ctx, { node, email: formatEmail(query.email), timeoutMs })
  if (!answer.ok) {
    const text = `the node ${nodeIdOf(node)} did not verify: ${answer.problem.text}`
    results.push(failedNode(pass, node, first, text, ctx.monotonic() - begunMs))
    if (!ctx.signal.aborted) end({ kind: 'failed', reason: 'network_unreachable', text })
    return undefined
  }
  const said = answer.value
  const found = resultsOf(pass, node, said)
  const last = found.at(-1)
  if (!last) return heldAtNode(pass, node, first, said)
  results.push(...found)
  end(eventOf(last, true))
  return undefined
}

/** A node that contacted no mail host: its own limits prevented it, or it could not find the hosts. */
function heldAtNode(pass: SourcePass, node: NodeName, first: Destination, said: VerifyAnswer): Held | undefined {
  const message = printable(`the node ${nodeIdOf(node)}: ${said.message}`, 512)
  if (said.reason === 'own_limit' || said.reason === 'source_blocked')
    return { reason: said.reason, message, retryAfterMs: said.retry_after_ms ?? LEAST_MS }
  pass.results.push(failedNode(pass, node, first, message, said.duration_ms))
  return undefined
}

const failedNode = (
  pass: SourcePass,
  node: NodeName,
  first: Destination,
  text: string,
  durationMs: number,
): DialogueResult => ({
  plan: planElsewhere(pass, first),
  stage: 'connect',
  verdict: { reason: 'network_unreachable', by: 'stage' },
  message: printable(text, 512),
  answered: false,
  transcript: [],
  durationMs: Math.max(0, Math.round(durationMs)),
  sourceFailed: true,
  peer: nodeIdOf(node),
})

const STAGES: readonly Stage[] = ['connect', 'banner', 'ehlo', 'starttls', 'mail', 'rcpt', 'data', 'rset', 'quit']

/** The attempts of a node as sessions of this verification; invalid ones are left out. */
function resultsOf(pass: SourcePass, node: NodeName, said: VerifyAnswer): readonly DialogueResult[] {
  const attempts = said.attempts.slice(-MAX_ATTEMPTS)
  return attempts.flatMap((attempt, i): DialogueResult[] => {
    const stage = STAGES.find((one) => one === attempt.stage)
    const reason = REASONS.find((one) => one === attempt.reason)
    const address = parseIp(attempt.address)
    if (stage === undefined || reason === undefined || !address.ok) return []
    const isLast = i === attempts.length - 1
    const from = parseIp(attempt.ip_used)
    const message = printable(attempt.message, 512)
    const host = printable(attempt.mx_server, 255)
    const retryAfterMs = isLast ? said.retry_after_ms : undefined
    const enhanced = attempt.enhanced_code === undefined ? {} : { enhanced: printable(attempt.enhanced_code, 20) }
    return [
      {
        plan: planElsewhere(pass, { host, address: address.value, provider: providerOf(host) }),
        stage,
        verdict: { reason: beforeCatchAll(reason), by: 'code', ...(retryAfterMs !== undefined && { retryAfterMs }) },
        ...(attempt.code > 0 && { reply: { code: attempt.code, ...enhanced, lines: [message] } }),
        message,
        ...(from.ok && { localAddress: from.value }),
        answered: attempt.code > 0 || (stage !== 'connect' && stage !== 'banner'),
        ...(isLast && { startedTls: said.starttls === true }),
        ...(reason === 'accept_all' ? { catchAll: true } : isLast && { catchAll: said.catch_all }),
        transcript: [],
        durationMs: Math.max(0, Math.round(attempt.duration_ms)),
        peer: nodeIdOf(node),
      },
    ]
  })
}

/** The reason of the reply itself; the composed answer applies the catch-all state again. */
const beforeCatchAll = (reason: Reason): Reason =>
  reason === 'accept_all' || reason === 'unverifiable_provider' ? 'mailbox_exists' : reason
