/** Jobs, by number, with nothing to plan for now: all their rows are in progress or wait. */
export type IdleJobs = {
  readonly has: (job: number) => boolean
  /** Skips a job for `waitMs`, until its next row is due, but only for some seconds, because other nodes may change it. */
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
  let openJobs = 0
  return {
    has: (job) => (until.get(job) ?? Number.NEGATIVE_INFINITY) > now(),
    add: (job, waitMs) => {
      // Each job has a different period, so that jobs planned together drift apart.
      const idleMs = Math.max(IDLE_MS, openJobs * IDLE_MS_A_JOB) * (0.75 + ((job * 37) % 101) / 200)
      until.set(job, now() + Math.min(waitMs, idleMs))
    },
    remove: (job) => void until.delete(job),
    keep: (open) => {
      openJobs = open.length
      until = new Map(open.flatMap(({ number }) => (until.has(number) ? [[number, until.get(number)!]] : [])))
    },
  }
}
