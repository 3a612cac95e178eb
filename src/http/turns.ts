/**
 * Lets work begin one piece a turn of the event loop, in the order of asking. A thousand requests that come at once would else begin in one turn, and nothing
 * would be answered until the last of them had; this way what is short (health above all) is answered in between. An idle loop turns in microseconds.
 */
export function turns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
