import type { JobRecord } from '../../store/postgres/jobs.ts'

/** What the chunks of one job share: a signal that fires when it is paused, canceled or gone. */
export type JobWatch = {
  readonly signal: AbortSignal
  /** Ends one use; whether it was the last one. */
  readonly close: () => boolean
}
export type JobWatches = { readonly open: (job: string) => JobWatch }

/** How often the state of a job is looked at while chunks of it run, ms. */
const LOOK_EVERY_MS = 500

/** Looks at each job once, however many of its chunks run; as many jobs as have running chunks. */
export function jobWatches(look: (job: string) => Promise<Pick<JobRecord, 'state'> | undefined>): JobWatches {
  const watched = new Map<
    string,
    { readonly stopped: AbortController; readonly timer: NodeJS.Timeout; users: number }
  >()

  function watch(job: string): NonNullable<ReturnType<typeof watched.get>> {
    const stopped = new AbortController()
    const timer = setInterval(() => {
      look(job).then(
        (found) => {
          if (found?.state === 'running') return
          stopped.abort(new DOMException('the job is no longer running', 'AbortError'))
          forget(job, stopped) // chunks of a job that was resumed get a signal of their own
        },
        () => {}, // a database that does not answer is seen by the writer
      )
    }, LOOK_EVERY_MS)
    return { stopped, timer, users: 0 }
  }
  function forget(job: string, stopped: AbortController): void {
    const entry = watched.get(job)
    if (entry?.stopped !== stopped) return
    clearInterval(entry.timer)
    watched.delete(job)
  }
  return {
    open: (job) => {
      const entry = watched.get(job) ?? watch(job)
      watched.set(job, entry)
      entry.users++
      return {
        signal: entry.stopped.signal,
        close: () => {
          if (--entry.users > 0) return false
          forget(job, entry.stopped)
          return true
        },
      }
    },
  }
}
