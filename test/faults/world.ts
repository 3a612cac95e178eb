import { believable, topLevelDomains } from '../../src/net/dns/nxdomain.ts'
import { DnsError, type DnsReason } from '../../src/net/dns/resolver.ts'
import { cached, limited, merged } from '../../src/net/dns/wrap.ts'
import { FetchError, type FetchReason } from '../../src/net/fetch.ts'
import { type Connection, DialError, type DialReason } from '../../src/net/smtp/dial.ts'
import { type Repository, type Store, StoreError } from '../../src/store/contract.ts'
import type { World } from '../../src/world.ts'
import { labProblem } from '../lab/problem.ts'

/** A kind of call to the outside: each is counted by itself. */
export type Step = 'resolve' | 'askServer' | 'dial' | 'read' | 'write' | 'startTls' | 'fetch' | 'store'
export const STEPS: readonly Step[] = ['resolve', 'askServer', 'dial', 'read', 'write', 'startTls', 'fetch', 'store']

const errno = (code: string): Error => Object.assign(new Error(`${code}: lab`), { code })
const dns = (reason: DnsReason, cause?: Error) => (name: string, type: string) =>
  new DnsError(reason, { name, type }, { server: '127.0.0.1:53', cause })
const dial = (reason: DialReason, cause?: Error) => () => new DialError(reason, labProblem(`lab: ${reason}`), { cause })
const fetched = (reason: FetchReason, cause?: Error) => () =>
  new FetchError(reason, labProblem(`lab: ${reason}`), { cause })
const stored = (code: StoreError['code'], cause: string) => () =>
  new StoreError(code, labProblem(`lab: ${cause}`), { cause: errno(cause) })

type MakeFault = (name: string, type: string) => Error
const DNS: Readonly<Record<string, MakeFault>> = {
  SERVFAIL: dns('servfail'),
  'a time-out': dns('timeout'),
  REFUSED: dns('refused'),
  EMFILE: dns('network', errno('EMFILE')),
  'an answer that cannot be read': dns('malformed'),
  FORMERR: dns('formerr'),
}
const OPEN: Readonly<Record<string, MakeFault>> = {
  'a reset': dial('connection_lost', errno('ECONNRESET')),
  'a time-out': dial('timeout'),
  EPIPE: dial('connection_lost', errno('EPIPE')),
}
/** What each call can fail with, by the contract of its type; `close` ends a connection in order. */
export const FAULTS: Readonly<Record<Step, Readonly<Record<string, MakeFault | 'close'>>>> = {
  resolve: DNS,
  // What a name server itself says, SERVFAIL and REFUSED too, is no fault of the way to it.
  askServer: {
    'a time-out': dns('timeout'),
    EMFILE: dns('network', errno('EMFILE')),
    'an answer that cannot be read': dns('malformed'),
  },
  dial: {
    refused: dial('connect_refused', errno('ECONNREFUSED')),
    'a time-out': dial('connect_timeout'),
    'no route': dial('network_unreachable'),
    EMFILE: dial('network_unreachable', errno('EMFILE')),
    'a reset': dial('connection_lost', errno('ECONNRESET')),
    'an address that is gone': dial('address_not_local', errno('EADDRNOTAVAIL')),
  },
  read: { ...OPEN, 'the end of the stream': 'close' },
  write: OPEN,
  startTls: { 'a handshake that fails': dial('tls_failure'), ...OPEN },
  fetch: {
    refused: fetched('connect', errno('ECONNREFUSED')),
    'a time-out': fetched('timeout'),
    EMFILE: fetched('connect', errno('EMFILE')),
    'no address': fetched('dns', dns('servfail')('mta-sts', 'A')),
  },
  store: {
    ENOSPC: stored('unavailable', 'ENOSPC'),
    EMFILE: stored('unavailable', 'EMFILE'),
    damage: stored('damaged', 'EIO'),
    'a full repository': stored('full', 'ENOSPC'),
  },
}

/**
 * Which call fails: the N-th of its kind, and with `lasting` all that follow. `abort`: the caller goes away at that
 * call, which itself succeeds. `stepMs`: so does the call, and the wall clock steps by so much.
 */
