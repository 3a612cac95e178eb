import { sleep } from './deadline.ts'

/** The pauses of a loop that looks for work again and again, and that others may wake. */
type Wakeable = {
  /** Begins a look: calls of `wake` before it do not shorten the pause after it. */
  readonly begin: () => void
  /** Ends the pause, or prevents the next one if a look is in progress. */
  readonly wake: () => void
  /** Waits `ms`, or until `wake` or the signal; returns whether the loop was woken. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<boolean>
}

export function wakeable(): Wakeable {
  let isWoken = false
  let interrupt = (): void => {}
  return {
    begin: () => {
      isWoken = false
    },
    wake: () => {
      if (isWoken) return
      isWoken = true
      interrupt()
    },
    pause: async (ms, signal) => {
      if (isWoken) return true
      const woken = new AbortController()
      interrupt = () => woken.abort()
      await sleep(ms, AbortSignal.any([woken.signal, signal])).catch(() => {})
      return isWoken
    },
  }
}
