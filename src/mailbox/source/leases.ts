import { raced } from '../../base/deadline.ts'
import { type Release, takeToken } from '../../base/limiter.ts'
import type { LeaseGrant, LeaseWant } from '../../store/postgres/provider-leases.ts'
import type { Cluster } from './cluster.ts'

/** The limits at a key: a provider, or the address of a mail host. */
export type LeaseLimits = { readonly connections: number; readonly perMinute: number }

/**
 * How long granted connections may be used, counted from before the grant was asked for, and how often it is renewed,
 * ms.
 */
const SLICE_MS = 2_000
const RENEW_MS = 500
/** Questions of this time ask together, ms. */
const TOGETHER_MS = 5
/** How long the demand of jobs is cached, ms. */
const DEMAND_MS = 2_000
/** How long an unused key is kept, ms. */
const IDLE_MS = 60_000
/** Maximum number of keys beyond which unused ones are dropped at once. */
const MAX_KEYS = 10_000

/** A burst of half a minute's rate. */
export const rateOf = (perMinute: number) => ({ capacity: Math.max(5, perMinute / 2), perSecond: perMinute / 60 })

/** What this node may use at one key. */
class Slice {
  readonly key: string
  limits: LeaseLimits
  /** Connections begin while fewer are used, until then. */
  connections = 0
  untilMs = 0
  grantedAtMs = 0
  used = 0
  /**
   * What the request for a grant that is on its way says is used: until it is answered no more are, because others may
   * be granted the rest.
   */
  told = Number.POSITIVE_INFINITY
  tokens = 0
  /** When the bucket of all nodes has a further token. */
  nextTokenMs = 0
  demandUntilMs = 0
  usedAtMs: number
  /** Whether the last grant was all that was wanted. */
  isShort = false
  readonly connecting = new Set<() => void>()
  readonly asking = new Set<object>()
  granted = Promise.withResolvers<void>()
  readonly #now: () => number

  constructor(key: string, limits: LeaseLimits, now: () => number) {
    this.key = key
    this.limits = limits
    this.usedAtMs = now()
    this.#now = now
  }

  get hasDemand(): boolean {
    return this.demandUntilMs > this.#now()
  }
  get isAwaited(): boolean {
    return this.connecting.size > 0 || this.asking.size > 0
  }
  get isActive(): boolean {
    return this.used > 0 || this.isAwaited || this.hasDemand || this.connections > 0
  }
  get mayConnect(): boolean {
    return this.used < Math.min(this.connections, this.told) && this.#now() < this.untilMs
  }

  want(): LeaseWant {
    const { key, limits, used, connecting, asking, tokens, hasDemand } = this
    const rate = Number.isFinite(limits.perMinute) ? rateOf(limits.perMinute) : { capacity: 0, perSecond: 0 }
    const ahead = hasDemand ? Math.ceil((rate.perSecond * SLICE_MS) / 1_000) : 0
    return {
      ...{ key, used, most: limits.connections, ...rate },
      want: hasDemand ? limits.connections : Math.min(limits.connections, used + connecting.size),
      tokens: Math.min(rate.capacity, Math.max(0, Math.ceil(asking.size + ahead - tokens))),
    }
  }
  grant(want: LeaseWant, got: LeaseGrant, untilMs: number): void {
    this.connections = got.connections
    this.told = Number.POSITIVE_INFINITY
    this.untilMs = untilMs
    this.grantedAtMs = this.#now()
    this.tokens += got.tokens
    this.nextTokenMs = this.#now() + got.waitMs
    this.isShort = got.connections < want.want || got.tokens < want.tokens
    const { granted } = this
    this.granted = Promise.withResolvers()
    granted.resolve()
    this.#serve()
  }
  #serve(): void {
    for (const start of this.connecting) {
      if (!this.mayConnect) return
      this.connecting.delete(start)
      this.used++
      start()
    }
  }
  /** Ends the use of a connection, once. */
  release(): Release {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.used--
      this.#serve()
    }
  }

  /** Questions that may begin at once, if `claimed` are about to. */
  room(claimed: number): number {
    const { connections, used, connecting, tokens, asking, limits } = this
    if (this.#now() >= this.untilMs) return 0
    const places = connections - Math.max(used + connecting.size, claimed)
    if (!Number.isFinite(limits.perMinute)) return Math.max(0, places)
    return Math.max(0, Math.floor(Math.min(places, tokens - asking.size - Math.max(0, claimed - used))))
  }
}