export type Plan = {
  readonly step: Step
  readonly nth: number
  readonly fault: string
  readonly lasting?: boolean
  readonly abort?: () => void
  readonly stepMs?: number
}

/**
 * A world that fails as planned. `counts`: how many calls of each kind there were; `open`: connections that nobody
 * closed.
 */
export type FaultyWorld = World & {
  readonly counts: Readonly<Record<Step, number>>
  /** Faults that were given. */
  readonly fired: () => number
  /** Signals that calls were made with. */
  readonly signals: ReadonlySet<AbortSignal>
  readonly plan: (next: Plan | undefined) => void
  /** Time passes, on both clocks. */
  readonly advance: (ms: number) => void
}

/**
 * `world` with a plan of faults below the program's own stack of DNS wrappers (cache, merging, doubts about NXDOMAIN),
 * as `start/dns.ts` has it.
 */
export function faultyWorld(world: World): FaultyWorld {
  const counts: Record<Step, number> = Object.fromEntries(STEPS.map((step) => [step, 0])) as Record<Step, number>
  let plan: Plan | undefined
  const signals = new Set<AbortSignal>()
  let fired = 0
  let late = 0
  let stepped = 0
  const now = (): number => world.now() + late + stepped
  const monotonic = (): number => world.monotonic() + late

  /** The fault of this call, if it is its turn. */
  function faultOf(step: Step): MakeFault | 'close' | undefined {
    counts[step] += 1
    if (plan?.step !== step) return undefined
    if (plan.lasting ? counts[step] < plan.nth : counts[step] !== plan.nth) return undefined
    fired += 1
    if (plan.abort || plan.stepMs !== undefined) {
      plan.abort?.()
      stepped += plan.stepMs ?? 0
      return undefined
    }
    const fault = FAULTS[step][plan.fault]
    if (!fault) throw new Error(`${step} has no fault ${plan.fault}`)
    return fault
  }
  function failing(step: Step, name: string = step, type = ''): void {
    const fault = faultOf(step)
    if (fault !== undefined && fault !== 'close') throw fault(name, type)
  }

  const asked: World['resolve'] = async (name, type, signal, options) => {
    signals.add(signal)
    failing('resolve', name, type)
    return world.resolve(name, type, signal, options)
  }
  const shared = merged(limited(asked, 5_000))
  const domains = topLevelDomains(shared, monotonic)
  const resolve = cached(believable(shared, domains), {
    now: monotonic,
    nxdomainSinceMs: domains.deniedAtMs,
    maxEntries: 100_000,
    maxBytes: 32 << 20,
  })

  const broken = (connection: Connection): Connection => ({
    ...connection,
    read: async () => {
      const fault = faultOf('read')
      if (fault === 'close') return undefined
      if (fault) throw fault('', '')
      return connection.read()
    },
    write: async (bytes) => {
      failing('write')
      await connection.write(bytes)
    },
    startTls: async (name) => {
      failing('startTls')
      return connection.startTls(name)
    },
  })

  return {
    ...world,
    now,
    monotonic,
    resolve,
    askServer: async (server, name, type, signal) => {
      failing('askServer', name, type)
      return world.askServer(server, name, type, signal)
    },
    dial: async (target, signal) => {
      signals.add(signal)
      failing('dial')
      return broken(await world.dial(target, signal))
    },
    fetch: async (url, signal, options) => {
      signals.add(signal)
      failing('fetch')
      return world.fetch(url, signal, options)
    },
    store: brokenStore(world.store, () => failing('store')),
    counts,
    fired: () => fired,
    signals,
    plan: (next) => {
      plan = next
      for (const step of STEPS) counts[step] = 0
      fired = 0
      signals.clear()
    },
    advance: (ms) => {
      late += ms
    },
  }
}

function brokenStore(store: Store, failing: () => void): Store {
  const broken = (rows: Repository): Repository => {
    const first =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        failing()
        return call(...args)
      }
    return {
      get: first(rows.get),
      list: first(rows.list),
      put: first(rows.put),
      putAll: first(rows.putAll),
      add: first(rows.add),
      delete: first(rows.delete),
    }
  }
  return {
    node: broken(store.node),
    peers: broken(store.peers),
    sources: broken(store.sources),
    selfTests: broken(store.selfTests),
  }
}
