/**
 * One timer for all waiting queries: it fires every 50 ms while `open`, and keeps the process alive only while `busy`.
 */
const SWEEP_MS = 50

type Sweeper = {
  /** Must be called whenever a query starts. */
  readonly wake: () => void
  readonly stop: () => void
}

export function sweeper(sweep: () => void, busy: () => boolean, open: () => boolean): Sweeper {
  let timer: NodeJS.Timeout | undefined
  let held = false

  function look(): void {
    sweep()
    if (!timer) return
    if (!open() && !busy()) stop()
    else if (held && !busy()) {
      timer.unref()
      held = false
    }
  }
  function wake(): void {
    timer ??= setInterval(look, SWEEP_MS).unref()
    if (held) return
    timer.ref()
    held = true
  }
  function stop(): void {
    clearInterval(timer)
    timer = undefined
    held = false
  }
  return { wake, stop }
}
