/** Jobs with nothing to plan for now: all their rows are asked about, or wait. By the number of a job. */
export type IdleJobs = {
  readonly has: (job: number) => boolean
  /** Leaves a job alone for `waitMs`, until its next row is due, and not longer than some seconds: other nodes may change it. */
  readonly add: (job: number, waitMs: number) => void
  readonly remove: (job: number) => void
  /** Forgets all jobs but these, which are open. */
  readonly keep: (open: readonly { readonly number: number }[]) => void
}

/** A job is left alone for so long, ms, and longer where many are open: planning them all costs at most some hundred statements a second. */
const IDLE_MS = 4_000
const IDLE_MS_A_JOB = 20

/** `now`: milliseconds that never step back. */
export function idleJobs(now: () => number): IdleJobs {
  let until = new Map<number, number>()
  let openJobs = 0
  return {
    has: (job) => (until.get(job) ?? 0) > now(),
    add: (job, waitMs) => {
      // Each job has another period: those that were planned together drift apart, whichever numbers they have.
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
