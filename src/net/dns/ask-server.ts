import { OutsideError } from '../../base/errors.ts'
import type { Ip } from '../../names/ip.ts'
import { sweeper } from './client.ts'
import { engine } from './engine.ts'
import type { DnsEvent, Question } from './question.ts'
import { type AskServer, DnsError } from './resolver.ts'
import { type Upstream, upstream } from './upstream.ts'

type ServerAskerOptions = {
  /** Whether queries to an address are permitted. */
  readonly allowed: (server: Ip) => boolean
  readonly random: () => number
  readonly now?: () => number
  readonly onEvent?: (event: DnsEvent) => void
  /** Default 53. */
  readonly port?: number
  /**
   * `tryMs`: limit of the single attempt, default 2,000. `totalMs`: limit of the whole query including TCP, default
   * 5,000.
   */
  readonly timeouts?: { readonly tryMs?: number; readonly totalMs?: number }
}

/** Maximum number of servers that are contacted at the same time; beyond twice as many, queries fail with `network`. */
const MAX_SERVERS = 1_024

/**
 * Queries single authoritative servers (RD=0) over UDP, and over TCP if the answer is truncated. Each query is sent
 * once, because the owner of a zone chose these addresses and they may belong to others. A referral (with its
 * delegation), and a CNAME chain that leaves the zones of the server, is `nodata` with the known part of the chain;
 * `authoritative` tells whether the server is authoritative for the zone.
 */
export function serverAsker(options: ServerAskerOptions) {
  const { timeouts, onEvent, now = () => performance.now() } = options
  const upstreams = new Map<Ip, Upstream<Question>>()
  const questions = engine({
    recursion: false,
    trustAd: false,
    random: options.random,
    now,
    tryMs: timeouts?.tryMs ?? 2_000,
    tries: 1,
    totalMs: timeouts?.totalMs ?? 5_000,
    onEvent,
  })
  const sweeps = sweeper(
    () => {
      const nowMs = now()
      for (const [address, { link }] of upstreams) {
        link.sweep(nowMs)
        if (!link.open()) upstreams.delete(address)
      }
    },
    questions.busy,
    () => upstreams.size > 0,
  )

  const ask: AskServer = (server, name, type, signal, { over } = {}) => {
    const question = { name, type }
    const port = options.port ?? 53
    if (!options.allowed(server)) return Promise.reject(new DnsError('unsafe_address', question))
    let at = upstreams.get(server)
    if (!at) {
      if (upstreams.size >= MAX_SERVERS) {
        const cause = new OutsideError(`more than ${MAX_SERVERS} servers are queried at once`)
        return Promise.reject(new DnsError('network', question, { cause }))
      }
      at = upstream<Question>({ ip: server, port }, questions.handlers, now)
      upstreams.set(server, at)
    }
    sweeps.wake()
    return questions.ask([at], name, type, signal, false, over === 'tcp')
  }

  function close(): void {
    questions.close()
    sweeps.stop()
    for (const { link } of upstreams.values()) link.close()
    upstreams.clear()
  }
  return { ask, close }
}
