import { engine } from './engine.ts'
import type { DnsEvent, Question } from './question.ts'
import type { Answer, RecordType } from './resolver.ts'
import type { Server } from './system.ts'
import { MAX_UPSTREAMS, upstream } from './upstream.ts'

export type DnsClientOptions = {
  /** Recursive resolvers in the order in which they are queried; at most 16 are used. */
  readonly servers: readonly Server[]
  /** Whether their AD bit is trusted: only if nobody can change it on the path (RFC 4035 §4.9.3). */
  readonly trustAd: boolean
  /** A number from 0 to 1, for the jitter of retries; ids and ports have their own source. */
  readonly random: () => number
  /** Milliseconds of a clock that does not step. Default: the clock of the process. */
  readonly now?: () => number
  readonly onEvent?: (event: DnsEvent) => void
  /**
   * `tryMs`: limit for one server in the first round, default 1,500. `totalMs`: limit of the whole query, default
   * 10,000.
   */
  readonly timeouts?: { readonly tryMs?: number; readonly totalMs?: number }
}

export type DnsClient = ReturnType<typeof dnsClient>

/**
 * A stub resolver: queries recursive servers over UDP from random ports, and over TCP where UDP is not enough. A query
 * goes to the next server after a timeout, SERVFAIL or REFUSED; at most four attempts, or one per server if there are
 * more; two while the servers answer nothing at all, not even for the root, and one for a query that begins then. It
 * follows CNAME chains that a server leaves unfinished. It caches nothing; see {@link cached}.
 */
export function dnsClient(options: DnsClientOptions) {
  const { timeouts, onEvent, now = () => performance.now() } = options
  const { random, trustAd } = options
  if (options.servers.length === 0) throw new TypeError('a DNS client needs a server')
  const questions = engine({
    recursion: true,
    trustAd,
    random,
    now,
    tryMs: timeouts?.tryMs ?? 1_500,
    tries: 4,
    totalMs: timeouts?.totalMs ?? 10_000,
    onEvent,
  })
  const upstreams = options.servers
    .slice(0, MAX_UPSTREAMS)
    .map((server) => upstream<Question>(server, questions.handlers, now))
  const sweeps = sweeper(
    () => {
      const nowMs = now()
      for (const { link } of upstreams) link.sweep(nowMs)
    },
    questions.busy,
    () => upstreams.some(({ link }) => link.open()),
  )

  function resolve<T extends RecordType>(
    name: string,
    type: T,
    signal: AbortSignal,
    asked?: { readonly checkingDisabled?: boolean },
  ): Promise<Answer<T>> {
    sweeps.wake()
    return questions.ask<T>(upstreams, name, type, signal, asked?.checkingDisabled === true, false)
  }

  /** Ends all queries with `aborted` and closes all sockets. */
  function close(): void {
    questions.close()
    sweeps.stop()
    for (const { link } of upstreams) link.close()
  }
  return { resolve, close }
}

/**
 * One timer for all waiting queries: it fires every 50 ms while `open`, and keeps the process alive only while `busy`.
 */
const SWEEP_MS = 50

export function sweeper(sweep: () => void, busy: () => boolean, open: () => boolean) {
  let timer: NodeJS.Timeout | undefined
  let held = false

  function look(): void {
    sweep()
    if (!timer) return
    if (!open() && !busy()) stop()
    else if (held && !busy()) {
      timer.unref()
      held = false
    }
  }
  /** Must be called whenever a query starts. */
  function wake(): void {
    timer ??= setInterval(look, SWEEP_MS).unref()
    if (held) return
    timer.ref()
    held = true
  }
  function stop(): void {
    clearInterval(timer)
    timer = undefined
    held = false
  }
  return { wake, stop }
}
