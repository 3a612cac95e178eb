import { type MonitorServices, monitorServices } from '../../src/monitors/open.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import type { World } from '../../src/world.ts'
import { UNBOUNDED } from './storage.ts'

type Settings = Parameters<typeof monitorServices>[0]
type Given = Partial<Omit<Settings, 'open' | 'senders'>> & {
  /** What sends messages; where it is not given, posts are taken and there is no submission server. */
  readonly senders?: Partial<Settings['senders']>
}

/**
 * The services of monitors over a database in a lab world, whose clock they have, and as parts of `labDeps`. Nothing is
 * asked and nothing is bounded unless it is given.
 */
export function labMonitorServices({ now, log }: World, database: Database, { senders, ...given }: Given = {}) {
  const services: MonitorServices = monitorServices({
    storage: UNBOUNDED,
    open: async () => database,
    runOnce: async () => {
      throw new Error('no monitor is due')
    },
    senders: {
      post: async () => ({ status: 204, retryAfter: '' }),
      ...{ mail: undefined, publicUrl: undefined, from: 'watch@watch.example', log },
      ...senders,
    },
    mailRules: { recipients: [], perDay: 5 },
    profiles: [],
    jobEvent: async () => undefined,
    sweeps: [],
    ...{ now, random: () => 0.5, log },
    ...given,
  })
  const deps = {
    monitors: async () => services.monitors,
    webhooks: async () => services.webhooks,
    accepted: async () => services.accepted,
    acceptedHere: services.accepted.ofDomain,
  }
  return { services, deps }
}
