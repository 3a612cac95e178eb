/** How often it is looked, ms. */
const EVERY_MS = 20
/** Longest time that an operation may block the event loop without a log entry, ms. */
export const MAX_HELD_MS = 50
/** Lines that are logged at most: one in this time, ms. */
const LINE_EVERY_MS = 1_000
/** Maximum number of operations in one log entry. */
const MAX_NAMES = 10

export type LoopWatch = {
  /** An operation begins; the result is called when it has ended. */
  readonly begin: (name: string) => () => void
  readonly stop: () => void
}

export type LoopWatchOptions = {
  readonly warn: (fields: Readonly<Record<string, unknown>>) => void
  /** A clock that never steps back, ms. */
  readonly now?: () => number
  /** Processor time of this thread so far, ms. */
  readonly cpuMs?: () => number
}

/**
 * Watches for steps that hold the event loop for over 50 ms, in which nobody is answered, and names the operations that were under way: where it is one,
 * that one did it. Time in which the thread had no processor (a busy machine, a stopped process) does not count.
 */
export function loopWatch(options: LoopWatchOptions): LoopWatch & { readonly look: () => void } {
  const { warn, now = () => performance.now(), cpuMs = threadMs } = options
  const running = new Map<symbol, string>()
  let ended: string[] = []
  let [lookedAtMs, cpuAtMs] = [now(), cpuMs()]
  let [loggedAtMs, unlogged] = [Number.NEGATIVE_INFINITY, 0]

  function look(): void {
    const [nowMs, nowCpuMs] = [now(), cpuMs()]
    const heldMs = Math.min(nowMs - lookedAtMs - EVERY_MS, nowCpuMs - cpuAtMs)
    const names = [...new Set([...running.values(), ...ended])]
    ended = []
    lookedAtMs = nowMs
    cpuAtMs = nowCpuMs
    if (heldMs <= MAX_HELD_MS || names.length === 0) return
    unlogged++
    if (nowMs - loggedAtMs < LINE_EVERY_MS) return
    warn({ held_ms: Math.round(heldMs), operations: names.slice(0, MAX_NAMES), times: unlogged })
    loggedAtMs = nowMs
    unlogged = 0
  }

  const timer = setInterval(look, EVERY_MS).unref()
  return {
    begin: (name) => {
      const id = Symbol(name)
      running.set(id, name)
      return () => {
        if (running.delete(id) && ended.length < 1_000) ended.push(name)
      }
    },
    stop: () => clearInterval(timer),
    look,
  }
}

/** In Node before 23.9 the processor time of all threads, which is no less. */
function threadMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)()
  return (user + system) / 1_000
}
