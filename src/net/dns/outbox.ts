import type { Holder, Wait } from './wait.ts'

/** How fast a server is asked: so many at once, then so many a ms. More would overrun the receive buffer that systems give by default (256 datagrams). */
const BURST = 96
const SENDS_A_MS = 160
/** Places of questions that went are given back once there are so many. */
const MAX_GONE = 4_096

/** Questions that were asked and not sent yet. */
export type Outbox<W extends Wait> = {
  /** The question goes at the end of this turn of the event loop, or as soon as the pace allows. */
  readonly add: (wait: W) => void
  readonly size: () => number
  /** Takes out all that has not gone. */
  readonly empty: () => W[]
}

/**
 * What is asked in one turn of the event loop goes out together: the server wakes up once for all of it, and the system calls follow
 * each other. `send` sends some, in the order in which they were asked.
 */
export function outbox<W extends Wait>(
  send: (waits: readonly W[], nowMs: number) => void,
  now: () => number,
): Outbox<W> {
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
    if (head === queue.length || head > MAX_GONE) tidy()
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
