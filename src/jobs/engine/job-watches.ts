import type { JobRecord } from '../../store/postgres/jobs.ts'

/** A signal that the chunks of a job share; it fires when the job is paused, canceled or removed. */
export type JobWatch = {
  readonly signal: AbortSignal
  /** Ends one use; returns whether it was the last one. */
  readonly close: () => boolean
}
type Watched = { readonly stopped: AbortController; readonly timer: NodeJS.Timeout; users: number }
export type JobWatches = { readonly open: (job: string) => JobWatch }

/** Interval at which the state of a job is read while its chunks run, ms. */
const LOOK_EVERY_MS = 500

/** Watches each job once, however many of its chunks run. */
export function jobWatches(look: (job: string) => Promise<Pick<JobRecord, 'state'> | undefined>): JobWatches {
  const watched = new Map<string, Watched>()

  function watch(job: string): Watched {
    const stopped = new AbortController()
    const timer = setInterval(() => {
      look(job).then(
        (found) => {
          if (found?.state === 'running') return
          stopped.abort(new DOMException('the job is no longer running', 'AbortError'))
          forget(job, stopped) // chunks of a resumed job get a new signal
        },
        () => {}, // the writer notices a database that does not answer
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
