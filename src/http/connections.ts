import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { limiter } from '../base/limiter.ts'
import { isUnix } from '../net/unix-socket.ts'

/** Bounds on open connections, concurrent requests and unread answers. */
export type ConnectionBounds = {
  /** Number of connections; a further one is closed at once. */
  readonly maxConnections: number
  /** Requests that may wait on one connection (pipelining, RFC 9112 §9.3.2); a further one closes the connection. */
  readonly maxWaiting: number
  /** Requests that may wait on all connections together; the connection with the most is closed. */
  readonly maxWaitingInAll: number
  /** Requests of one connection that are processed before the client has read their answers; the others wait. */
  readonly maxAtOnce: number
  /** Requests of all connections that start in one turn of the event loop; the others wait for the next turns. */
  readonly maxInTurn: number
  /** Bytes of answers that clients have not read, in total; beyond it, the connections with the most are closed. */
  readonly maxUnreadBytes: number
  /** Time without reading anything after which a client with unread answers is disconnected, ms. */
  readonly stalledMs: number
}

export const CONNECTION_BOUNDS: ConnectionBounds = {
  maxConnections: 10_000,
  maxWaiting: 100,
  maxWaitingInAll: 10_000,
  maxAtOnce: 8,
  maxInTurn: 32,
  maxUnreadBytes: 64 * 1024 * 1024,
  stalledMs: 30_000,
}

/** Interval of the check for clients that do not read, in ms. */
const SWEEP_MS = 1_000
/** Time that a connection over its bound has for the answers to its earlier requests, ms. */
const LAST_ANSWERS_MS = 1_000

type Waiting = { readonly request: IncomingMessage; readonly response: ServerResponse }
type Connection = {
  readonly socket: Socket
  /** Requests that were received and are not answered and read, including those that are skipped. */
  count: number
  readonly queue: Waiting[]
  readonly active: Set<ServerResponse>
  isOver: boolean
  /** Bytes that the client, or the system on the way to it, has accepted. */
  bytesRead: number
  progressAtMs: number
}

const newConnection = (socket: Socket, nowMs: number): Connection => ({
  socket,
  count: 0,
  queue: [],
  active: new Set(),
  isOver: false,
  bytesRead: 0,
  progressAtMs: nowMs,
})

/**
 * An HTTP server that hands requests to `listener` within the bounds. Node reads requests ahead in pieces of 64 KiB,
 * which may hold 2,500, and keeps every answer until it is read. `now`: a clock that never steps back, ms. `isUrgent`:
 * requests that begin before others that have waited longer.
 */
export function boundedServer(
  options: ServerOptions,
  listener: RequestListener,
  bounds: ConnectionBounds,
  {
    now = () => performance.now(),
    isUrgent = () => false,
  }: { readonly now?: () => number; readonly isUrgent?: (request: IncomingMessage) => boolean } = {},
): Server {
  const work = inTurns(({ request, response }: Waiting) => {
    const { socket } = request
    if (socket.remoteAddress === undefined && !isUnix(socket))
      socket.destroy() // the client has disconnected
    else if (!response.destroyed) listener(request, response)
  }, bounds.maxInTurn)
  const known = new WeakMap<Socket, Connection>()
  const busy = new Set<Connection>()
  let waitingInAll = 0

  function connectionOf(socket: Socket): Connection {
    let connection = known.get(socket)
    if (!connection) {
      const made = newConnection(socket, now())
      known.set(socket, made)
      socket.once('close', () => forget(made))
      connection = made
    }
    busy.add(connection)
    return connection
  }

  function forget(connection: Connection): void {
    busy.delete(connection)
    waitingInAll -= connection.count
    connection.count = 0
    connection.queue.length = 0
    connection.isOver = true
  }

  function arrived(request: Waiting['request'], response: ServerResponse): void {
    if (request.socket.destroyed) return // the rest of a chunk that was read before
    const connection = connectionOf(request.socket)
    connection.count++
    waitingInAll++
    if (waitingInAll > bounds.maxWaitingInAll) closeLargest()
    if (connection.isOver) return
    if (connection.count > bounds.maxWaiting) refuseMore(connection)
    else if (connection.queue.length === 0 && connection.active.size < bounds.maxAtOnce)
      begin(connection, request, response) // almost always: a client that waits for each answer
    else connection.queue.push({ request, response })
  }

  /** Clients with few requests are not disconnected because of clients with many. */
  function closeLargest(): void {
    let largest: Connection | undefined
    for (const connection of busy) if (connection.count > (largest?.count ?? 0)) largest = connection
    if (!largest) return
    largest.socket.destroy()
    forget(largest)
  }

  function begin(connection: Connection, request: Waiting['request'], response: ServerResponse): void {
    connection.active.add(response)
    response.once('close', () => answered(connection, response))
    work({ request, response }, isUrgent(request))
  }

  function next(connection: Connection): void {
    while (connection.active.size < bounds.maxAtOnce) {
      const waiting = connection.queue.shift()
      if (!waiting) break
      begin(connection, waiting.request, waiting.response)
    }
  }

  function answered(connection: Connection, response: ServerResponse): void {
    connection.active.delete(response)
    if (!busy.has(connection) || connection.socket.destroyed) return
    connection.count--
    waitingInAll--
    connection.progressAtMs = now()
    if (connection.queue.length > 0) next(connection)
    if (connection.active.size > 0) return
    if (connection.isOver) connection.socket.destroySoon()
    else if (connection.count === 0) busy.delete(connection)
  }

  const server = createServer(options, arrived)
  server.maxConnections = bounds.maxConnections
  endInTurns(server, bounds.maxInTurn)
  // Connections without a request make room for the next one. Looking for them costs a step for each connection: a flood
  // of dropped ones makes it once in a sweep.
  let madeRoomAtMs = Number.NEGATIVE_INFINITY
  server.on('drop', () => {
    if (now() - madeRoomAtMs < SWEEP_MS) return
    madeRoomAtMs = now()
    server.closeIdleConnections()
  })
  const timer = setInterval(() => sweep(busy, bounds, now()), SWEEP_MS).unref()
  server.once('close', () => clearInterval(timer))
  return server
}

