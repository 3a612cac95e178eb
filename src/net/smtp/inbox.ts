import type { Socket } from 'node:net'
import { type DialError, lostError } from './dial.ts'

/** Received bytes of a socket that nobody has read yet. */
export type Inbox = {
  /**
   * The next bytes; undefined once the other side has closed and everything is read. Bytes that arrived before a fault
   * are returned before the fault. One reader at a time.
   */
  readonly read: () => Promise<Uint8Array | undefined>
  /** Makes this and every further read reject; unread bytes are discarded. */
  readonly fail: (error: DialError) => void
  readonly failure: () => DialError | undefined
  /** Number of unread bytes. */
  readonly unread: () => number
  /** Stops listening and discards unread bytes. */
  readonly detach: () => void
}

/** Maximum number of unread bytes; beyond it the socket is paused, and the TCP window stops the sender. */
export const MAX_UNREAD = 64 * 1024

/** Listens to `socket` until {@link Inbox.detach}: at most {@link MAX_UNREAD} bytes and one chunk wait unread. */
export const inbox = (socket: Socket): Inbox => new SocketInbox(socket)

type Reader = {
  readonly resolve: (bytes: Uint8Array | undefined) => void
  readonly reject: (error: DialError) => void
}

/** A class, as are the bounds of a connection (lifetime.ts). */
class SocketInbox implements Inbox {
  readonly #socket: Socket
  #chunks: Uint8Array[] = []
  #unread = 0
  #ended = false
  #failed: DialError | undefined
  #waiting: Reader | undefined
  readonly #onData = (chunk: Uint8Array): void => {
    this.#chunks.push(chunk)
    this.#unread += chunk.length
    if (this.#unread >= MAX_UNREAD) this.#socket.pause()
    this.#deliver()
  }
  readonly #onEnd = (): void => {
    this.#ended = true
    this.#deliver()
  }
  readonly #onError = (error: Error): void => {
    this.#failed ??= lostError(error)
    this.#deliver()
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onEnd).on('error', this.#onError)
  }

  read(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#deliver()
    })
  }

  fail(error: DialError): void {
    this.#failed ??= error
    this.#discard()
    this.#deliver()
  }

  failure(): DialError | undefined {
    return this.#failed
  }

  unread(): number {
    return this.#unread
  }

  detach(): void {
    this.#discard()
    this.#socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onEnd).off('error', this.#onError)
  }

  #discard(): void {
    this.#chunks = []
    this.#unread = 0
  }

  #deliver(): void {
    if (!this.#waiting) return
    const { resolve, reject } = this.#waiting
    const next = this.#chunks.shift()
    if (next) this.#unread -= next.length
    else if (!this.#failed && !this.#ended) return
    this.#waiting = undefined
    if (next) resolve(next)
    else if (this.#failed) reject(this.#failed)
    else resolve(undefined)
    if (this.#unread < MAX_UNREAD && this.#socket.isPaused()) this.#socket.resume()
  }
}
