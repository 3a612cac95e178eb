import type { Answered, By, Execute } from './execute.ts'
import type { Operation, Part, Raw } from './operation.ts'
import { questionError } from './problems.ts'

/**
 * The events of a running operation: its parts as they end, and finally its answer, or why there is none (any fault, as
 * it was thrown).
 */
export type Told =
  | { readonly kind: 'part'; readonly part: Part }
  | { readonly kind: 'answer'; readonly given: Answered }
  | { readonly kind: 'error'; readonly error: unknown }

/** Maximum number of parts that wait for a slow reader; further ones are skipped, since the answer contains all. */
const MAX_WAITING = 200

/**
 * Executes an operation and yields its parts as they end. Throws only AppError for invalid input, before the first
 * event. Ending the iteration early ends the operation.
 */
export function inParts(execute: Execute, operation: Operation, raw: Raw, by: By): AsyncIterable<Told> {
  operation.ask(raw)
  return told(execute, operation, raw, by)
}

async function* told(execute: Execute, operation: Operation, raw: Raw, by: By): AsyncGenerator<Told, void, undefined> {
  const waiting: Told[] = []
  let wake = (): void => {}
  const put = (one: Told): void => {
    if (waiting.length < MAX_WAITING || one.kind !== 'part') waiting.push(one)
    wake()
  }
  const left = new AbortController()
  const signal = by.signal ? AbortSignal.any([by.signal, left.signal]) : left.signal
  execute(operation, raw, { ...by, signal, onPart: (part) => put({ kind: 'part', part }) }).then(
    (given) => put({ kind: 'answer', given }),
    (error: unknown) => put({ kind: 'error', error }),
  )
  try {
    for (;;) {
      const one = waiting.shift()
      if (one) yield one
      if (one && one.kind !== 'part') return
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    left.abort(questionError('disconnected'))
  }
}
