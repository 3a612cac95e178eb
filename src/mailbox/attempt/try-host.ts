import { sleep } from '../../base/deadline.ts'
import type { Stage } from '../../net/smtp/reply.ts'
import { UNKNOWN_PROVIDER } from '../provider/provider.ts'
import { anotherSourceMayHelp, isAboutRecipient, reasonRow } from '../reasons.ts'
import type { SourceEvent } from '../source/circuit-breaker.ts'
import type { HostFailure } from '../source/host-limits.ts'
import { type Destination, providerKeyOf } from './destinations.ts'
import { type DialogueResult, type FinishedDialogue, runDialogue } from './dialogue.ts'
import type { PooledSession } from './session-pool.ts'
import type { MailboxQuery, SourcePass, VerifierState } from './state.ts'

export type TryOptions = { readonly startTls: boolean; readonly isLast: boolean }

/** One dialogue with one address of a mail host, within the limits; undefined when time ran out before it could begin. */
export async function tryHost(
  pass: SourcePass,
  destination: Destination,
  options: TryOptions,
): Promise<DialogueResult | undefined> {
  const { ctx, state, source, query } = pass
  const { maxConnections } = destination.provider ?? UNKNOWN_PROVIDER
  const provider = providerKeyOf(destination)
  const failure = state.limits.failure(destination.address, source)
  if (failure) return notDialled(pass, destination, failure)
  const acquireSlot = (signal: AbortSignal) =>
    state.limits.acquire({ address: destination.address, provider, maxConnections, source }, signal)
  const reuse = query.reuse && destination.provider?.secondRcpt !== 'hurts'
  const key = `${source ?? ''} ${destination.host} ${destination.address} ${query.port} ${options.startTls}`
  let slot: Slot
  try {
    slot = reuse
      ? await state.sessions.acquire(key, acquireSlot, ctx.signal)
      : { release: await acquireSlot(ctx.signal) }
  } catch (error) {
    if (ctx.signal.aborted) return undefined
    throw error
  }
  let unused: Slot | undefined = slot
  try {
    if (!(await waitForRate(pass, destination))) return undefined
    const { result, session } = await talk(pass, destination, options, { session: slot.session, keepOpen: reuse })
    unused = undefined
    if (session) await state.sessions.release(key, usedOnceMore(slot, session, result))
    else slot.release()
    return result
  } finally {
    if (unused) await abandon(unused)
  }
}

type Slot = PooledSession | { readonly session?: undefined; readonly release: () => void }

const usedOnceMore = (slot: Slot, session: PooledSession['session'], { verdict }: DialogueResult): PooledSession => {
  const before = slot.session === session ? slot : { recipients: 0, unknown: 0 }
  const unknown = before.unknown + (verdict.reason === 'mailbox_not_found' ? 1 : 0)
  return { session, release: slot.release, recipients: before.recipients + 1, unknown }
}

async function abandon(slot: Slot): Promise<void> {
  await slot.session?.quit()
  slot.release()
}

async function talk(
  { ctx, state, query, source }: SourcePass,
  destination: Destination,
  { startTls, isLast }: TryOptions,
  reuse: { readonly session: PooledSession['session'] | undefined; readonly keepOpen: boolean },
): Promise<FinishedDialogue> {
  const provider = providerKeyOf(destination)
  const { perMinute } = destination.provider ?? UNKNOWN_PROVIDER
  state.sources.record(source, provider, perMinute, { kind: 'begun' })
  const plan = {
    ...destination,
    email: query.email,
    port: query.port,
    source,
    catchAll: state.catchAll.get(query.email.domain, destination.host),
    startTls,
    stageMs: (stage: Stage) => stageTimeout(stage, query.deadlineMs - ctx.now(), isLast),
  }
  const finished = await runDialogue(ctx, state.identity, plan, reuse)
  learn(state, finished.result, query)
  state.sources.record(source, provider, perMinute, eventOf(finished.result, state.identity.heloFollowsSource))
  return finished
}

/** Keeps what a dialogue tells for those to come. */
function learn({ limits, catchAll, port25 }: VerifierState, result: DialogueResult, { email }: MailboxQuery): void {
  const { plan, verdict, stage } = result
  if (verdict.reason === 'connect_timeout') port25.timedOut(plan.address)
  else if (result.localAddress !== undefined || verdict.reason === 'connect_refused') port25.reached()
  if (stage === 'connect' && reasonRow(verdict.reason).hostDown)
    limits.failed(plan.address, plan.source, { reason: verdict.reason, message: result.message })
  if (typeof result.catchAll === 'boolean') catchAll.set(email.domain, plan.host, result.catchAll)
  if (stage === 'rcpt' && isAboutRecipient(verdict.reason))
    limits.answered(email.domain, providerKeyOf(plan), verdict.reason === 'mailbox_not_found')
}

function eventOf(result: DialogueResult, heloFollowsSource: boolean): SourceEvent {
  const { reason } = result.verdict
  const text = result.message
  switch (reasonRow(reason).sourceHealth) {
    case 'good':
      return { kind: 'answered', latencyMs: result.durationMs }
    case 'throttled':
      return { kind: 'throttled', reason, text }
    case 'refused':
      return anotherSourceMayHelp(reason, heloFollowsSource)
        ? { kind: 'refused', reason, text }
        : { kind: 'unanswered' }
    case 'none':
      return { kind: 'unanswered' }
  }
}

/** Waits for the rate of this source toward the provider; false when time ran out. */
async function waitForRate({ ctx, state, source }: SourcePass, destination: Destination): Promise<boolean> {
  if (state.noCourtesy) return true
  const { perMinute } = destination.provider ?? UNKNOWN_PROVIDER
  for (;;) {
    const waitMs = state.sources.takeToken(source, providerKeyOf(destination), perMinute)
    if (waitMs === 0) return true
    try {
      await sleep(waitMs, ctx.signal)
    } catch (error) {
      if (!ctx.signal.aborted) throw error
      return false
    }
  }
}

/** The result for a host that failed within the last minute. */
function notDialled(
  { ctx, query, source }: SourcePass,
  destination: Destination,
  failure: HostFailure,
): DialogueResult {
  const ago = Math.max(0, Math.round((ctx.now() - failure.atMs) / 1_000))
  return {
    plan: {
      ...destination,
      email: query.email,
      port: query.port,
      source,
      catchAll: undefined,
      startTls: false,
      stageMs: () => 0,
    },
    stage: 'connect',
    verdict: { reason: failure.reason, by: 'stage' },
    message: `not dialled again: ${ago} s ago ${failure.message}`,
    answered: false,
    transcript: [],
    durationMs: 0,
  }
}

const LONGEST_STAGE_MS: Partial<Record<Stage, number>> = { connect: 10_000, banner: 20_000 }
const LONGEST_COMMAND_MS = 20_000
const LONGEST_LAST_CONNECT_MS = 20_000

/**
 * The longest wait for one reply, ms (RFC 5321 §4.5.3.2 recommends minutes; a caller waits for seconds). While there are other addresses to try, a
 * connection gets at most 10 s and 40 % of the time that remains, a banner and a command 20 s and 60 %. The last address gets all that remains, its
 * connection at most 20 s.
 */
function stageTimeout(stage: Stage, remainingMs: number, isLast: boolean): number {
  if (isLast) return Math.max(1, stage === 'connect' ? Math.min(LONGEST_LAST_CONNECT_MS, remainingMs) : remainingMs)
  const share = stage === 'connect' ? 0.4 : 0.6
  return Math.max(1, Math.min(LONGEST_STAGE_MS[stage] ?? LONGEST_COMMAND_MS, remainingMs * share))
}
