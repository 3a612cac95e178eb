/** Interval of the measurement, ms. */
const EVERY_MS = 20
/** Longest time that an operation may block the event loop without a log entry, ms. */
export const MAX_HELD_MS = 50
/** Minimum interval between two log entries, ms. */
const LINE_EVERY_MS = 1_000
/** Maximum number of operations in one log entry. */
const MAX_NAMES = 10

type LoopWatch = {
  /** Called when an operation starts; call the result when it has ended. */
  readonly begin: (name: string) => () => void
  readonly stop: () => void
}

type LoopWatchOptions = {
  readonly warn: (fields: Readonly<Record<string, unknown>>) => void
  /** A clock that never steps back, ms. */
  readonly now?: () => number
  /** Processor time of this thread, ms. */
  readonly cpuMs?: () => number
}

/**
 * Detects steps that block the event loop for over 50 ms, during which no request is answered, and names the operations in progress: if there is only one, it
 * is the cause. Time in which the thread had no processor (a busy machine, a stopped process) does not count. It looks only while operations are in progress.
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
    if (names.length === 0) rest()
    if (heldMs <= MAX_HELD_MS || names.length === 0) return
    unlogged++
    if (nowMs - loggedAtMs < LINE_EVERY_MS) return
    warn({ held_ms: Math.round(heldMs), operations: names.slice(0, MAX_NAMES), times: unlogged })
    loggedAtMs = nowMs
    unlogged = 0
  }

  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  function rest(): void {
    clearInterval(timer)
    timer = undefined
  }
  function watch(): void {
    if (timer !== undefined || isStopped) return
    timer = setInterval(look, EVERY_MS).unref()
    lookedAtMs = now()
    cpuAtMs = cpuMs()
  }
  return {
    begin: (name) => {
      watch()
      const id = Symbol(name)
      running.set(id, name)
      return () => {
        if (running.delete(id) && ended.length < 1_000) ended.push(name)
      }
    },
    stop: () => {
      isStopped = true
      rest()
    },
    look,
  }
}

/** In Node before 23.9 the processor time of all threads, which is at least as much. */
function threadMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)()
  return (user + system) / 1_000
}
