import { LRUCache } from 'lru-cache'
import type { Json } from '../../base/json.ts'
import { ttlCache } from '../../base/ttl-cache.ts'
import type { Cluster, LeaseGrant, LeaseWant, Remembered } from '../../mailbox/source/cluster.ts'
import type { Repository } from '../../store/contract.ts'

/** The state of verification of one holder: `lease` as pairs, because a Map does not pass as JSON. */
export type HeldState = Omit<Cluster, 'lease' | 'nodes' | 'isOneMachine'> & {
  readonly lease: (wants: readonly LeaseWant[]) => readonly (readonly [string, LeaseGrant])[]
}
/** The state of verification that the processes of a service share without `--database-url`. */
type SharedVerification = {
  readonly of: (holder: string) => HeldState
  /** Frees what a process that has ended held. */
  readonly drop: (holder: string) => void
}

/** The times of the same state in a database (store/postgres/provider-leases.ts, shared-memory.ts), ms. */
const COUNTED_MS = 5_000
const TURN_MS = 4_000
const QUESTION_MS = 3_000
/** Maximum number of providers and mail hosts, of questions that are asked, and of domains with facts. */
const MAX_KEYS = 20_000
/** Maximum size of the facts, characters. */
const MAX_FACTS = 64 * 1_048_576
/** Maximum number of states of sources that a process gets at once. */
const MAX_CHANGED = 5_000

type Held = { readonly has: number; readonly want: number; readonly may: number; readonly untilMs: number }
type Row = { tokens: number; atMs: number; readonly holders: Map<string, Held> }
type Fact = Omit<Remembered, 'leftMs'> & { readonly untilMs: number }

/**
 * Creates it. `store`: keeps the states of sources. The rules are those of the statements for nodes; the clock is one,
 * so nothing is ever `away`.
 */
export function sharedVerification(now: () => number, store: Pick<Repository, 'putAll'>): SharedVerification {
  const rows = new LRUCache<string, Row>({ max: MAX_KEYS })
  const questions = ttlCache<{ readonly holder: string }>({ maxEntries: MAX_KEYS, now })
  const facts = new LRUCache<string, Map<string, Fact>>({
    maxSize: MAX_FACTS,
    sizeCalculation: (of, name) =>
      [...of.values()].reduce((sum, { value }) => sum + value.length + 100, name.length + 1),
  })
  const changed = new LRUCache<string, { readonly value: Json; readonly version: number }>({ max: MAX_CHANGED })
  const seen = new Map<string, number>()
  let version = 0

  function grant(holder: string, want: LeaseWant): LeaseGrant {
    const atMs = now()
    const { perSecond, capacity } = want
    const row = rows.get(want.key) ?? { tokens: capacity, atMs, holders: new Map<string, Held>() }
    const others = [...row.holders].filter(
      ([id, one]) => id !== holder && one.untilMs > atMs && (one.has > 0 || one.want > 0),
    )
    const nodes = others.length + 1
    const has = others.reduce((sum, [, one]) => sum + one.has, 0)
    const place = others.filter(([id]) => id < holder).length
    const turn = (place + Math.floor(atMs / TURN_MS)) % nodes
    const share = Math.floor(want.most / nodes) + (turn < want.most % nodes ? 1 : 0)
    const most = others.some(([, one]) => one.may < one.want) ? share : want.most
    const may = Math.max(0, Math.min(want.want, want.most - has, most))
    const filled = Math.min(capacity, row.tokens + (perSecond * (atMs - row.atMs)) / 1_000)
    const given = Math.min(want.tokens, Math.floor(filled))
    const mine = { has: Math.max(want.used, may), want: want.want, may, untilMs: atMs + COUNTED_MS }
    const tokens = filled - given
    rows.set(want.key, { tokens, atMs, holders: new Map([...others, [holder, mine]]) })
    const waitMs = perSecond > 0 ? Math.max(0, ((1 - tokens) / perSecond) * 1_000) : 0
    return { connections: may, tokens: given, waitMs }
  }
  const living = (name: string, kinds: readonly string[]): Remembered[] =>
    [...(facts.get(name)?.values() ?? [])]
      .filter(({ kind, untilMs }) => kinds.includes(kind) && untilMs > now())
      .map(({ kind, key, value, untilMs }) => ({ kind, key, value, leftMs: untilMs - now() }))
  function note(name: string, fact: Fact): void {
    const of = new Map([...(facts.get(name) ?? [])].filter(([, { untilMs }]) => untilMs > now()))
    facts.set(name, of.set(`${fact.kind} ${fact.key}`, fact))
  }
  /** The number of facts about a mailbox, or about a domain and its mailboxes, that are removed. */
  function forget(what: 'email' | 'domain', text: string): number {
    const wanted = text.toLowerCase()
    const isMeant = ({ kind, value }: Fact): boolean => {
      if (kind !== 'answer') return false
      const email = String((JSON.parse(value) as { email?: unknown }).email).toLowerCase()
      return what === 'email' ? email === wanted : email.endsWith(`@${wanted}`)
    }
    let count = 0
    for (const [name, of] of [...facts.entries()]) {
      const left = new Map(
        [...of].filter(([, one]) => !isMeant(one) && !(what === 'domain' && name === text && one.kind !== 'pause')),
      )
      count += of.size - left.size
      if (left.size === 0) facts.delete(name)
      else if (left.size < of.size) facts.set(name, left)
    }
    return count
  }
  return {
    of: (holder) => ({
      lease: (wants) => wants.map((want) => [want.key, grant(holder, want)] as const),
      claimQuestion: async (name) => {
        const known = questions.get(name)
        if (known && known.value.holder !== holder) return false
        questions.set(name, { holder }, QUESTION_MS)
        return true
      },
      releaseQuestion: (name) => {
        if (questions.get(name)?.value.holder === holder) questions.delete(name)
      },
      about: async (domain, provider) => [...living(domain, ['catch_all', 'unknown']), ...living(provider, ['pause'])],
      get: async (kind, name) => living(name, [kind])[0],
      put: async (kind, name, key, value, ttlMs) => note(name, { kind, key, value, untilMs: now() + ttlMs }),
      count: (kind, name, ttlMs) => {
        const [known] = living(name, [kind])
        const untilMs = now() + (known?.leftMs ?? ttlMs)
        note(name, { kind, key: '', value: String(Number(known?.value ?? 0) + 1), untilMs })
      },
      forget: async (what, text) => forget(what, text),
      changedSources: async () => {
        const after = seen.get(holder) ?? 0
        seen.set(holder, version)
        return [...changed.values()].filter((one) => one.version > after).map(({ value }) => value)
      },
      putSources: async (states) => {
        version++
        for (const { key, value } of states) changed.set(key, { value, version })
        await store.putAll(states)
      },
    }),
    drop: (holder) => {
      seen.delete(holder)
      for (const { holders } of rows.values()) holders.delete(holder)
    },
  }
}

/** The state as the verifier uses it, with functions of this process or of the first one. */
export const clusterOf = (
  held: Omit<HeldState, 'lease'> & {
    readonly lease: (
      wants: readonly LeaseWant[],
    ) => ReturnType<HeldState['lease']> | Promise<ReturnType<HeldState['lease']>>
  },
  processes: number,
): Cluster => ({
  ...held,
  lease: async (wants) => new Map(await held.lease(wants)),
  nodes: async () => processes,
  isOneMachine: true,
})
