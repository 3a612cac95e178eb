import { connect, type Socket } from 'node:net'
import { random32 } from './encode.ts'
import type { Server } from './system.ts'
import { type Handlers, isBareFormErr, sameQuestion, type Wait } from './wait.ts'

/** Maximum number of pipelined queries on a connection (RFC 7766 §6.2.1.1). */
const QUESTIONS_A_CONNECTION = 64
/** Maximum number of TCP connections to one server. */
const MAX_CONNECTIONS = 8
/** How long a connection without queries stays open (RFC 7766 §6.2.3). */
const IDLE_MS = 5_000

type TcpHandlers<W extends Wait> = Pick<Handlers<W>, 'failed' | 'event'> & {
  readonly received: (wait: W, bytes: Buffer) => void
}

type TcpPool<W extends Wait> = {
  /** Sends the query over an open connection, or a new one; fails it with `network` if all are full. */
  readonly ask: (wait: W) => void
  /** Fails expired queries and closes idle connections. */
  readonly sweep: (nowMs: number) => void
  readonly connections: () => number
  readonly close: () => void
}

/**
 * Connections to one server for answers that do not fit into a datagram. Each message is framed by its length, at most
 * 65,535 octets (RFC 1035 §4.2.2).
 */
export function tcpPool<W extends Wait>(server: Server, on: TcpHandlers<W>, now: () => number): TcpPool<W> {
  const all = new Set<Connection<W>>()

  function ask(wait: W): void {
    let connection = [...all].find((other) => other.usable())
    if (!connection && all.size < MAX_CONNECTIONS) {
      const made = new Connection<W>(server, on, now, () => all.delete(made))
      all.add(made)
      connection = made
    }
    if (connection) connection.ask(wait)
    else on.failed(wait, 'network', new Error(`more than ${MAX_CONNECTIONS * QUESTIONS_A_CONNECTION} queries over TCP`))
  }

  function sweep(nowMs: number): void {
    for (const connection of all) connection.sweep(nowMs)
  }

  function close(): void {
    for (const connection of all) connection.close()
    all.clear()
  }
  return { ask, sweep, close, connections: () => all.size }
}

class Connection<W extends Wait> {
  readonly #socket: Socket
  readonly #inFlight = new Map<number, W>()
  readonly #on: TcpHandlers<W>
  readonly #server: Server
  readonly #now: () => number
  readonly #gone: () => void
  readonly #prefix = Buffer.alloc(2)
  #prefixed = 0
  #frame: Buffer | undefined
  #filled = 0
  #retired = false
  #idleSinceMs: number

  constructor(server: Server, on: TcpHandlers<W>, now: () => number, gone: () => void) {
    this.#on = on
    this.#server = server
    this.#now = now
    this.#gone = gone
    this.#idleSinceMs = now()
    this.#socket = connect({ host: server.ip, port: server.port, noDelay: true })
    this.#socket.on('data', (chunk) => this.#receive(chunk))
    this.#socket.on('error', (error) => this.#fail('network', error))
    this.#socket.on('close', () => this.#fail('network', new Error('the server closed the connection')))
    this.#socket.unref()
  }

  usable(): boolean {
    return !this.#retired && this.#inFlight.size < QUESTIONS_A_CONNECTION
  }

  ask(wait: W): void {
    let id = random32() & 0xffff
    while (this.#inFlight.has(id)) id = (id + 1) & 0xffff
    const { bytes, start, end } = wait
    const framed = Buffer.allocUnsafe(end - start + 2)
    framed.writeUInt16BE(end - start)
    bytes.copy(framed, 2, start, end)
    framed.writeUInt16BE(id, 2)
    wait.id = id
    wait.holder = this
    this.#inFlight.set(id, wait)
    this.#socket.write(framed)
  }

  forget(id: number): void {
    if (this.#inFlight.delete(id)) this.#idleSinceMs = this.#now()
  }

  /** A connection on which an answer was not received in time accepts no more queries. */
  sweep(nowMs: number): void {
    for (const wait of this.#inFlight.values()) {
      if (wait.expiresAtMs > nowMs) continue
      this.#retired = true
      this.#release(wait)
      this.#on.failed(wait, 'timeout')
    }
    if (this.#inFlight.size === 0 && (this.#retired || nowMs - this.#idleSinceMs > IDLE_MS)) this.close()
  }

  close(): void {
    this.#fail('network', new Error('closed'))
  }

  #receive(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#socket.destroyed; ) {
      if (!this.#frame) {
        this.#prefix[this.#prefixed++] = chunk[at++]!
        if (this.#prefixed < 2) continue
        this.#frame = Buffer.allocUnsafeSlow(this.#prefix.readUInt16BE())
        this.#filled = 0
      }
      const copied = chunk.copy(this.#frame, this.#filled, at)
      at += copied
      this.#filled += copied
      if (this.#filled === this.#frame.length) this.#complete(this.#frame)
    }
  }

  #complete(frame: Buffer): void {
    this.#frame = undefined
    this.#prefixed = 0
    const wait = frame.length >= 12 ? this.#inFlight.get(frame.readUInt16BE()) : undefined
    if (!wait) {
      this.#on.event('unmatched', this.#server)
      return
    }
    this.#release(wait)
    if (sameQuestion(wait, frame) || isBareFormErr(frame)) {
      this.#on.received(wait, frame)
      return
    }
    this.#on.event('mismatched', this.#server)
    this.#on.failed(wait, 'malformed', new Error('the answer is to another query'))
    this.#fail('malformed', new Error('the server answers other queries'))
  }

  #release(wait: W): void {
    this.forget(wait.id)
    wait.holder = undefined
  }

  #fail(fault: 'network' | 'malformed', cause: unknown): void {
    const waits = [...this.#inFlight.values()]
    this.#retired = true
    this.#inFlight.clear()
    this.#socket.destroy()
    this.#gone()
    for (const wait of waits) {
      wait.holder = undefined
      this.#on.failed(wait, fault, cause)
    }
  }
}
