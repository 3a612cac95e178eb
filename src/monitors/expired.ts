import type { Log } from '../world.ts'
import { sweepAccepted } from './accepted.ts'
import type { Delivering } from './deliver.ts'
import type { Running } from './run.ts'

/** Removes some of what has expired; returns whether there may be more. */
export type Sweep = () => Promise<boolean>
/** Maximum number of times that a sweep is repeated in an hour: more is removed than can come in. */
const SWEEPS_AT_A_TIME = 500
const EVERY_MS = 3_600_000
/** How long history and messages are stored, ms. */
const HISTORY_MS = 400 * 86_400_000
const MESSAGES_MS = 90 * 86_400_000

type Kept = Pick<Running, 'monitors' | 'deliveries' | 'accepted' | 'now'> &
  Pick<Delivering, 'consents'> & { readonly sweeps: readonly Sweep[]; readonly log: Log }

/** Returns what removes expired data, at most once an hour, until `stopping` fires. */
export function expiredRemoved(
  { monitors, deliveries, accepted, consents, sweeps, now, log }: Kept,
  stopping: AbortSignal,
): () => Promise<void> {
  let cleanedAtMs = Number.NEGATIVE_INFINITY
  /** A sweep that fails does not skip the others. */
  async function sweepUp(sweep: Sweep): Promise<void> {
    try {
      for (let n = 0; n < SWEEPS_AT_A_TIME && !stopping.aborted && (await sweep()); n++);
    } catch (error) {
      log.warn('expired data could not be removed: tried again in an hour', { err: error })
    }
  }
  return async () => {
    const sinceMs = now() - cleanedAtMs
    if (sinceMs >= 0 && sinceMs < EVERY_MS) return
    cleanedAtMs = now()
    await monitors.mendTimes(new Date(now()))
    await deliveries.mendTimes(new Date(now()))
    const own: readonly Sweep[] = [
      () => monitors.sweepPoints(new Date(now() - HISTORY_MS)),
      () => deliveries.sweep(new Date(now() - MESSAGES_MS)),
      () => sweepAccepted({ accepted, now }),
      () => consents.sweep(new Date(now())).then(() => false),
    ]
    for (const sweep of [...own, ...sweeps]) await sweepUp(sweep)
  }
}
