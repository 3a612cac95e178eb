import { ttlCache } from '../base/ttl-cache.ts'
import type { Told } from '../operations/execute.ts'
import { pageError } from './problems.ts'

/** How long an answer is shown again without a new run, ms. */
const KEPT_MS = 60_000
/** Maximum number of answers kept, each at most 1 MiB. */
const MAX_KEPT = 32
/** Maximum number of concurrent runs, including those without a reader. */
const MAX_RUNS = 256
/** How long a run continues without a reader, ms: a lost connection is back within this time. */
const ALONE_MS = 15_000

type Answer = Extract<Told, { readonly kind: 'answer' }>
type Run = {
  readonly told: Told[]
  hasEnded: boolean
  readonly waiting: Set<() => void>
  followers: number
  timer?: NodeJS.Timeout
}

/** Questions of pages in progress, each asked once however often its page is loaded, and answers of the last minute. */
export type Runs = ReturnType<typeof runsOf>

export function runsOf(options: { readonly now: () => number; readonly maxRuns?: number; readonly aloneMs?: number }) {
  const { maxRuns = MAX_RUNS, aloneMs = ALONE_MS } = options
  const kept = ttlCache<Run>({ maxEntries: MAX_KEPT, now: options.now })
  const running = new Map<string, Run & { readonly control: AbortController }>()

  function start(key: string, begin: (signal: AbortSignal) => AsyncIterable<Told>): Run {
    if (running.size >= maxRuns) throw pageError('busy', { count: maxRuns })
    const control = new AbortController()
    const events = begin(control.signal) // may refuse the input: then there is no run
    const run = { told: [], hasEnded: false, waiting: new Set<() => void>(), followers: 0, control }
    running.set(key, run)
    void collect(key, run, events)
    return run
  }

  async function collect(key: string, run: Run, events: AsyncIterable<Told>): Promise<void> {
    try {
      for await (const one of events) tell(run, one)
    } catch (error) {
      tell(run, { kind: 'error', error })
    }
    run.hasEnded = true
    clearTimeout(run.timer)
    running.delete(key)
    if (run.told.at(-1)?.kind === 'answer') kept.set(key, run, KEPT_MS)
    for (const wake of run.waiting) wake()
  }

  async function* followed(
    run: Run & { readonly control?: AbortController },
    signal: AbortSignal,
  ): AsyncGenerator<Told, void, undefined> {
    run.followers++
    clearTimeout(run.timer)
    try {
      for (let at = 0; !signal.aborted; ) {
        const one = run.told[at]
        if (one) {
          at++
          yield one
        } else if (run.hasEnded) return
        else await change(run, signal)
      }
    } finally {
      run.followers--
      if (run.followers === 0 && !run.hasEnded)
        run.timer = setTimeout(
          () => run.control?.abort(new DOMException('nobody waits', 'AbortError')),
          aloneMs,
        ).unref()
    }
  }

  const recall = (key: string): Run | undefined => kept.get(key)?.value
  return {
    /** The answer to an equal question of the last minute. */
    known: (key: string): Answer | undefined => {
      const last = recall(key)?.told.at(-1)
      return last?.kind === 'answer' ? last : undefined
    },
    /** The question is asked anew the next time. */
    forget: (key: string) => void kept.delete(key),
    /** Whether an equal question is in progress or was answered in the last minute. */
    has: (key: string) => running.has(key) || recall(key) !== undefined,
    /**
     * All events of a question, from its beginning, even if it started earlier. Throws AppError `overloaded` beyond the
     * bound.
     */
    follow: (key: string, begin: (signal: AbortSignal) => AsyncIterable<Told>, signal: AbortSignal) =>
      followed(running.get(key) ?? recall(key) ?? start(key, begin), signal),
    size: () => running.size,
  }
}

function tell(run: Run, one: Told): void {
  run.told.push(one)
  for (const wake of run.waiting) wake()
}

/** Resolves when there is a new event, the run has ended or the signal fires. */
const change = (run: Run, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      run.waiting.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    run.waiting.add(wake)
    signal.addEventListener('abort', wake, { once: true })
  })
