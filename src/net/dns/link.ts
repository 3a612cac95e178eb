import { decodeMessage } from './decode.ts'
import type { Server } from './system.ts'
import { tcpPool } from './tcp.ts'
import { udpPool } from './udp.ts'
import type { Handlers, Wait } from './wait.ts'

export type Link<W extends Wait> = {
  /** Asks over UDP, and over TCP after a truncated, unreadable or mismatched answer. */
  readonly ask: (wait: W) => void
  readonly sweep: (nowMs: number) => void
  /** Whether any socket is open, or a question waits to be sent. */
  readonly open: () => boolean
  readonly close: () => void
}

/** The way to one server. Each question ends in `answered` or `failed` exactly once, unless it is given up or the link closed. */
export function link<W extends Wait>(server: Server, on: Handlers<W>, now: () => number): Link<W> {
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
        if (!message.ok) failed(wait, 'malformed', new Error(message.problem))
        else if (message.value.truncated) failed(wait, 'malformed', new Error('truncated over TCP'))
        else on.answered(wait, message.value)
      },
    },
    now,
  )
  return {
    ask: udp.ask,
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
