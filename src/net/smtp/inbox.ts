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
export function inbox(socket: Socket): Inbox {
  let chunks: Uint8Array[] = []
  let unread = 0
  let ended = false
  let failed: DialError | undefined
  let waiting: { resolve: (bytes: Uint8Array | undefined) => void; reject: (error: DialError) => void } | undefined

  function deliver(): void {
    if (!waiting) return
    const { resolve, reject } = waiting
    const next = chunks.shift()
    if (next) unread -= next.length
    else if (!failed && !ended) return
    waiting = undefined
    if (next) resolve(next)
    else if (failed) reject(failed)
    else resolve(undefined)
    if (unread < MAX_UNREAD && socket.isPaused()) socket.resume()
  }
  const onData = (chunk: Uint8Array): void => {
    chunks.push(chunk)
    unread += chunk.length
    if (unread >= MAX_UNREAD) socket.pause()
    deliver()
  }
  const onEnd = (): void => {
    ended = true
    deliver()
  }
  const onError = (error: Error): void => {
    failed ??= lostError(error)
    deliver()
  }
  socket.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError)

  return {
    read: () =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        deliver()
      }),
    fail: (error) => {
      failed ??= error
      chunks = []
      unread = 0
      deliver()
    },
    failure: () => failed,
    unread: () => unread,
    detach: () => {
      chunks = []
      unread = 0
      socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError)
    },
  }
}
