import { createSocket, type Socket } from 'node:dgram'
import { familyOf } from '../../names/ip.ts'
import { random32 } from './encode.ts'
import type { Server } from './system.ts'
import { type Handlers, hasEdns, isBareFormErr, sameQuestion, type Wait } from './wait.ts'

/** Number of queries after which a socket is replaced, so that learning its port is of little use. */
const QUESTIONS_A_SOCKET = 500
/** Number of answers with unknown ids after which an attack is assumed: one in 655 such series succeeds. */
const MAX_GUESSES = 100
/** Buffer space for the answers to all queries of one socket. */
const RECEIVE_BYTES = 1_048_576

/**
 * A UDP datagram. `mismatched`: an answer that may be forged, or from a server that changes names; its content is not
 * used.
 */
export type UdpHandlers<W extends Wait> = Pick<Handlers<W>, 'failed' | 'event'> & {
  readonly received: (wait: W, bytes: Buffer) => void
  readonly mismatched: (wait: W) => void
}

/** A socket on a random port, connected to the server: the kernel accepts only datagrams from its address and port. */
export class PortSocket<W extends Wait> {
  readonly inFlight = new Map<number, W>()
  readonly openedAtMs: number
  readonly #socket: Socket
  readonly #on: UdpHandlers<W>
  readonly #server: Server
  readonly #gone: () => void
  /** One bit for each id that was used here: its answer may arrive late, or twice. */
  readonly #used = new Uint32Array(0x10000 / 32)
  #guesses = 0
  #left = QUESTIONS_A_SOCKET
  #retired = false
  #disposed = false

  constructor(server: Server, on: UdpHandlers<W>, nowMs: number, gone: () => void) {
    this.#on = on
    this.#gone = gone
    this.#server = server
    this.openedAtMs = nowMs
    const family = familyOf(server.ip)
    // The addresses are literals; a synchronous lookup makes the socket usable in the same turn.
    const lookup = (host: string, _: unknown, done: (error: null, address: string, family: number) => void): void =>
      done(null, host, family)
    this.#socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4', lookup: lookup as never })
    this.#socket.on('message', (bytes) => this.#receive(bytes))
    // A machine without a free descriptor reports it before this constructor has returned.
    this.#socket.on('error', (error) => queueMicrotask(() => this.#fail(error)))
    this.#socket.connect(server.port, server.ip)
    this.#socket.unref() // the sweep keeps the process alive while queries wait
    try {
      this.#socket.setRecvBufferSize(RECEIVE_BYTES)
    } catch {
      // no route to the server: the socket's error event reports it
    }
  }

  /** Whether neither its time nor its number of queries is used up. */
  fresh(): boolean {
    return this.#left > 0 && !this.#retired
  }

  /** Whether it can accept a query, with at most so many in flight. */
  usable(most: number): boolean {
    return !this.#retired && this.inFlight.size < most
  }

  /** Accepts no more queries, and closes once it waits for no answer. */
  retire(): void {
    this.#retired = true
    this.#disposeIfIdle()
  }

  ask(wait: W): void {
    const { bytes, start } = wait
    let id = random32() & 0xffff
    while (this.inFlight.has(id)) id = random32() & 0xffff
    bytes[start] = id >> 8
    bytes[start + 1] = id & 0xff
    wait.id = id
    wait.holder = this
    this.#left--
    this.inFlight.set(id, wait)
    this.#used[id >> 5]! |= 1 << (id & 31)
    try {
      this.#socket.send(bytes, start, wait.end - start)
    } catch (error) {
      queueMicrotask(() => this.#fail(error)) // never connected, because there was no route
    }
  }

  forget(id: number): void {
    if (this.inFlight.delete(id)) this.#disposeIfIdle()
  }

  expire(nowMs: number): void {
    for (const wait of this.inFlight.values()) {
      if (wait.expiresAtMs > nowMs) continue
      wait.holder = undefined
      this.forget(wait.id)
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
      if (bytes.length < 12 || !this.#wasUsed((bytes[0]! << 8) | bytes[1]!)) this.#guessed()
      return
    }
    this.inFlight.delete(wait.id)
    wait.holder = undefined
    if (sameQuestion(wait, bytes) || (isBareFormErr(bytes) && hasEdns(wait))) {
      this.#on.received(wait, bytes)
    } else {
      this.#on.event('mismatched', this.#server)
      this.#on.mismatched(wait)
    }
    this.#disposeIfIdle()
  }

  #wasUsed(id: number): boolean {
    return ((this.#used[id >> 5]! >> (id & 31)) & 1) === 1
  }

  /**
   * Somebody may be guessing ids: queries in flight are repeated over TCP, where ids are of no use to an off-path
   * attacker.
   */
  #guessed(): void {
    if (++this.#guesses < MAX_GUESSES) return
    const waits = [...this.inFlight.values()]
    this.inFlight.clear()
    this.retire()
    for (const wait of waits) {
      wait.holder = undefined
      this.#on.mismatched(wait)
    }
  }

  #disposeIfIdle(): void {
    if (this.#retired && this.inFlight.size === 0) this.#dispose()
  }

  /** The kernel reports that the server is unreachable (ICMP, no route); this applies to all queries that wait here. */
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
    this.#socket.on('error', () => {}) // the error of a connect that is still pending
    this.#socket.close()
    this.#gone()
  }
}
