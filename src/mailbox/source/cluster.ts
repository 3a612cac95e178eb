import type { Json } from '../../base/json.ts'
import type { Release } from '../../base/limiter.ts'

/** A slot at a key, of a limited number over all nodes. */
export type Slot = { readonly key: string; readonly limit: number }
/** A fact about a domain or a provider, and how long it stays valid. */
export type Remembered = {
  readonly kind: 'catch_all' | 'unknown' | 'pause' | 'answer'
  readonly key: string
  readonly value: string
  readonly leftMs: number
}

/**
 * The state of verification that all nodes on one database share. `away`: the database does not answer; each node then uses its share. Only `forget` and
 * `putSources` reject.
 */
export type Cluster = {
  /** Takes a slot at each key, all or none. */
  readonly take: (slots: readonly Slot[]) => Promise<Release | 'full' | 'away'>
  /** Takes one token of a bucket: 0 if there was one, otherwise the time until the next, ms. */
  readonly takeToken: (
    key: string,
    rate: { readonly perSecond: number; readonly capacity: number },
  ) => Promise<number | 'away'>
  /** Nodes that are alive, including this one; a share is a limit divided by this number. */
  readonly nodes: () => Promise<number>
  readonly about: (domain: string, provider: string) => Promise<readonly Remembered[] | 'away'>
  readonly get: (kind: Remembered['kind'], name: string) => Promise<Remembered | undefined | 'away'>
  /** Stores the fact in the background. */
  readonly put: (kind: Remembered['kind'], name: string, key: string, value: string, ttlMs: number) => Promise<void>
  readonly count: (kind: Remembered['kind'], name: string, ttlMs: number) => void
  /** Removes the stored facts about a mailbox, or about a domain and its mailboxes; returns their number. Rejects if the database does not answer. */
  readonly forget: (name: 'email' | 'domain', value: string) => Promise<number>
  /** The states of sources that other nodes have changed since the last call. */
  readonly changedSources: () => Promise<readonly Json[]>
  /** Rejects when they could not be stored. */
  readonly putSources: (rows: readonly { readonly key: string; readonly value: Json }[]) => Promise<void>
}
