import type { Allow } from '../../dnsbl/allowance.ts'
import type { JobService } from '../../jobs/service.ts'
import type { Cluster } from '../../mailbox/source/cluster.ts'
import type { ListingAnswer } from '../../mailbox/source/pool.ts'
import type { AnyInbox } from '../../message/inbox.ts'
import type { Domain } from '../../names/domain.ts'
import type { Email } from '../../names/email.ts'
import type { Ip } from '../../names/ip.ts'
import type { ReportWay } from '../../operations/deps.ts'

/** A change that every process of a service makes in its own memory. */
export type News =
  | { readonly kind: 'selector'; readonly domain: string; readonly selector: string }
  | { readonly kind: 'forget'; readonly what: { readonly email: Email } | { readonly domain: Domain } }
  | { readonly kind: 'pool_reloaded' }

/** The lists whose allowance is shared: of addresses, or of domains. */
export type ListKind = 'addresses' | 'domains'

/** What a process of a service shares with the others. A service of one process has none of it. */
export type Sharing = {
  /** Names this machine among the nodes. */
  readonly machine: string
  readonly processes: number
  /** The state of verification without `--database-url`. */
  readonly cluster: Cluster
  readonly allow: (kind: ListKind) => Allow
  readonly tell: (news: News) => void
  readonly onNews: (listener: (news: News) => void) => void
  /** What the first process has, for a worker. */
  readonly first?: {
    /** Starts the private database, if it does not run. */
    readonly openDatabase: () => Promise<void>
    readonly wakeJobs: () => void
    readonly queue: JobService['queue']
    readonly wakeMonitors: () => void
    readonly inbox: AnyInbox
    readonly ways: () => readonly ReportWay[]
    readonly listings: (address: Ip) => Promise<readonly ListingAnswer[]>
  }
}

/** The variable by which the first process of a service tells another one that it is a worker. */
export const WORKER = 'SONDE_WORKER'

/** The number of this worker; undefined in any other process: a worker has a channel to the one that started it. */
export const workerNumber = (): number | undefined =>
  process.send !== undefined && process.env[WORKER] !== undefined ? Number(process.env[WORKER]) : undefined
