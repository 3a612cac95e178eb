import { once, onceUnlessFailed } from '../base/share-work.ts'
import type { JobService } from '../jobs/service.ts'
import type { IdempotencyKeys } from '../store/postgres/idempotency-keys.ts'
import { DOWNLOAD_PAGE } from '../store/result-text.ts'
import { loadInSteps } from './in-steps.ts'
import type { Metrics } from './metrics.ts'

/*
 * Services whose code is loaded when it is first needed: they are the same as what their modules create.
 */

/**
 * The same as the service that `load` returns, which is called when it is first needed: it loads the 300 modules of the
 * database clients.
 */
export function lazyJobs(load: () => Promise<JobService>): JobService {
  let isLoaded = false
  const jobs = once(() => {
    isLoaded = true
    return load()
  })
  return {
    submit: async (...asked) => (await jobs()).submit(...asked),
    resumeUpload: async (...asked) => (await jobs()).resumeUpload(...asked),
    show: async (...asked) => (await jobs()).show(...asked),
    event: async (...asked) => (await jobs()).event(...asked),
    list: async (...asked) => (await jobs()).list(...asked),
    change: async (...asked) => (await jobs()).change(...asked),
    remove: async (...asked) => (await jobs()).remove(...asked),
    results: async (...asked) => (await jobs()).results(...asked),
    resultText: async (...asked) => (await jobs()).resultText(...asked),
    downloadPage: DOWNLOAD_PAGE,
    badRows: async (...asked) => (await jobs()).badRows(...asked),
    watch: async function* (...asked) {
      yield* (await jobs()).watch(...asked)
    },
    forget: async (...asked) => (await jobs()).forget(...asked),
    queue: async () => (isLoaded ? (await jobs()).queue() : undefined),
    start: async () => (await jobs()).start(),
    stop: async () => {
      if (isLoaded) await (await jobs()).stop()
    },
  }
}

/** Idempotency keys, whose code is loaded with the first one. */
export function lazyIdempotencyKeys(load: () => Promise<IdempotencyKeys>): IdempotencyKeys {
  const keys = once(load)
  return {
    claim: async (...asked) => (await keys()).claim(...asked),
    hold: async (...asked) => (await keys()).hold(...asked),
    keep: async (...asked) => (await keys()).keep(...asked),
    sweep: async (...asked) => (await keys()).sweep(...asked),
    release: async (...asked) => (await keys()).release(...asked),
  }
}

/** Events before the first scrape after which the code is loaded without one, and the most that are kept. */
const EARLY = { load: 1_000, most: 50_000 }

/**
 * The metrics of a service. prom-client, which has 90 modules, is loaded with the first scrape, or after 1,000 events;
 * events before that are counted then.
 */
export function lazyMetrics(): Metrics {
  const early: ((metrics: Metrics) => void)[] = []
  let opened: Metrics | undefined
  const open = onceUnlessFailed(async () => {
    await loadInSteps('prom-client')
    const made = (await import('./metrics.ts')).createMetrics()
    for (const event of early.splice(0)) event(made)
    opened = made
    return made
  })
  function count(event: (metrics: Metrics) => void): void {
    if (opened) event(opened)
    else if (early.push(event) > EARLY.most) early.shift()
    if (early.length === EARLY.load) open().catch(() => {}) // the next scrape tries again, and reports it
  }
  return {
    answered: (event) => count((metrics) => metrics.answered(event)),
    executed: (event) => count((metrics) => metrics.executed(event)),
    onDns: (event) => count((metrics) => metrics.onDns(event)),
    verified: (verification) => count((metrics) => metrics.verified(verification)),
    watch: (...asked) => count((metrics) => metrics.watch(...asked)),
    read: async () => (await open()).read(),
  }
}
