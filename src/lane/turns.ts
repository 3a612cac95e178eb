/** What waits, each for its caller. */
export type Turns<Job> = {
  /** False if there is no room: too many jobs, of this caller or in all, or too many octets. */
  readonly add: (caller: string, job: Job, octets: number) => boolean
  /** The next job. Its time must be added to that of its caller before the one after it is asked for. */
  readonly next: () => Job | undefined
  readonly remove: (job: Job) => void
  readonly addTime: (caller: string, ms: number) => void
  readonly size: () => number
}

type Waiting<Job> = { readonly job: Job; readonly octets: number }
type Caller<Job> = { usedMs: number; waiting: Waiting<Job>[] }

/**
 * Turns between callers by the time that they have used, not by count: the next job is the first one of the caller that
 * has used least. Who comes starts at the least of those that wait, so that nobody saves up time. When nothing waits,
 * all start anew.
 */
export function turnsOf<Job>(max: {
  readonly jobs: number
  readonly ofCaller: number
  readonly octets: number
}): Turns<Job> {
  const callers = new Map<string, Caller<Job>>()
  let size = 0
  let octetsWaiting = 0

  const waitingCallers = (): readonly Caller<Job>[] => [...callers.values()].filter(({ waiting }) => waiting.length > 0)
  function left(caller: Caller<Job>, at: number): Job | undefined {
    const [gone] = caller.waiting.splice(at, 1)
    if (!gone) return undefined
    size--
    octetsWaiting -= gone.octets
    return gone.job
  }
  return {
    add: (name, job, octets) => {
      const caller = callers.get(name) ?? { usedMs: 0, waiting: [] }
      if (size >= max.jobs || caller.waiting.length >= max.ofCaller) return false
      if (size > 0 && octetsWaiting + octets > max.octets) return false
      if (caller.waiting.length === 0) {
        const others = waitingCallers().map(({ usedMs }) => usedMs)
        if (others.length > 0) caller.usedMs = Math.max(caller.usedMs, Math.min(...others))
      }
      caller.waiting.push({ job, octets })
      callers.set(name, caller)
      size++
      octetsWaiting += octets
      return true
    },
    next: () => {
      const [first, ...others] = waitingCallers()
      if (!first) {
        callers.clear()
        return undefined
      }
      return left(
        others.reduce((least, one) => (one.usedMs < least.usedMs ? one : least), first),
        0,
      )
    },
    remove: (job) => {
      for (const caller of callers.values()) {
        const at = caller.waiting.findIndex((one) => one.job === job)
        if (at >= 0) left(caller, at)
      }
    },
    addTime: (name, ms) => {
      const caller = callers.get(name)
      if (caller) caller.usedMs += ms
    },
    size: () => size,
  }
}
