import { decodeMessage } from './decode.ts'
import { formatServer, type Server } from './system.ts'
import { tcpPool } from './tcp.ts'
import { type Transport, udpPool } from './udp.ts'
import type { Handlers, Wait } from './wait.ts'

/** A server with its transports and its health. */
export type Upstream<W extends Wait> = {
  readonly server: Server
  /** `address:port`. */
  readonly text: string
  readonly link: Transport<W>
  faults: number
  /** Until then the server is used only if no other is left. */
  downUntilMs: number
  /** It has answered nothing for some time, the question for the root neither. */
  isSilent: boolean
}

/**
 * The servers that a query was sent to, as bits by their index. `out`: the server refused, and is not queried again.
 */
export type Round = { tried: number; out: number }

/** Maximum number of servers of one client. */
export const MAX_UPSTREAMS = 16
const FAULTS_TO_DOWN = 3
const DOWN_MS = 2_000
const DOWN_MOST_MS = 30_000
/** While one query tests a server that was down, other queries do not use it. */
const PROBE_MS = 2_000

export const upstream = <W extends Wait>(server: Server, on: Handlers<W>, now: () => number): Upstream<W> => ({
  server,
  text: formatServer(server),
  link: link(server, on, now),
  faults: 0,
  downUntilMs: 0,
  isSilent: false,
})

/** The server answered: it is up. */
export function recordAnswer(at: Upstream<never>): void {
  at.faults = 0
  at.downUntilMs = 0
  at.isSilent = false
}

/** After three consecutive faults the server is not used for 2 s, then 4 s … 30 s. */
export function recordFault(at: Upstream<never>, nowMs: number): void {
  at.faults++
  if (at.faults < FAULTS_TO_DOWN || at.downUntilMs > nowMs) return
  const doubled = DOWN_MS * 2 ** Math.min(10, at.faults - FAULTS_TO_DOWN)
  at.downUntilMs = nowMs + Math.min(DOWN_MOST_MS, doubled)
}

/**
 * The index of the next server: the first that is up and was not queried yet, otherwise the first that was not queried,
 * otherwise from the beginning; -1 if all refused.
 */
export function pick(upstreams: readonly Upstream<never>[], round: Round, nowMs: number): number {
  const everyone = (1 << upstreams.length) - 1
  if (round.out === everyone) return -1
  if ((round.tried | round.out) === everyone) round.tried = 0
  let second = -1
  for (let place = 0; place < upstreams.length; place++) {
    if (((round.tried | round.out) >> place) & 1) continue
    const at = upstreams[place]!
    if (at.downUntilMs <= nowMs) {
      if (at.faults >= FAULTS_TO_DOWN) at.downUntilMs = nowMs + PROBE_MS
      return place
    }
    if (second < 0) second = place
  }
  return second
}

/**
 * The transports to one server: UDP, and TCP after a truncated, unreadable or mismatched answer. Each query ends in
 * `answered` or `failed` exactly once, unless it is given up or the link is closed.
 */
function link<W extends Wait>(server: Server, on: Handlers<W>, now: () => number): Transport<W> {
  const { failed, event } = on
  const toTcp = (wait: W): void => {
    event('to_tcp', server)
    tcp.ask(wait)
  }
  const udp = udpPool<W>(
    server,
    {
      failed,
      event,
      mismatched: toTcp,
      received: (wait, bytes) => {
        const message = decodeMessage(bytes, comparedIn(wait, bytes))
        if (!message.ok || message.value.truncated)
          toTcp(wait) // RFC 7766 §5, RFC 2181 §9
        else on.answered(wait, message.value)
      },
    },
    now,
  )
  const tcp = tcpPool<W>(
    server,
    {
      failed,
      event,
      received: (wait, bytes) => {
        const message = decodeMessage(bytes, comparedIn(wait, bytes))
        if (!message.ok) failed(wait, 'malformed', new Error(message.problem.text))
        else if (message.value.truncated) failed(wait, 'malformed', new Error('the answer over TCP is truncated'))
        else on.answered(wait, message.value)
      },
    },
    now,
  )
  return {
    ask: (wait) => (wait.overTcp ? tcp : udp).ask(wait),
    open: () => udp.open() || tcp.connections() > 0,
    sweep: (nowMs) => {
      udp.sweep(nowMs)
      tcp.sweep(nowMs)
    },
    close: () => {
      udp.close()
      tcp.close()
    },
  }
}

const comparedIn = (wait: Wait, bytes: Buffer): { name: string; end: number } | undefined =>
  bytes[5] === 1 ? { name: wait.wireName, end: wait.questionEnd - wait.start } : undefined
