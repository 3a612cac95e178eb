import { onceUnlessFailed } from '../base/share-work.ts'
import { type OwnProfiles, PROFILE_NAMES } from '../profiles/domain.ts'
import { acceptedOf } from '../store/postgres/accepted.ts'
import type { Database } from '../store/postgres/connect.ts'
import { deliveriesOf } from '../store/postgres/deliveries.ts'
import { digestsOf } from '../store/postgres/digests.ts'
import { mailConsentsOf } from '../store/postgres/mail-consents.ts'
import { monitorsOf } from '../store/postgres/monitors.ts'
import { portfolioOf } from '../store/postgres/portfolio.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import { webhooksOf } from '../store/postgres/webhooks.ts'
import type { Log } from '../world.ts'
import { type AcceptedService, acceptedService } from './accepted.ts'
import type { JobEvent } from './ended-jobs.ts'
import { type MonitorEngine, startMonitors } from './engine.ts'
import type { Sweep } from './expired.ts'
import type { MailRules } from './notify/consent.ts'
import type { Senders } from './notify/send.ts'
import type { RunOnce } from './run.ts'
import { type MonitorService, monitorService, type OpenedMonitors } from './service.ts'
import { type WebhookService, webhookService } from './webhooks.ts'

type MonitorSettings = {
  readonly open: () => Promise<Database>
  readonly runOnce: RunOnce
  readonly storage: Pick<StorageGuard, 'admit' | 'admitRun'>
  /** The operator's own, beside those that are shipped. */
  readonly profiles: OwnProfiles
  readonly senders: Senders
  readonly mailRules: MailRules
  readonly jobEvent: JobEvent
  /** Removes expired data elsewhere in the database; called once an hour. */
  readonly sweeps: readonly Sweep[]
  readonly now: () => number
  readonly random: () => number
  readonly log: Log
}

export type MonitorServices = {
  readonly monitors: MonitorService
  readonly webhooks: WebhookService
  readonly accepted: AcceptedService
  readonly stop: () => Promise<void>
}

/** Monitors and webhooks. The database is opened, and the engine started, when they are first needed. */
export function monitorServices(settings: MonitorSettings): MonitorServices {
  const { now, senders } = settings
  const profiles = [...PROFILE_NAMES, ...settings.profiles.map(({ name }) => name)]
  let engine: MonitorEngine | undefined
  const opened = onceUnlessFailed(async (): Promise<OpenedMonitors> => {
    const database = await settings.open()
    const { db } = database
    const tables = {
      webhooks: webhooksOf(db),
      deliveries: deliveriesOf(db),
      consents: mailConsentsOf(db),
      digests: digestsOf(db),
      accepted: acceptedOf(db),
    }
    const monitors = monitorsOf(database.db)
    engine = startMonitors({ ...settings, ...tables, database, monitors })
    const portfolio = portfolioOf(db)
    return {
      monitors,
      portfolio,
      tables,
      database,
      mailRules: settings.mailRules,
      storage: settings.storage,
      senders,
      engine,
    }
  })
  const webhooks = webhookService(async () => {
    const { tables, engine: running } = await opened()
    return { ...tables, wake: running.wake }
  }, now)
  const accepted = acceptedService(async () => {
    const { tables, engine: running } = await opened()
    return { accepted: tables.accepted, engine: running }
  }, now)
  return {
    monitors: monitorService({ opened, webhooks, now, profiles }),
    webhooks,
    accepted,
    stop: async () => engine?.stop(),
  }
}
