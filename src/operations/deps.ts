import type { DoctorAnswer } from '../answers/pool.ts'
import type { Blacklists } from '../dnsbl/blacklists.ts'
import type { LookupGeo } from '../geo/geo.ts'
import type { JobService } from '../jobs/service.ts'
import type { Identity } from '../mailbox/source/helo.ts'
import type { SourcePool } from '../mailbox/source/pool.ts'
import type { Verifier } from '../mailbox/verify.ts'
import type { MessageService } from '../message/inbox.ts'
import type { VerifiedSelectors } from '../message/selectors.ts'
import type { AcceptedService } from '../monitors/accepted.ts'
import type { MonitorService } from '../monitors/service.ts'
import type { Stored } from '../monitors/stored.ts'
import type { WebhookService } from '../monitors/webhooks.ts'
import type { Ip } from '../names/ip.ts'
import type { Submission } from '../net/submit-mail.ts'
import type { PeerRegistry } from '../peers/registry.ts'
import type { OwnProfiles } from '../profiles/domain.ts'
import type { ReportService } from '../reports/service.ts'
import type { IdempotencyKeys } from '../store/postgres/idempotency-keys.ts'

/** Whether a dependency of the service is available: undefined, or why it is not. Never rejects. */
export type Probe = (signal: AbortSignal) => Promise<string | undefined>

/** The reports of this installation, for answers that only look whether there are any. */
export type ReportsHere = {
  /** Undefined while there can be none: no database is opened, or started, for the question. */
  readonly find: () => Promise<ReportService | undefined>
  /** The mail address whose reports come in here. */
  readonly rua: string | undefined
  /** The ways in from mail servers that this process has open. */
  readonly ways: readonly ReportWay[]
  /** What came in since the start of this process, by every way. */
  readonly counted: ReportService['counted']
}

/**
 * The accepted findings in force of a key for a domain. No database is opened, or started, for the question; there are
 * none where it does not answer. Never rejects.
 */
export type AcceptedHere = AcceptedService['ofDomain']

/** A way in, since the start of this process. */
export type ReportWay = {
  readonly way: 'lmtp' | 'imap'
  readonly place: string
  /** Messages with reports, with a report that cannot be read, and other mail. */
  readonly taken: number
  readonly unreadable: number
  readonly others: number
  /** Messages that could not be stored, and come again. */
  readonly failed: number
  readonly lastAtMs: number | null
  /** Why it does not work now. */
  readonly problem: string | null
}

/**
 * What operations get in addition to the world: the services that keep state, created once for the life of the process.
 * Each operation names those that it uses.
 */
export type Deps = {
  readonly blacklists: Blacklists
  readonly domainLists: Blacklists
  readonly geo: LookupGeo
  readonly verifier: Verifier
  readonly sourcePool: SourcePool
  readonly jobs: JobService
  readonly idempotencyKeys: IdempotencyKeys
  /** Stored answers; loaded on demand. */
  readonly stored: () => Promise<Stored>
  readonly monitors: () => Promise<MonitorService>
  readonly webhooks: () => Promise<WebhookService>
  readonly accepted: () => Promise<AcceptedService>
  readonly acceptedHere: AcceptedHere
  /** Reports that came in; loaded on demand. */
  readonly reports: () => Promise<ReportService>
  readonly reportsHere: ReportsHere
  /** The name for EHLO from a source address. */
  readonly heloName: Identity['heloName']
  /** The selectors whose signatures verified in messages. */
  readonly verifiedSelectors: VerifiedSelectors
  /** The analysis of messages: its bounds, those selectors, and the one-time addresses. */
  readonly messages: MessageService
  readonly peers: PeerRegistry
  /** Whether the node may be called at this address of its URL. */
  readonly mayCall: (url: URL, address: Ip) => boolean
  /** Resolvers in use that are well-known public ones. */
  readonly publicResolvers: readonly string[]
  readonly probes: {
    readonly resolver: Probe
    readonly store: Probe
    /** The database of bulk jobs; available as long as it was not needed. */
    readonly queue: Probe
  }
  /** The database that is used, or would be with the first job, monitor or report. Never rejects. */
  readonly databaseState: () => Promise<DoctorAnswer['database']>
  /** The operator's own profiles. */
  readonly ownProfiles: OwnProfiles
  /** The operator's submission server, if one is set. */
  readonly submission: () => Promise<
    (Submission & { readonly from: string; readonly publicUrl: string | undefined }) | undefined
  >
  /** The user that runs the private database, if other services of the machine commonly run as that user too. */
  readonly sharedDatabaseUser: string | undefined
  /** Whether a socket of this machine can bind to the address. */
  readonly canBind: (address: Ip) => Promise<boolean>
  /** The port of mail servers: 25, except in labs. */
  readonly smtpPort: number
}

export type DepName = keyof Deps
