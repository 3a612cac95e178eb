import { createSocket, type Socket } from 'node:dgram'
import { familyOf } from '../../names/ip.ts'
import { random32 } from './entropy.ts'
import type { Server } from './system.ts'
import { type Handlers, isBareFormErr, sameQuestion, type Wait } from './wait.ts'

/** Sockets that take questions at a time: each stands on a random port (RFC 5452 §9.2), and which one is used is random too. */
const OPEN_SOCKETS = 8
/** A socket is renewed after so many questions or so much time, so that its port is of little use to who learns it. */
const QUESTIONS_A_SOCKET = 500
const AGE_MS = 60_000
/** Sockets of one server at most, those that only wait for their last answers included. Beyond it the open ones serve longer. */
const MAX_SOCKETS = 256
/** Questions that one server may be asked at a time; one more fails with `network`. */
const MAX_IN_FLIGHT = 20_000
/** How fast a server is asked: so many at once, then so many a ms. More would overrun the receive buffer that systems give by default (256 datagrams). */
const BURST = 96
const SENDS_A_MS = 160
/** Room for the answers to all questions of one socket at once. */
const RECEIVE_BYTES = 1_048_576

/** What came over UDP. `mismatched`: the id is right and the question is not, which is either a forgery or a server that changes names. */
export type UdpHandlers<W extends Wait> = Pick<Handlers<W>, 'failed' | 'event'> & {
  readonly received: (wait: W, bytes: Buffer) => void
  readonly mismatched: (wait: W) => void
}

export type UdpPool<W extends Wait> = {
  /** Sends the question with a fresh id from a random socket; fails it with `network` when all sockets are full. */
  readonly ask: (wait: W) => void
  /** Fails what has expired and closes what has served. */
  readonly sweep: (nowMs: number) => void
  readonly sockets: () => number
  /** Closes all sockets; what is in flight fails with `network`. */
  readonly close: () => void
}

/** Sockets connected to one server: the kernel lets in what comes from its address and port and nothing else. */
export function udpPool<W extends Wait>(server: Server, on: UdpHandlers<W>, now: () => number): UdpPool<W> {
  const open: (PortSocket<W> | undefined)[] = new Array(OPEN_SOCKETS).fill(undefined)
  const all = new Set<PortSocket<W>>()

  let place = 0
  let drawnAtMs = Number.NEGATIVE_INFINITY
  let allowance = BURST
  let allowedAtMs = 0
  let turn: NodeJS.Timeout | undefined
  /** What waits for its turn, as much as may be in flight at most. */
  const later = new Set<W>()

  function pick(nowMs: number): PortSocket<W> | undefined {
    // One socket for what is asked within a ms: its answers come together, and are read with half the system calls.
    if (nowMs - drawnAtMs >= 1) {
      place = random32() % OPEN_SOCKETS
      drawnAtMs = nowMs
    }
    const socket = open[place]
    if (socket?.fresh() || (socket && all.size >= MAX_SOCKETS && socket.usable())) return socket
    socket?.retire()
    if (all.size >= MAX_SOCKETS) return open.find((other) => other?.usable())
    const made = new PortSocket<W>(server, on, nowMs, () => all.delete(made))
    all.add(made)
    open[place] = made
    return made
  }

  function ask(wait: W): void {
    const nowMs = now()
    if (turn === undefined && allowed(nowMs)) send(wait, nowMs)
    else if (later.size < MAX_IN_FLIGHT) hold(wait)
    else fail(wait)
  }

  /** Takes one from the allowance, if there is one. */
  function allowed(nowMs: number): boolean {
    allowance = Math.min(BURST, allowance + (nowMs - allowedAtMs) * SENDS_A_MS)
    allowedAtMs = nowMs
    if (allowance < 1) return false
    allowance--
    return true
  }

  function send(wait: W, nowMs: number): void {
    const socket = pick(nowMs)
    if (socket) socket.ask(wait)
    else fail(wait)
  }

  const fail = (wait: W): void =>
    on.failed(wait, 'network', new Error(`more than ${MAX_IN_FLIGHT} questions in flight`))

  function hold(wait: W): void {
    later.add(wait)
    turn ??= setTimeout(nextTurn, 1)
    wait.holder = { forget: () => later.delete(wait) }
  }

  function nextTurn(): void {
    const nowMs = now()
    for (const wait of later) {
      if (!allowed(nowMs)) break
      later.delete(wait)
      send(wait, nowMs)
    }
    turn = later.size > 0 ? setTimeout(nextTurn, 1) : undefined
  }

  function sweep(nowMs: number): void {
    for (const socket of all) {
      socket.expire(nowMs)
      if (nowMs - socket.openedAtMs > AGE_MS) socket.retire()
    }
  }

  function close(): void {
    clearTimeout(turn)
    turn = undefined
    for (const wait of later) on.failed(wait, 'network', new Error('closed'))
    later.clear()
    for (const socket of all) socket.close()
    open.fill(undefined)
  }

  return { ask, sweep, close, sockets: () => all.size }
}

