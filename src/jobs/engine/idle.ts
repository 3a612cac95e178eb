/** Jobs, by number, with nothing to plan for now: all their rows are in progress or wait. */
export type IdleJobs = {
  readonly has: (job: number) => boolean
  /** Begins to look at a job, which is no longer idle. */
  readonly begin: (job: number) => void
  /**
   * After {@link begin}, skips a job for `waitMs`, until its next row is due, but only for some seconds, because other nodes may change it. A job that was removed
   * in between is not skipped: what was seen of it may be out of date.
   */
  readonly add: (job: number, waitMs: number) => void
  readonly remove: (job: number) => void
  /** Removes all jobs except these, which are open. */
  readonly keep: (open: readonly { readonly number: number }[]) => void
}

/** Time for which a job is skipped, ms; longer if many are open, so that planning costs at most some hundred statements per second. */
const IDLE_MS = 4_000
const IDLE_MS_A_JOB = 20

/** `now`: monotonic milliseconds. */
export function idleJobs(now: () => number): IdleJobs {
  let until = new Map<number, number>()
  let begun = new Set<number>()
  let openJobs = 0
  return {
    has: (job) => (until.get(job) ?? Number.NEGATIVE_INFINITY) > now(),
    begin: (job) => {
      until.delete(job)
      begun.add(job)
    },
    add: (job, waitMs) => {
      if (!begun.delete(job)) return
      // Each job has a different period, so that jobs planned together drift apart.
      const idleMs = Math.max(IDLE_MS, openJobs * IDLE_MS_A_JOB) * (0.75 + ((job * 37) % 101) / 200)
      until.set(job, now() + Math.min(waitMs, idleMs))
    },
    remove: (job) => {
      until.delete(job)
      begun.delete(job)
    },
    keep: (open) => {
      openJobs = open.length
      begun = new Set(open.flatMap(({ number }) => (begun.has(number) ? [number] : [])))
      until = new Map(open.flatMap(({ number }) => (until.has(number) ? [[number, until.get(number)!]] : [])))
    },
  }
}
