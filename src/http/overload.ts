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
 * Refuses new requests with 503 `overloaded` while the event loop is late because of the requests in progress. The delay is the mean of the last 250 ms, and measured
 * while many requests are in progress: it wakes the process a hundred times a second. It opens no file: `@fastify/under-pressure` also measures memory, which throws in its
 * timer, and so ends the process, when no descriptor is left.
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
export const isTooMuch = (delayMs: number, underWay: number): boolean => delayMs > MAX_DELAY_MS && underWay >= FEW