/**
 * What this node may use at providers and mail hosts, for rows of jobs and single questions alike. Without a cluster,
 * and while its database is away, a node grants itself its share of the limits. `now`: milliseconds that never step
 * back.
 */
export function leases(now: () => number, cluster?: Pick<Cluster, 'lease' | 'nodes'>) {
  const slices = new Map<string, Slice>()
  const listeners: (() => void)[] = []
  const grants = granting(now, slices, listeners, cluster)

  function sliceOf(key: string, limits: LeaseLimits): Slice {
    const known = slices.get(key)
    if (known) {
      known.limits = limits
      return known
    }
    if (slices.size >= MAX_KEYS) grants.purge(0)
    const made = new Slice(key, limits, now)
    slices.set(key, made)
    return made
  }

  return {
    /** Waits for a connection, first come first served. Rejects with the signal's reason. */
    connect: (key: string, limits: LeaseLimits, signal: AbortSignal): Promise<Release> => {
      if (signal.aborted) return Promise.reject(signal.reason)
      const slice = sliceOf(key, limits)
      if (slice.connecting.size === 0 && slice.mayConnect) {
        slice.used++
        slice.usedAtMs = now()
        return Promise.resolve(slice.release())
      }
      return new Promise((resolve, reject) => {
        const start = (): void => {
          signal.removeEventListener('abort', stop)
          resolve(slice.release())
        }
        const stop = (): void => {
          slice.connecting.delete(start)
          reject(signal.reason)
        }
        signal.addEventListener('abort', stop, { once: true })
        slice.connecting.add(start)
        grants.ask(slice)
      })
    },
    /**
     * Waits for a recipient of the rate: undefined at its turn, or at once the time to wait if that is longer than
     * `withinMs`.
     */
    recipient: async (
      key: string,
      limits: LeaseLimits,
      signal: AbortSignal,
      withinMs: number,
    ): Promise<number | undefined> => {
      if (!Number.isFinite(limits.perMinute)) return undefined
      const slice = sliceOf(key, limits)
      const untilMs = now() + withinMs
      const turn = {}
      slice.asking.add(turn)
      try {
        for (;;) {
          signal.throwIfAborted()
          const ahead = [...slice.asking].indexOf(turn)
          if (slice.tokens >= ahead + 1) {
            slice.tokens--
            slice.usedAtMs = now()
            return undefined
          }
          grants.ask(slice)
          await raced(signal, slice.granted.promise)
          if (slice.tokens >= 1) continue
          const waitMs = Math.max(0, slice.nextTokenMs - now()) + ahead * (60_000 / limits.perMinute)
          if (now() + waitMs > untilMs) return Math.ceil(waitMs)
        }
      } finally {
        slice.asking.delete(turn)
      }
    },
    /** Questions that may begin at once, if `claimed` are about to; more is asked for if there are none. */
    room: (key: string, limits: LeaseLimits, claimed: number): number => {
      const slice = sliceOf(key, limits)
      const isNew = !slice.hasDemand
      slice.demandUntilMs = now() + DEMAND_MS
      if (isNew) grants.ask(slice)
      return slice.room(claimed)
    },
    /** Calls the listener when there may be more room than before. */
    onRoom: (listener: () => void) => void listeners.push(listener),
  }
}

