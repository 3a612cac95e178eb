import { once } from '../base/share-work.ts'
import { DOWNLOAD_PAGE } from '../jobs/results.ts'
import type { JobService } from '../jobs/service.ts'
import type { IdempotencyKeys } from '../store/postgres/idempotency-keys.ts'

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
