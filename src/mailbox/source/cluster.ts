import type { Json } from '../../base/json.ts'
import type { Release } from '../../base/limiter.ts'

/** A place at a key, of so many over all nodes. */
export type Slot = { readonly key: string; readonly limit: number }
/** Something remembered about a domain or a provider, and how long it holds still. */
export type Remembered = {
  readonly kind: 'catch_all' | 'unknown' | 'pause' | 'answer'
  readonly key: string
  readonly value: string
  readonly leftMs: number
}

/** What verification shares with all nodes on one database. `away`: the database does not answer; each node then keeps to its share. Only `forget` and `putSources` reject. */
export type Cluster = {
  /** Takes a place at each key, all or none. */
  readonly take: (slots: readonly Slot[]) => Promise<Release | 'full' | 'away'>
  /** Takes one token of a bucket: 0 when it was had, else how long until the next, ms. */
  readonly takeToken: (
    key: string,
    rate: { readonly perSecond: number; readonly capacity: number },
  ) => Promise<number | 'away'>
  /** Living nodes, this one among them: what a share is a part of. */
  readonly nodes: () => Promise<number>
  readonly about: (domain: string, provider: string) => Promise<readonly Remembered[] | 'away'>
  readonly get: (kind: Remembered['kind'], name: string) => Promise<Remembered | undefined | 'away'>
  /** Remembers in the background. */
  readonly put: (kind: Remembered['kind'], name: string, key: string, value: string, ttlMs: number) => Promise<void>
  readonly count: (kind: Remembered['kind'], name: string, ttlMs: number) => void
  /** Removes what is remembered of a mailbox, or of a domain and its mailboxes; the number of entries. Rejects when the database does not answer. */
  readonly forget: (name: 'email' | 'domain', value: string) => Promise<number>
  /** The states of sources that other nodes have changed since the last call. */
  readonly changedSources: () => Promise<readonly Json[]>
  /** Rejects when they could not be stored. */
  readonly putSources: (rows: readonly { readonly key: string; readonly value: Json }[]) => Promise<void>
}
