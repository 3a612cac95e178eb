import type { Cluster } from '../../src/mailbox/source/cluster.ts'
import { type OpenedCluster, openCluster } from '../../src/start/cluster.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import { postgresStore } from '../../src/store/postgres/postgres-store.ts'
import { labWorld } from './world.ts'

/**
 * What one node of so many shares over a database, which has time to answer on a busy machine (`answerMs`); `away`:
 * from then on the database does not answer it.
 */
export function labCluster(
  database: () => Promise<Database>,
  nodes: number,
  answerMs = 20_000,
): OpenedCluster & { readonly cluster: Cluster; readonly setAway: (away: boolean) => void } {
  let isAway = false
  const open = async () => {
    if (isAway) throw Object.assign(new Error('the database of the lab is away'), { code: 'ECONNREFUSED' })
    return database()
  }
  const world = { ...labWorld(), now: () => Date.now() }
  const others = Array.from({ length: nodes - 1 }, (_, i) => [`n${i}`, peerAt(`n${i}`, world.now())] as const)
  const peers = async () => ({
    all: async () => new Map(others),
    ttlMs: 30_000,
    self: { id: 'here', url: undefined, name: 'here', region: '', addresses: () => [], version: '0' },
  })
  const { sources } = postgresStore(async () => (await open()).db, { cluster: '', node: '' })
  return {
    ...openCluster({ open }, { world, peers, sources, answerMs }),
    setAway: (away) => void (isAway = away),
  }
}

const peerAt = (id: string, nowMs: number) => ({
  ...{ id, url: `https://${id}.example`, name: id, region: '', addresses: [], version: '0' },
  ...{ capabilities: ['verify' as const], load: undefined, registeredAtMs: nowMs, lastSeenAtMs: nowMs },
})
