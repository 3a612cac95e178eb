import { limiter } from '../base/limiter.ts'

const ONE = { concurrent: 1 }
const never = new AbortController().signal

/**
 * Lets one piece of work begin in each turn of the event loop, first come, first served. A thousand requests that come at once would otherwise begin in one
 * turn, and nothing would be answered until the last of them had; this way what is short (health above all) is answered in between. An idle loop turns in
 * microseconds, so nobody needs to give up waiting. Who waits is bounded by the caller (`--max-concurrency`).
 */
export function turns(): () => Promise<void> {
  const places = limiter({ maxWaiting: Number.POSITIVE_INFINITY })
  return async () => {
    setImmediate(await places.enter('', ONE, never))
  }
}