class PortSocket<W extends Wait> {
  readonly inFlight = new Map<number, W>()
  readonly openedAtMs: number
  readonly #socket: Socket
  readonly #on: UdpHandlers<W>
  readonly #server: Server
  readonly #gone: () => void
  #left = QUESTIONS_A_SOCKET
  #retired = false
  #disposed = false

  constructor(server: Server, on: UdpHandlers<W>, nowMs: number, gone: () => void) {
    this.#on = on
    this.#gone = gone
    this.#server = server
    this.openedAtMs = nowMs
    const family = familyOf(server.ip)
    // The addresses are literals: a lookup that answers at once lets the socket be used in the same turn.
    const lookup = (host: string, _: unknown, done: (error: null, address: string, family: number) => void): void =>
      done(null, host, family)
    this.#socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4', lookup: lookup as never })
    this.#socket.on('message', (bytes) => this.#receive(bytes))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.connect(server.port, server.ip)
    this.#socket.unref() // the sweep keeps the process while questions wait
    try {
      this.#socket.setRecvBufferSize(RECEIVE_BYTES)
    } catch {
      // no route to the server: the socket's error event tells
    }
  }

  /** Whether its time and its number of questions are not over. */
  fresh(): boolean {
    return this.#left > 0 && !this.#retired
  }

  /** Whether it can take a question at all. */
  usable(): boolean {
    return !this.#retired && this.inFlight.size < MAX_IN_FLIGHT / OPEN_SOCKETS
  }

  /** Takes no more questions, and closes once it waits for nothing. */
  retire(): void {
    this.#retired = true
    if (this.inFlight.size === 0) this.#dispose()
  }

  ask(wait: W): void {
    const { bytes } = wait.query
    let id = random32() & 0xffff
    while (this.inFlight.has(id)) id = random32() & 0xffff
    bytes[0] = id >> 8
    bytes[1] = id & 0xff
    wait.id = id
    wait.holder = this
    this.#left--
    this.inFlight.set(id, wait)
    try {
      this.#socket.send(bytes)
    } catch (error) {
      queueMicrotask(() => this.#fail(error)) // never connected, for want of a route
    }
  }

  forget(id: number): void {
    if (this.inFlight.delete(id) && this.#retired && this.inFlight.size === 0) this.#dispose()
  }

  expire(nowMs: number): void {
    for (const wait of this.inFlight.values()) {
      if (wait.expiresAtMs > nowMs) continue
      this.#release(wait)
      this.#on.failed(wait, 'timeout')
    }
  }

  close(): void {
    this.#fail(new Error('closed'))
  }

  #receive(bytes: Buffer): void {
    const wait = bytes.length >= 12 ? this.inFlight.get((bytes[0]! << 8) | bytes[1]!) : undefined
    if (!wait) {
      this.#on.event('unmatched', this.#server)
      return
    }
    this.#release(wait)
    if (sameQuestion(wait.query, bytes) || isBareFormErr(bytes)) {
      this.#on.received(wait, bytes)
    } else {
      this.#on.event('mismatched', this.#server)
      this.#on.mismatched(wait)
    }
  }

  #release(wait: W): void {
    wait.holder = undefined
    this.forget(wait.id)
  }

  /** The kernel says that the server cannot be reached (ICMP, no route): true for all that wait here. */
  #fail(error: unknown): void {
    const waits = [...this.inFlight.values()]
    this.inFlight.clear()
    this.retire()
    for (const wait of waits) {
      wait.holder = undefined
      this.#on.failed(wait, 'network', error)
    }
  }

  #dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    this.#socket.removeAllListeners()
    this.#socket.on('error', () => {}) // the error of a connect that is still to come
    this.#socket.close()
    this.#gone()
  }
}
