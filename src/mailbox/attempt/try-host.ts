import { LimitError } from '../../base/limiter.ts'
import { isProxy } from '../../names/source.ts'
import { allowsSecondRcpt } from '../provider.ts'
import { isAboutRecipient, reasonRow } from '../reasons.ts'
import { type SourceEvent, sourceEvent } from '../source/circuit-breaker.ts'
import type { HostFailure, ProviderAllowance } from '../source/host-limits.ts'
import type { Unavailable } from '../source/sources.ts'
import { type Destination, providerKeyOf } from './destinations.ts'
import { type DialogueResult, type FinishedDialogue, runDialogue } from './dialogue.ts'
import type { PooledSession } from './session-pool.ts'
import {
  type Held,
  limitsOf,
  type MailboxQuery,
  planElsewhere,
  planOf,
  probeKeyOf,
  type SourcePass,
  type TryOptions,
  tooMany,
  type VerifierState,
  waitForRate,
} from './state.ts'

export type Tried =
  | { readonly result: DialogueResult; readonly held?: undefined }
  | { readonly held: Held; readonly result?: undefined }

/**
 * One session with one address of a mail host, within the limits, or the limit that prevented it. Undefined if the time
 * ran out before it could start.
 */
export async function tryHost(
  pass: SourcePass,
  destination: Destination,
  options: TryOptions,
): Promise<Tried | undefined> {
  const { ctx, state, source, query } = pass
  const provider = limitsOf(destination)
  const failure = state.limits.failure(destination.address, source)
  if (failure) return { result: notDialled(pass, destination, failure) }
  const isForced = query.forced.includes(source)
  const unavailable = isForced ? undefined : state.sources.unavailable(source, provider)
  if (unavailable) return { held: heldBy(pass, unavailable) }
  const { host, address } = destination
  const acquireSlot = (signal: AbortSignal) => state.limits.acquire(address, provider, signal)
  const reuse = query.reuse && allowsSecondRcpt(destination.provider)
  const key = reuse ? `${source ?? ''} ${host} ${address} ${query.port} ${options.startTls}` : ''
  let slot: Slot
  try {
    slot = reuse
      ? await state.sessions.acquire(key, acquireSlot, ctx.signal)
      : { release: await acquireSlot(ctx.signal) }
  } catch (error) {
    if (ctx.signal.aborted) return undefined
    if (error instanceof LimitError) return { held: tooMany(error) }
    throw error
  }
  let unused: Slot | undefined = slot
  try {
    const talked = await talkWithin(pass, destination, options, { session: slot.session, keepOpen: reuse }, provider)
    if (!talked?.finished) return talked
    unused = undefined
    const { result, session } = talked.finished
    if (session) state.sessions.release(key, usedOnceMore(slot, session, result))
    else slot.release()
    return { result }
  } finally {
    if (unused) abandon(unused)
  }
}

/** The session once rate and circuit breaker permit it; `held` if they do not, undefined if the time ran out. */
async function talkWithin(
  pass: SourcePass,
  destination: Destination,
  options: TryOptions,
  reuse: Reuse,
  limits: ProviderAllowance,
): Promise<
  { readonly finished: FinishedDialogue } | { readonly held: Held; readonly finished?: undefined } | undefined
> {
  const { ctx, state, source, query } = pass
  const isForced = query.forced.includes(source)
  const use = state.sources.begin(source, limits, isForced)
  if (!use.ok) return { held: heldBy(pass, use) }
  try {
    const turn = await waitForRate(pass, limits)
    if (turn !== 'now') return turn
    // The breaker may have opened in the meantime.
    const unavailable = isForced || use.isTrial ? undefined : state.sources.unavailable(source, limits)
    if (unavailable) return { held: heldBy(pass, unavailable) }
    const finished = await runDialogue(ctx, state.identity, planOf(pass, destination, options), reuse)
    learn(state, finished.result, query)
    use.end(eventOf(finished.result, state.identity.heloFollowsSource))
    return { finished }
  } finally {
    use.end({ kind: 'unanswered' }) // if there was no session
  }
}

/** The result for a source that must not be used now. */
export function heldBy({ ctx, source }: SourcePass, { why, untilMs, trialEnded }: Unavailable): Held {
  return {
    reason: trialEnded === undefined ? 'source_blocked' : 'own_limit',
    message: `every source address is paused; ${source ?? 'the default address'} ${why}`.slice(0, 512),
    retryAfterMs: Math.max(0, untilMs - ctx.monotonic()),
    ...(trialEnded && { trialEnded }),
  }
}

type Slot = PooledSession | { readonly session?: undefined; readonly release: () => void }

const usedOnceMore = (slot: Slot, session: PooledSession['session'], { verdict }: DialogueResult): PooledSession => {
  const before = slot.session === session ? slot : { recipients: 0, unknown: 0 }
  const unknown = before.unknown + (verdict.reason === 'mailbox_not_found' ? 1 : 0)
  return { session, release: slot.release, recipients: before.recipients + 1, unknown }
}

function abandon(slot: Slot): void {
  slot.session?.quit()
  slot.release()
}

type Reuse = { readonly session: PooledSession['session'] | undefined; readonly keepOpen: boolean }

/** Stores what a session shows for later ones. */
function learn({ limits, catchAll, port25 }: VerifierState, result: DialogueResult, { email }: MailboxQuery): void {
  const { plan, verdict, stage } = result
  const isOurs = !isProxy(plan.source) // a proxy's connections show nothing about this machine's port 25
  if (isOurs && verdict.reason === 'connect_timeout') port25.timedOut(plan.address)
  else if (isOurs && (result.localAddress !== undefined || verdict.reason === 'connect_refused')) port25.reached()
  if (stage === 'connect' && reasonRow(verdict.reason).hostDown)
    limits.failed(plan.address, plan.source, { reason: verdict.reason, message: result.message })
  if (verdict.restsHost)
    limits.rests(plan.address, { reason: verdict.reason, message: result.message }, verdict.retryAfterMs)
  if (typeof result.catchAll === 'boolean') catchAll.set(email.domain, probeKeyOf(plan), result.catchAll)
  if (stage === 'rcpt' && isAboutRecipient(verdict.reason))
    limits.answered(email.domain, providerKeyOf(plan), verdict.reason === 'mailbox_not_found')
}

/** The event of a session for the circuit breaker of its source. */
export function eventOf(result: DialogueResult, heloFollowsSource: boolean): SourceEvent {
  const { reason } = result.verdict
  const text = result.message
  if (result.sourceFailed) return { kind: 'failed', reason, text }
  return sourceEvent({ reason, text, latencyMs: result.durationMs }, heloFollowsSource)
}

/** The result for a host that failed within the last minute. */
function notDialled(pass: SourcePass, destination: Destination, failure: HostFailure): DialogueResult {
  const ago = Math.max(0, Math.round((pass.ctx.monotonic() - failure.atMs) / 1_000))
  return {
    plan: planElsewhere(pass, destination),
    stage: 'connect',
    verdict: { reason: failure.reason, by: 'stage' },
    message: `not connected again: ${ago} s ago ${failure.message}`,
    answered: false,
    transcript: [],
    durationMs: 0,
  }
}
