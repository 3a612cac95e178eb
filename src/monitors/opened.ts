import type { Monitors } from '../store/postgres/monitors.ts'
import type { Deliveries, Webhooks } from '../store/postgres/webhooks.ts'
import type { MonitorEngine } from './engine.ts'
import type { Senders } from './notify/send.ts'

/** The tables of monitors, and the engine that processes them. */
export type OpenedMonitors = {
  readonly monitors: Monitors
  readonly tables: { readonly webhooks: Webhooks; readonly deliveries: Deliveries }
  readonly senders: Senders
  readonly engine: MonitorEngine
}
