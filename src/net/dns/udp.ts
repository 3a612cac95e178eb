import { random32 } from './encode.ts'
import { PortSocket, type UdpHandlers } from './port-socket.ts'
import type { Server } from './system.ts'
import type { Holder, Wait } from './wait.ts'

/** Number of sockets in use at a time: each has a random port (RFC 5452 §9.2), and each query uses a random one. */
const OPEN_SOCKETS = 8
/** Time after which a socket is replaced; it is also replaced after a number of queries. */
const AGE_MS = 60_000
/**
 * Maximum number of sockets per server, including those that only wait for their last answers; beyond it, open sockets
 * are used longer.
 */
const MAX_SOCKETS = 256
/** Maximum number of queries to one server at the same time; further ones fail with `network`. */
const MAX_IN_FLIGHT = 20_000

/** Sends queries to one server. */
export type Transport<W extends Wait> = {
  /** Fails the query with `network` if all sockets are full. */
  readonly ask: (wait: W) => void
  /** Fails expired queries and closes sockets that are no longer needed. */
  readonly sweep: (nowMs: number) => void
  /** Whether a socket is open, or will be opened for a query that waits to be sent. */
  readonly open: () => boolean
  /** Closes all sockets; queries in flight fail with `network`. */
  readonly close: () => void
}

/**
 * Sockets connected to one server: the kernel accepts only datagrams from its address and port. A query goes from a
 * random socket with a new id.
 */
export function udpPool<W extends Wait>(server: Server, on: UdpHandlers<W>, now: () => number): Transport<W> {
  const open: (PortSocket<W> | undefined)[] = new Array(OPEN_SOCKETS).fill(undefined)
  const all = new Set<PortSocket<W>>()

  const outgoing = sendQueue<W>(sendAll, now)

  function ask(wait: W): void {
    // As many queries may wait to be sent as may be in flight.
    if (outgoing.size() < MAX_IN_FLIGHT) outgoing.add(wait)
    else fail(wait)
  }

  /**
   * Queries that are sent together use one socket: their answers arrive together too, and are read with half the system
   * calls.
   */
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

  const fail = (wait: W): void => on.failed(wait, 'network', new Error(`more than ${MAX_IN_FLIGHT} queries in flight`))

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

/**
 * The rate of queries to a server: so many at once, then so many per ms. More would overrun the default receive buffer
 * of common systems (256 datagrams).
 */
const BURST = 96
const SENDS_A_MS = 160
/** The memory of sent queries is released once there are so many. */
const TIDY_AFTER = 4_096

/** Queries that were not sent yet. */
type SendQueue<W extends Wait> = {
  /** The query is sent at the end of this turn of the event loop, or as soon as the rate permits. */
  readonly add: (wait: W) => void
  readonly size: () => number
  /** Removes all queries that were not sent. */
  readonly empty: () => W[]
}

/**
 * Queries of one turn of the event loop are sent together: the server wakes up once for all of them, and the system
 * calls follow each other. `send` sends some, in their order.
 */
export function sendQueue<W extends Wait>(
  send: (waits: readonly W[], nowMs: number) => void,
  now: () => number,
): SendQueue<W> {
  let queue: (W | undefined)[] = []
  let head = 0
  let waiting = 0
  let allowance = BURST
  let allowedAtMs = Number.NEGATIVE_INFINITY
  let soon: NodeJS.Immediate | undefined
  let later: NodeJS.Timeout | undefined

  const holder: Holder = {
    forget: (place) => {
      if (queue[place] === undefined) return
      queue[place] = undefined
      waiting--
    },
  }

  function add(wait: W): void {
    wait.id = queue.length
    wait.holder = holder
    queue.push(wait)
    waiting++
    if (soon === undefined && later === undefined) soon = setImmediate(go)
  }

  function go(): void {
    const nowMs = now()
    allowance = Math.min(BURST, allowance + (nowMs - allowedAtMs) * SENDS_A_MS)
    allowedAtMs = nowMs
    soon = undefined
    const going = take(Math.floor(allowance))
    allowance -= going.length
    later = waiting > 0 ? setTimeout(go, 1) : undefined
    send(going, nowMs)
  }

  function take(most: number): W[] {
    const taken: W[] = []
    while (taken.length < most && head < queue.length) {
      const wait = queue[head]
      queue[head++] = undefined
      if (wait) taken.push(wait)
    }
    waiting -= taken.length
    if (head === queue.length || head > TIDY_AFTER) tidy()
    return taken
  }

  function tidy(): void {
    queue = queue.slice(head)
    head = 0
    for (const [place, wait] of queue.entries()) if (wait) wait.id = place
  }

  function empty(): W[] {
    clearImmediate(soon)
    clearTimeout(later)
    soon = later = undefined
    return take(queue.length)
  }
  return { add, size: () => waiting, empty }
}
