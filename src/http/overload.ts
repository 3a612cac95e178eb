import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { callerError } from './problems.ts'

/** Maximum average delay of the event loop, ms; above it new requests are refused. */
const MAX_DELAY_MS = 150
const SAMPLE_MS = 250
/** How often the delay is measured, ms. */
const RESOLUTION_MS = 10
/**
 * With fewer requests in progress, the requests are not the cause of a late event loop (startup, a busy machine), and
 * new ones are accepted.
 */
const FEW = 32
/** Paths that report the state of the service are answered especially when it is overloaded. */
const EXEMPT: readonly string[] = ['/v1/health', '/v1/ready', '/metrics']

/**
 * Refuses new requests with 503 `overloaded` while the event loop is late because of the requests in progress. The
 * delay is the mean of the last 250 ms, and measured while many requests are in progress: it wakes the process a
 * hundred times a second. It opens no file: `@fastify/under-pressure` also measures memory, which throws in its timer,
 * and so ends the process, when no descriptor is left.
 */
export function refuseWhenLate(app: FastifyInstance, underWay: () => number): void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let delayMs = 0
  let timer: NodeJS.Timeout | undefined
  function look(): void {
    // Without a sample the loop was blocked the whole time.
    delayMs = histogram.count === 0 ? Number.POSITIVE_INFINITY : histogram.mean / 1e6 - RESOLUTION_MS
    histogram.reset()
    if (underWay() < FEW) stop()
  }
  function begin(): void {
    histogram.enable()
    timer = setInterval(look, SAMPLE_MS).unref()
  }
  function stop(): void {
    clearInterval(timer)
    timer = undefined
    histogram.disable()
    histogram.reset()
    delayMs = 0
  }
  app.addHook('onRequest', async (request, reply) => {
    if (timer === undefined && underWay() >= FEW) begin()
    if (!isTooMuch(delayMs, underWay()) || EXEMPT.includes(request.routeOptions.url ?? '')) return
    void reply.header('retry-after', '1')
    throw callerError('late')
  })
  app.addHook('onClose', async () => stop())
}

/**
 * Whether new requests are refused: the mean delay of the event loop is over 150 ms, with 32 or more requests in
 * progress.
 */
const isTooMuch = (delayMs: number, underWay: number): boolean => delayMs > MAX_DELAY_MS && underWay >= FEW

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
 * Detects steps that block the event loop for over 50 ms, during which no request is answered, and names the operations
 * in progress: if there is only one, it is the cause. Time in which the thread had no processor (a busy machine, a
 * stopped process) does not count. It looks only while operations are in progress.
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
