import { limiter } from '../base/limiter.ts'

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
