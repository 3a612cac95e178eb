import type { Stage } from '../../net/smtp/reply.ts'

const LONGEST: Partial<Record<Stage, number>> = { connect: 10_000, banner: 20_000 }
const COMMAND_MS = 20_000
const LAST_CONNECT_MS = 20_000

/**
 * The share of time that one reply may take (RFC 5321 §4.5.3.2 wishes for minutes; a caller waits for seconds). While there are other addresses to try, a
 * connection gets at most 10 s and 40 % of what remains, a banner 20 s and 60 %, a command 20 s and 60 %. The last one gets all that remains, but for its
 * connection, which gets 20 s.
 */
export function shareOf(stage: Stage, remainingMs: number, last: boolean): number {
  if (last) return Math.max(1, stage === 'connect' ? Math.min(LAST_CONNECT_MS, remainingMs) : remainingMs)
  const share = stage === 'connect' ? 0.4 : 0.6
  return Math.max(1, Math.min(LONGEST[stage] ?? COMMAND_MS, remainingMs * share))
}
