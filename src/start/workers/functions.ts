import type { Json } from '../../base/json.ts'
import type { KeptSession } from '../../http/options.ts'
import type { JobQueue } from '../../jobs/service.ts'
import type { ListingAnswer } from '../../mailbox/source/pool.ts'
import type { Waiting } from '../../message/inbox.ts'
import type { Ip } from '../../names/ip.ts'
import type { Owner } from '../../names/owner.ts'
import type { ReportWay } from '../../operations/deps.ts'
import type { MetricData, Scraped } from '../metrics.ts'
import type { Refused } from './calls.ts'
import type { ListKind, News } from './sharing.ts'
import type { HeldState } from './verification.ts'

/** What a worker starts with. */
export type Setup = {
  /** The configuration of the first process: a worker that is started later has the same. */
  readonly config: Json
  readonly machine: string
  readonly processes: number
  readonly startedMs: number
  readonly secret: string
}

/** The functions of the first process that a worker calls. */
export type FirstFunctions = HeldState & {
  readonly setup: () => Setup
  /** It listens at this URL. */
  readonly listening: (url: string) => void
  /** It could not start. */
  readonly failed: (why: Refused) => void
  /** Its requests in progress. */
  readonly active: (count: number) => void
  readonly countRequest: (caller: string, windowMs: number) => { readonly current: number; readonly ttl: number }
  readonly session: (hash: string) => KeptSession | null
  readonly keepSession: (hash: string, session: KeptSession | null) => void
  readonly seen: (nonce: string) => boolean
  readonly takeStream: (caller: string) => boolean
  readonly releaseStream: (caller: string) => void
  readonly allow: (kind: ListKind, zone: string, withinMs: number) => boolean | Promise<boolean>
  readonly listings: (address: Ip) => Promise<readonly ListingAnswer[]>
  readonly openDatabase: () => Promise<void>
  readonly wakeJobs: () => void
  readonly queue: () => Promise<JobQueue | null>
  readonly wakeMonitors: () => void
  readonly createAddress: (owner: Owner, lifeMs: number) => Waiting | Promise<Waiting>
  readonly showAddress: (id: string, owner: Owner) => Waiting | Promise<Waiting>
  /** The state of a one-time address, once it is another than `state` or has its answer, or after `withinMs`. */
  readonly changedAddress: (id: string, owner: Owner, state: string, withinMs: number) => Promise<Waiting>
  readonly metrics: () => Promise<Scraped>
  readonly news: (news: News) => void
}

/** The functions of a worker that the first process calls. */
export type WorkerFunctions = {
  readonly metrics: () => Promise<readonly MetricData[]>
  readonly news: (news: News) => void
  readonly ways: (ways: readonly ReportWay[]) => void
  readonly stop: () => void
}
