import { atMost } from '../../base/at-most.ts'
import { raced, within } from '../../base/deadline.ts'
import { limiter } from '../../base/limiter.ts'
import { throughOutage } from '../../store/postgres/connect.ts'
import type { JobRows } from '../../store/postgres/job-rows.ts'
import { isJobGone, type JobRecord, type Jobs } from '../../store/postgres/jobs.ts'
import type { FindProvider } from './claims.ts'

type LookupSettings = {
  readonly jobs: Jobs
  readonly rows: JobRows
  readonly findProvider: FindProvider
  /** Called with a job whose rows can be asked now, or whose domains have all been looked up. */
  readonly onFound: (job: number) => void
  readonly onFault: (error: unknown, job: JobRecord) => void
  /** Whether a job may be tried now that failed before. */
  readonly mayTry: (job: number) => boolean
  /** Called when a domain could not be looked up by a fault of ours: it is a provider of its own. */
  readonly onDomainFault: (error: unknown, job: JobRecord, domain: string) => void
  readonly stopping: AbortSignal
}

/**
 * Maximum number of jobs whose domains are looked up at the same time: small jobs are many, and the domains of some
 * take as long as a lookup may.
 */
const JOBS_AT_A_TIME = 64
/** Maximum number of statements about domains at the same time. */
const STATEMENTS_AT_A_TIME = 4
/** Maximum number of lookups of all jobs at the same time. */
const MAX_LOOKUPS = 200
/** Domains that are looked up in one step; the first step of a job is small, so that the first result comes soon. */
const FIRST_DOMAINS = 25
const DOMAINS = 250
/**
 * Rows that one statement gives their provider: a domain may have all of a list, and the first ones are asked
 * meanwhile.
 */
const FIRST_ROWS = 1_000
const ROWS = 50_000
/** Maximum number of domains of a step that are looked up at the same time. */
const LOOKUPS_AT_A_TIME = 50
const LOOKUP_MS = 10_000
/** Time in which a lookup ends by itself after its time limit, ms. */
const GRACE_MS = 1_000
/**
 * Time limit of a step, ms; less than the lease of its domains. Those that are left come in a later turn of the job.
 */
const STEP_MS = 15_000

export function domainLookups(settings: LookupSettings) {
  const { jobs, rows, findProvider, onFound, onFault, mayTry, onDomainFault, stopping } = settings
  const running = new Map<number, Promise<void>>()

  const turns = limiter({})
  async function inTurn<T>(of: string, concurrent: number, work: () => Promise<T>): Promise<T> {
    const leave = await turns.enter(of, { concurrent }, stopping)
    try {
      return await work()
    } finally {
      leave()
    }
  }
  const statement = <T>(work: () => Promise<T>): Promise<T> => inTurn('statement', STATEMENTS_AT_A_TIME, work)

  async function step(job: JobRecord): Promise<void> {
    const limit = job.first_result_at === null ? FIRST_DOMAINS : DOMAINS
    const domains = await statement(() => rows.leaseDomains(job.number, limit))
    const found = await providersOf(job, domains)
    if (found.size > 0) await store(job, found)
    // The others are leased, or left for a later turn.
    if (found.size < domains.length || domains.length === limit) return
    if (await statement(() => jobs.lookedUp(job.number))) onFound(job.number)
  }
  async function providersOf(job: JobRecord, domains: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    const untilMs = performance.now() + STEP_MS - LOOKUP_MS
    await atMost(LOOKUPS_AT_A_TIME, domains, (domain) =>
      inTurn('lookup', MAX_LOOKUPS, async () => {
        if (performance.now() > untilMs || stopping.aborted) return // their lease expires
        const id = await providerOf(job, domain)
        if (!stopping.aborted) found.set(domain, id) // a result obtained while the node stops is not reliable
      }),
    )
    return found
  }
  async function providerOf(job: JobRecord, domain: string): Promise<string> {
    try {
      const found = findProvider(job.kind, domain, within(LOOKUP_MS, stopping))
      return (await raced(within(LOOKUP_MS + GRACE_MS, stopping), found)).id
    } catch (error) {
      if (!stopping.aborted) onDomainFault(error, job, domain)
      return domain
    }
  }
  async function store(job: JobRecord, found: ReadonlyMap<string, string>): Promise<void> {
    let most = job.first_result_at === null ? FIRST_ROWS : ROWS
    for (let isWhole = false; !isWhole && !stopping.aborted; most = ROWS) {
      isWhole = await statement(() => throughOutage(() => rows.setProviders(job, found, most), stopping))
      onFound(job.number)
    }
  }
  return {
    /** Begins to look up the domains of further jobs, as far as there is room. */
    begin: async (): Promise<void> => {
      const free = JOBS_AT_A_TIME - running.size
      if (free <= 0) return
      for (const job of await jobs.nextToLookUp(free)) {
        if (running.has(job.number) || !mayTry(job.number)) continue
        const work = step(job)
          .catch((error: unknown) => {
            if (!isJobGone(error) && !stopping.aborted) onFault(error, job)
          })
          .finally(() => running.delete(job.number))
        running.set(job.number, work)
      }
    },
    settled: async () => void (await Promise.all(running.values())),
  }
}