/** Reads no more from the connection, and closes it when its earlier requests are answered, or after a second. */
function refuseMore(connection: Connection): void {
  const { socket } = connection
  connection.isOver = true
  socket.pause()
  socket.resume = () => socket // the HTTP server would resume reading after each answer
  setTimeout(() => socket.destroy(), LAST_ANSWERS_MS).unref()
}

/** Disconnects clients that have not read for a long time and, while too much is unread, those with the most. */
function sweep(busy: Iterable<Connection>, bounds: ConnectionBounds, nowMs: number): void {
  const unread: { readonly connection: Connection; readonly bytes: number }[] = []
  for (const connection of busy) {
    const bytes = unreadBytes(connection)
    const read = connection.socket.bytesWritten - connection.socket.writableLength
    if (read !== connection.bytesRead || bytes === 0) {
      connection.bytesRead = read
      connection.progressAtMs = nowMs
    }
    if (nowMs - connection.progressAtMs > bounds.stalledMs) connection.socket.destroy()
    else if (bytes > 0) unread.push({ connection, bytes })
  }
  let sum = unread.reduce((all, { bytes }) => all + bytes, 0)
  for (const { connection, bytes } of unread.toSorted((a, b) => b.bytes - a.bytes)) {
    if (sum <= bounds.maxUnreadBytes) return
    connection.socket.destroy()
    sum -= bytes
  }
}

/** Unread bytes: in the socket, and in answers that wait for their turn. */
function unreadBytes({ socket, active }: Connection): number {
  let bytes = socket.writableLength
  for (const response of active) if (!response.socket) bytes += response.writableLength
  return bytes
}

/**
 * Ends at most `perTurn` connections in one turn of the event loop: a client (or a proxy) that held thousands and dies
 * ends them all at once, and as many requests are answered meanwhile as before. A socket counts as destroyed at once;
 * its descriptor is closed in its turn.
 */
function endInTurns(server: Server, perTurn: number): void {
  const end = inTurns((step: () => void) => step(), perTurn)
  server.on('connection', (socket: Socket) => {
    for (const listener of socket.listeners('end') as (() => void)[]) {
      socket.off('end', listener)
      socket.on('end', () => end(() => listener.call(socket)))
    }
    const destroy = socket._destroy
    socket._destroy = (error, done) => end(() => destroy.call(socket, error, done))
  })
}

const ONE = { concurrent: 1 }
const never = new AbortController().signal

/**
 * Lets one piece of work begin in each turn of the event loop, first come, first served. A thousand requests that come
 * at once would otherwise begin in one turn, and nothing would be answered until the last of them had; this way what is
 * short (health above all) is answered in between. An idle loop turns in microseconds, so nobody needs to give up
 * waiting. Who waits is bounded by the caller (`--max-concurrency`).
 */
export function turns(): () => Promise<void> {
  const places = limiter({ maxWaiting: Number.POSITIVE_INFINITY })
  return async () => {
    setImmediate(await places.enter('', ONE, never))
  }
}

/**
 * Does at most `perTurn` pieces of `work` in one turn of the event loop, at once where the turn has room; the others
 * wait for the next turns, urgent ones first, each kind first come, first served. What arrives together (a thousand
 * requests, connections that expire at the same time) would otherwise be one step in which nobody is answered. What
 * waits is bounded by the caller: no more than there are connections, or requests that may wait.
 */
export function inTurns<T>(work: (item: T) => void, perTurn: number): (item: T, isUrgent?: boolean) => void {
  const urgent: T[] = []
  const others: T[] = []
  let room = perTurn
  let isAwaited = false

  function nextTurn(): void {
    isAwaited = false
    const first = urgent.splice(0, perTurn)
    const due = [...first, ...others.splice(0, perTurn - first.length)]
    room = perTurn - due.length
    if (due.length > 0) awaitTurn()
    for (const item of due) work(item)
  }

  function awaitTurn(): void {
    if (!isAwaited) setImmediate(nextTurn)
    isAwaited = true
  }

  return (item, isUrgent = false) => {
    awaitTurn()
    if (room === 0) (isUrgent ? urgent : others).push(item)
    else {
      room--
      work(item)
    }
  }
}
