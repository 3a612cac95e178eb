import type { ErrorCode } from '../base/errors.ts'

/** Interval between two lines about refusals of one reason, ms. */
const LINE_EVERY_MS = 1_000

/** A refused request, as in its log line. */
export type Refusal = {
  readonly reason: ErrorCode
  readonly status: number
  readonly path: string
  readonly caller: string
  readonly request_id: string
}

export type RefusalLog = {
  readonly add: (refusal: Refusal) => void
  /** Writes the lines that are due. */
  readonly stop: () => void
}

/**
 * Refusals are cheap for a caller, so they are not logged line by line: at most one line a second and reason, with the
 * first refused request and, if there were more, their number.
 */
export function refusalLog(write: (fields: Refusal & { readonly count: number }) => void): RefusalLog {
  const waiting = new Map<ErrorCode, { readonly first: Refusal; count: number }>()
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    timer = undefined
    for (const { first, count } of waiting.values()) write({ ...first, count })
    waiting.clear()
  }
  return {
    add: (refusal) => {
      const known = waiting.get(refusal.reason)
      if (known) known.count++
      else waiting.set(refusal.reason, { first: refusal, count: 1 })
      timer ??= setTimeout(flush, LINE_EVERY_MS).unref()
    },
    stop: () => {
      clearTimeout(timer)
      flush()
    },
  }
}
