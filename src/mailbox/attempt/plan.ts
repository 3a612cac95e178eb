import type { Stage } from '../../net/smtp/reply.ts'
import { type Destination, providerKeyOf } from './destinations.ts'
import type { DialoguePlan } from './dialogue.ts'
import type { SourcePass } from './state.ts'

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
