import { random32 } from './entropy.ts'
import { outbox } from './outbox.ts'
import { PortSocket, type UdpHandlers } from './port-socket.ts'
import type { Server } from './system.ts'
import type { Wait } from './wait.ts'

/** Sockets that take questions at a time: each stands on a random port (RFC 5452 §9.2), and which one is used is random too. */
const OPEN_SOCKETS = 8
/** A socket is renewed after so much time, as after so many questions. */
const AGE_MS = 60_000
/** Sockets of one server at most, those that only wait for their last answers included. Beyond it the open ones serve longer. */
const MAX_SOCKETS = 256
/** Questions that one server may be asked at a time; one more fails with `network`. */
const MAX_IN_FLIGHT = 20_000

export type UdpPool<W extends Wait> = {
  /** Sends the question with a fresh id from a random socket; fails it with `network` when all sockets are full. */
  readonly ask: (wait: W) => void
  /** Fails what has expired and closes what has served. */
  readonly sweep: (nowMs: number) => void
  /** Whether a socket is open, or will be for a question that waits to be sent. */
  readonly open: () => boolean
  /** Closes all sockets; what is in flight fails with `network`. */
  readonly close: () => void
}

/** Sockets connected to one server: the kernel lets in what comes from its address and port and nothing else. */
export function udpPool<W extends Wait>(server: Server, on: UdpHandlers<W>, now: () => number): UdpPool<W> {
  const open: (PortSocket<W> | undefined)[] = new Array(OPEN_SOCKETS).fill(undefined)
  const all = new Set<PortSocket<W>>()

  const outgoing = outbox<W>(sendAll, now)

  function ask(wait: W): void {
    // As much may wait for its turn as may be in flight at most.
    if (outgoing.size() < MAX_IN_FLIGHT) outgoing.add(wait)
    else fail(wait)
  }

  /** One socket for what goes together: its answers come together too, and are read with half the system calls. */
  function sendAll(waits: readonly W[], nowMs: number): void {
    const place = random32() % OPEN_SOCKETS
    for (const wait of waits) {
      wait.holder = undefined
      const socket = pick(place, nowMs)
      if (socket) socket.ask(wait)
      else fail(wait)
    }
  }

  function pick(place: number, nowMs: number): PortSocket<W> | undefined {
    const socket = open[place]
    if (socket?.fresh() || (socket && all.size >= MAX_SOCKETS && usable(socket))) return socket
    socket?.retire()
    if (all.size >= MAX_SOCKETS) return open.find((other) => other && usable(other))
    const made = new PortSocket<W>(server, on, nowMs, () => all.delete(made))
    all.add(made)
    open[place] = made
    return made
  }

  const fail = (wait: W): void =>
    on.failed(wait, 'network', new Error(`more than ${MAX_IN_FLIGHT} questions in flight`))

  function sweep(nowMs: number): void {
    for (const socket of all) {
      socket.expire(nowMs)
      if (nowMs - socket.openedAtMs > AGE_MS) socket.retire()
    }
  }

  function close(): void {
    for (const wait of outgoing.empty()) {
      wait.holder = undefined
      on.failed(wait, 'network', new Error('closed'))
    }
    for (const socket of all) socket.close()
    open.fill(undefined)
  }

  return { ask, sweep, close, open: () => all.size > 0 || outgoing.size() > 0 }
}

const usable = <W extends Wait>(socket: PortSocket<W>): boolean => socket.usable(MAX_IN_FLIGHT / OPEN_SOCKETS)
