import type { VerifyAnswer } from '../../answers/verify.ts'
import type { LimitError } from '../../base/limiter.ts'
import type { Parsed } from '../../base/problem.ts'
import type { ShareWork, Work } from '../../base/share-work.ts'
import type { Email } from '../../names/email.ts'
import type { NodeName } from '../../names/source.ts'
import type { Stage } from '../../net/smtp/reply.ts'
import type { Ctx } from '../../world.ts'
import { limitsFor } from '../provider.ts'
import type { Reason } from '../reasons.ts'
import type { Identity } from '../source/helo.ts'
import type { HostLimits, ProviderAllowance } from '../source/host-limits.ts'
import type { Port25Monitor } from '../source/port25.ts'
import type { Source } from '../source/source-rows.ts'
import type { Sources } from '../source/sources.ts'
import type { CatchAllCache, ProbeAnswer } from './catch-all.ts'
import { type Destination, providerKeyOf } from './destinations.ts'
import type { DialoguePlan, DialogueResult } from './dialogue.ts'
import type { SessionPool } from './session-pool.ts'

/**
 * Makes another node verify. The answer is about the question, and its result matches its reason. A problem says why
 * there is none.
 */
export type AskNode = (
  ctx: Ctx,
  question: { readonly node: NodeName; readonly email: string; readonly timeoutMs: number },
) => Promise<Parsed<VerifyAnswer>>

/** The state that all verifications of one verifier share. */
export type VerifierState = {
  readonly identity: Identity
  readonly sources: Sources
  readonly limits: HostLimits
  readonly catchAll: CatchAllCache
  /** Made-up mailboxes that are asked about in separate sessions. */
  readonly probes: ShareWork<ProbeAnswer, Work<ProbeAnswer>>
  readonly port25: Port25Monitor
  readonly sessions: SessionPool
  readonly askNode: AskNode
}

/** The parameters of one verification at the mail hosts. */
export type MailboxQuery = {
  readonly email: Email
  readonly port: number
  /** Source addresses to use, in this order; undefined is the system's choice. */
  readonly sources: readonly Source[]
  /** The deadline; later callers of shared work may extend it. */
  readonly deadlineMs: () => number
  /**
   * Sources that are used whatever their circuit breaker says: those that the caller named, and the system's choice.
   */
  readonly forced: readonly Source[]
  /** Keep sessions open for a short time, for the next address of a list. */
  readonly reuse: boolean
}

/** The attempts of a verification from one source address. */
export type SourcePass = {
  readonly ctx: Ctx
  readonly state: VerifierState
  readonly query: MailboxQuery
  readonly source: Source
  readonly destinations: readonly Destination[]
  /** The results so far; the pass appends to it. */
  readonly results: DialogueResult[]
  readonly isLastSource: boolean
}

export type TryOptions = { readonly startTls: boolean; readonly isLast: boolean }

/** The key of the catch-all cache: the mail host, or the provider if all its hosts answer alike. */
export const probeKeyOf = ({ host, provider }: Pick<Destination, 'host' | 'provider'>): string =>
  provider?.probe === 'own_session' ? providerKeyOf({ host, provider }) : host

/** The plan of the session with a destination. */
export const planOf = (
  { ctx, state, query, source }: SourcePass,
  destination: Destination,
  { startTls, isLast }: TryOptions,
): DialoguePlan => ({
  ...destination,
  email: query.email,
  port: query.port,
  source,
  catchAll: state.catchAll.get(query.email.domain, probeKeyOf(destination)) ?? undefined,
  startTls,
  stageMs: (stage) => {
    const startMs = ctx.monotonic()
    return () => stageTimeout(stage, query.deadlineMs() - startMs, isLast)
  },
})

/** The plan of a session that this node does not make itself: there was no connection, or another node makes it. */
export const planElsewhere = ({ query, source }: SourcePass, destination: Destination): DialoguePlan => ({
  ...destination,
  email: query.email,
  port: query.port,
  source,
  catchAll: undefined,
  startTls: false,
  stageMs: () => 0,
})

const LONGEST_STAGE_MS: Partial<Record<Stage, number>> = { connect: 10_000, banner: 20_000 }
/** Time limit for the reply to a command while other addresses are left, ms. */
const LONGEST_COMMAND_MS = 20_000
/** Time limit for the connection to the last address, ms. */
const LONGEST_LAST_CONNECT_MS = 20_000

/**
 * The time limit for one reply, ms (RFC 5321 §4.5.3.2 recommends minutes; a caller waits for seconds). While other
 * addresses are left, a connection gets at most 10 s and 40 % of the remaining time, a banner and a command 20 s and 60
 * %. The last address gets all of the remaining time, its connection at most 20 s.
 */
function stageTimeout(stage: Stage, remainingMs: number, isLast: boolean): number {
  if (isLast) return Math.max(1, stage === 'connect' ? Math.min(LONGEST_LAST_CONNECT_MS, remainingMs) : remainingMs)
  const share = stage === 'connect' ? 0.4 : 0.6
  return Math.max(1, Math.min(LONGEST_STAGE_MS[stage] ?? LONGEST_COMMAND_MS, remainingMs * share))
}

/** Why one of our limits or a circuit breaker kept a source from being used. */
export type Held = {
  readonly reason: Reason
  readonly message: string
  readonly retryAfterMs: number
  /** Resolves when the trial of the source's circuit breaker has ended; absent if there is none. */
  readonly trialEnded?: Promise<void>
}

/** The result of a question that a full limiter delayed. */
export const tooMany = ({ message, retryAfterMs }: LimitError): Held => ({
  reason: 'own_limit',
  message: `the limits of this service toward the mail host: ${message}`,
  retryAfterMs: Math.max(retryAfterMs, 1_000),
})

/** The limits toward the provider of a destination. */
export function limitsOf(destination: Destination): ProviderAllowance {
  const { perMinute, maxConnections } = limitsFor(destination.provider)
  return { key: providerKeyOf(destination), perMinute, connections: maxConnections }
}

/**
 * Waits for the rate of the source toward the provider; `held` if the turn would come too late, undefined if the time
 * ran out.
 */
export async function waitForRate(
  { ctx, state, source, query }: SourcePass,
  provider: ProviderAllowance,
): Promise<'now' | { readonly held: Held } | undefined> {
  const perMinute = state.sources.perMinute(source, provider)
  const withinMs = query.deadlineMs() - ctx.monotonic()
  try {
    const hold = await state.limits.waitForRate({ source, perMinute, provider }, ctx.signal, withinMs)
    return hold ? { held: { reason: 'own_limit', ...hold } } : 'now'
  } catch (error) {
    if (ctx.signal.aborted) return undefined
    throw error
  }
}
