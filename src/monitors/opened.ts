import type { Database } from '../store/postgres/connect.ts'
import type { MailConsents } from '../store/postgres/mail-consents.ts'
import type { Monitors } from '../store/postgres/monitors.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import type { Deliveries, Webhooks } from '../store/postgres/webhooks.ts'
import type { MonitorEngine } from './engine.ts'
import type { MailRules } from './notify/consent.ts'
import type { Senders } from './notify/send.ts'

/** The tables of monitors, and the engine that processes them. */
export type OpenedMonitors = {
  readonly monitors: Monitors
  readonly tables: { readonly webhooks: Webhooks; readonly deliveries: Deliveries; readonly consents: MailConsents }
  readonly database: Database
  readonly mailRules: MailRules
  readonly senders: Senders
  readonly storage: Pick<StorageGuard, 'admit'>
  readonly engine: MonitorEngine
}
