import { sleep } from '../base/deadline.ts'
import type { World } from '../world.ts'
import { CAPABILITIES, type Load } from './peer.ts'
import type { PeerRegistry } from './registry.ts'

type Announcing = Pick<World, 'random' | 'log'> & { readonly peers: PeerRegistry; readonly load: () => Load }

/**
 * Registers this node in the shared list and renews its lease every third of it, ± 20 %, until `signal` fires: nodes on
 * one database need no --join. A node without a URL cannot be called and is not listed. Never rejects.
 */
export async function keepAnnounced({ peers, load, random, log }: Announcing, signal: AbortSignal): Promise<void> {
  const { id, url, name, region, version, addresses } = peers.self
  if (url === undefined) return
  let said = ''
  while (!signal.aborted) {
    const state = await announce().catch((error: unknown) => String(error))
    if (state !== said && state !== '') log.warn('this node is not in the shared list of nodes', { reason: state })
    said = state
    await sleep((peers.ttlMs / 3) * (0.8 + 0.4 * random()), signal).catch(() => {})
  }

  /** Why it failed; empty if it succeeded. */
  async function announce(): Promise<string> {
    const peer = { id, url: url!, name, region, version, addresses: addresses(), capabilities: CAPABILITIES }
    const { outcome } = await peers.apply({ kind: 'register', peer })
    if (outcome !== 'created' && outcome !== 'renewed') return REFUSED[outcome]
    await peers.apply({ kind: 'heartbeat', id, load: load() })
    return ''
  }
}

const REFUSED = {
  taken: 'its id belongs to a live node at another URL',
  url_taken: 'its URL belongs to a live node with another id',
  crowded: 'too many nodes are registered at its host',
  full: 'too many nodes are registered',
  unknown: 'it is not registered',
} as const