/** Asks for grants of the slices in use again and again, until none is. */
function granting(
  now: () => number,
  slices: Map<string, Slice>,
  listeners: readonly (() => void)[],
  cluster?: Pick<Cluster, 'lease' | 'nodes'>,
) {
  const share = ownShare(now)
  let running = false
  let hasNews = false
  let wake = (): void => {}
  /**
   * When the last grant of the database was asked for: slices of that time have ended before nodes use their shares of
   * the limits instead.
   */
  let sharedMs = Number.NEGATIVE_INFINITY

  function purge(idleMs: number): void {
    for (const [key, slice] of slices) if (!slice.isActive && now() - slice.usedAtMs >= idleMs) slices.delete(key)
  }
  async function renew(active: readonly Slice[]): Promise<void> {
    const wants = active.map((slice) => slice.want())
    const sentMs = now()
    if (cluster) for (const slice of active) slice.told = slice.used
    const told = cluster ? await cluster.lease(wants) : 'away'
    if (told !== 'away') sharedMs = sentMs
    else if (now() < sharedMs + SLICE_MS) return
    const grants = told === 'away' ? share(wants, cluster ? await cluster.nodes() : 1) : told
    const untilMs = cluster ? sentMs + SLICE_MS : Number.POSITIVE_INFINITY // nobody else gets what is not renewed
    for (const [n, slice] of active.entries()) {
      const got = grants.get(slice.key)
      if (got) slice.grant(wants[n]!, got, untilMs)
    }
    if (active.some(({ hasDemand }) => hasDemand)) for (const tell of listeners) tell()
  }
  /** Renews what is in use, until nothing is. */
  async function run(): Promise<void> {
    for (;;) {
      hasNews = false
      const active = [...slices.values()].filter((slice) => slice.isActive)
      if (active.length === 0) break
      // A fault of one renewal leaves everything as it was: the next one comes in its turn.
      const hasFailed = await renew(active).then(
        () => false,
        () => true,
      )
      if (hasFailed || !hasNews) await pause([...slices.values()].reduce(nextMs, RENEW_MS))
      await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS))
    }
    running = false
    purge(IDLE_MS)
  }
  const nextMs = (ms: number, slice: Slice): number =>
    slice.asking.size > 0 ? Math.max(TOGETHER_MS, Math.min(ms, slice.nextTokenMs - now())) : ms
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      if (![...slices.values()].some((slice) => slice.isAwaited)) timer.unref() // nobody waits for what it renews
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  /** Asks for more now, unless the last grant, of a moment ago, was less than what was wanted. */
  function ask(slice: Slice): void {
    slice.usedAtMs = now()
    if (slice.isShort && running && now() - slice.grantedAtMs < RENEW_MS) return
    hasNews = true
    wake()
    if (running) return
    running = true
    void Promise.resolve().then(run)
  }
  return { ask, purge }
}

type Bucket = ReturnType<typeof takeToken>['bucket']

/** The same rule in memory, with the limits divided by the number of nodes. */
function ownShare(now: () => number): (wants: readonly LeaseWant[], nodes: number) => ReadonlyMap<string, LeaseGrant> {
  const buckets = new Map<string, Bucket>()
  function grantOf({ key, want, most, tokens, perSecond, capacity }: LeaseWant, nodes: number): LeaseGrant {
    const connections = Math.min(want, Math.max(1, Math.floor(most / nodes)))
    if (perSecond === 0) return { connections, tokens: 0, waitMs: 0 }
    const rate = { capacity: Math.max(1, capacity / nodes), perSecond: perSecond / nodes }
    let bucket = buckets.get(key) ?? { tokens: rate.capacity, atMs: now() }
    let [given, waitMs] = [0, 0]
    while (given < tokens && waitMs === 0) {
      const taken = takeToken(bucket, rate, now())
      ;({ bucket, waitMs } = taken)
      if (waitMs === 0) given++
    }
    buckets.delete(key)
    buckets.set(key, bucket)
    if (buckets.size > MAX_KEYS) buckets.delete(buckets.keys().next().value!)
    return { connections, tokens: given, waitMs }
  }
  return (wants, nodes) => new Map(wants.map((want) => [want.key, grantOf(want, nodes)]))
}
