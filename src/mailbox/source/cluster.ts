import type { Json } from '../../base/json.ts'
import type { LeaseGrant, LeaseWant } from '../../store/postgres/provider-leases.ts'
import type { Memory } from '../../store/postgres/shared-memory.ts'

/**
 * The state of verification that all nodes on one database share. `away`: the database does not answer; each node then
 * uses its share. Only `forget` and `putSources` reject.
 */
export type Cluster = {
  /** Grants this node its share at each key for two seconds. */
  readonly lease: (wants: readonly LeaseWant[]) => Promise<ReadonlyMap<string, LeaseGrant> | 'away'>
  /** Whether this node may ask a question, for some seconds: no other node does now. Asking again renews this. */
  readonly claimQuestion: (name: string) => Promise<boolean | 'away'>
  readonly releaseQuestion: (name: string) => void
  /** Nodes that are alive, including this one; a share is a limit divided by this number. */
  readonly nodes: () => Promise<number>
  readonly about: (domain: string, provider: string) => Promise<readonly Memory[] | 'away'>
  readonly get: (kind: Memory['kind'], name: string) => Promise<Memory | undefined | 'away'>
  /** Stores the fact in the background. */
  readonly put: (kind: Memory['kind'], name: string, key: string, value: string, ttlMs: number) => Promise<void>
  readonly count: (kind: Memory['kind'], name: string, ttlMs: number) => void
  /**
   * Removes the stored facts about a mailbox, or about a domain and its mailboxes; returns their number. Rejects if the
   * database does not answer.
   */
  readonly forget: (name: 'email' | 'domain', value: string) => Promise<number>
  /** The states of sources that other nodes have changed since the last call. */
  readonly changedSources: () => Promise<readonly Json[]>
  /** Rejects when they could not be stored. */
  readonly putSources: (rows: readonly { readonly key: string; readonly value: Json }[]) => Promise<void>
}
