import { randomInt } from 'node:crypto'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import tls from 'node:tls'
import { raced, within } from '../base/deadline.ts'
import { codeOf, invalidFlag } from '../base/errors.ts'
import type { Clocks } from '../base/time.ts'
import type { Config } from '../config.ts'
import { endedInputs } from '../lane/ended-inputs.ts'
import { type Lane, openLane } from '../lane/lane.ts'
import type { DnsEvent } from '../net/dns/question.ts'
import { DnsError, type Resolve, settled } from '../net/dns/resolver.ts'
import {
  findServer,
  formatServer,
  isLoopback,
  isPublicResolver,
  type Server,
  systemResolvers,
} from '../net/dns/system.ts'
import { httpsFetch } from '../net/https.ts'
import { guard } from '../net/public-only.ts'
import { tcpDial } from '../net/smtp/tcp-dial.ts'
import type { Proxies } from '../net/socks/proxies.ts'
import type { Deps, Probe } from '../operations/deps.ts'
import { heavyProgram } from '../own-files.ts'
import { filesStore } from '../store/files/files-store.ts'
import { makeFolder } from '../store/own-file.ts'
import type { Log, World } from '../world.ts'
import { openDns } from './dns.ts'

/** The real world with its connections; nothing is opened before it is needed. */
export type Outside = {
  readonly world: World
  readonly lane: Pick<Lane, 'stats'>
  /** The resolver without the cache of answers: for modules that cache by rules of their own. */
  readonly uncached: Resolve
  readonly servers: readonly Server[]
  readonly version: string
  /** Whether each dependency of the service is available, tested again at each call. */
  readonly probes: Omit<Deps['probes'], 'queue'>
  /** From now on, targets with a proxy are dialled by `connect`. */
  readonly dialByProxies: (connect: Proxies['connect']) => void
  readonly close: () => Promise<void>
}

/** Opens the world as configured. `onDns` is called for every query to a resolver. */
export async function openOutside(
  config: Config,
  log: Log,
  version: string,
  onDns?: (event: DnsEvent) => void,
): Promise<Outside> {
  const { servers, trustAd } = await resolversOf(config)
  const { now, monotonic } = processClocks()
  const random = (): number => randomInt(2 ** 47) / 2 ** 47
  const reachable = guard({ allowed: config.allowNetworks })
  const dns = openDns({
    servers,
    trustAd,
    allowed: reachable,
    random,
    now: monotonic,
    ...(onDns && { onEvent: onDns }),
  })
  const store = filesStore(config.dataDir, log.warn)
  const { resolve, askServer } = dns
  const lane = openLane({
    // It gets no environment: the secrets of the service are none of its.
    command: { ...heavyProgram, env: {} },
    log,
    endedInputs: endedInputs(join(config.dataDir, 'lane'), { now, warn: log.warn }),
  })
  let byProxy: Proxies['connect'] | undefined
  const dialled = async (...asked: Parameters<Proxies['connect']>) => {
    if (!byProxy) throw new Error('a proxy is used before there is a pool')
    return byProxy(...asked)
  }
  const ca = tls.getCACertificates('extra')
  const outgoing = { resolve, reachable, byProxy: dialled, userAgent: `mailsonde/${version}`, ca }
  const world: World = {
    resolve,
    askServer,
    dial: tcpDial(outgoing),
    fetch: httpsFetch(outgoing),
    store,
    heavy: lane.heavy,
    now,
    monotonic,
    random,
    log,
  }
  const shared = servers.filter(({ ip }) => isPublicResolver(ip))
  if (shared.length > 0) {
    log.warn('a public resolver is configured: several blacklists refuse its queries; run your own resolver', {
      resolver: shared.map(formatServer).join(', '),
    })
  }
  async function close(): Promise<void> {
    dns.close()
    await Promise.all([lane.close(), store.settled()])
  }
  const probes = {
    resolver: sharedProbe(resolverProbe(dns.direct)),
    store: sharedProbe(storeProbe(config.dataDir)),
  }
  const dialByProxies = (connect: Proxies['connect']): void => void (byProxy = connect)
  return { world, lane, uncached: dns.uncached, servers, version, probes, dialByProxies, close }
}

/** A top-level domain that exists, queried without the cache: a resolver that denies it denies everything. */
const resolverProbe =
  (resolve: Resolve): Probe =>
  async (signal) => {
    const question = { name: 'com', type: 'NS' } as const
    const answer = await settled(resolve(question.name, question.type, signal))
    if (answer instanceof DnsError) return answer.message
    return answer.kind === 'nxdomain' ? new DnsError('resolver_denies_everything', question).message : undefined
  }

const storeProbe =
  (folder: string): Probe =>
  async () => {
    try {
      await makeFolder(folder)
      await access(folder, constants.R_OK | constants.W_OK)
      return undefined
    } catch (error) {
      return `the data folder cannot be written: ${codeOf(error)}`
    }
  }

/**
 * The configured resolvers. Their AD bit is trusted if the operator says so, or if all of them are on this machine
 * (RFC 4035 §4.9.3).
 */
async function resolversOf(config: Config): Promise<{ servers: readonly Server[]; trustAd: boolean }> {
  if (config.resolvers.length === 0) {
    const system = await systemResolvers()
    return { servers: system.servers, trustAd: config.trustAd || system.trustAd || system.servers.every(isLoopback) }
  }
  const servers: Server[] = []
  for (const text of config.resolvers) {
    const server = await findServer(text)
    if (!server.ok) throw invalidFlag('resolver', server.problem)
    servers.push(server.value)
  }
  return { servers, trustAd: config.trustAd || servers.every(isLoopback) }
}

/**
 * The clocks of this process: `monotonic` starts at the time of `now`, and steps of the system clock do not change it.
 */
function processClocks(): Clocks {
  const originMs = Date.now() - performance.now()
  return { now: () => Date.now(), monotonic: () => Math.round(originMs + performance.now()) }
}

/** How long the result of a probe is valid for every caller, ms. */
export const PROBE_GOOD_MS = 1_000
/** Time limit of a probe, whoever waits for it, ms. */
const PROBE_MS = 3_000

/**
 * A probe that runs at most once a second however often it is called: callers during a run wait for it, and its result
 * is valid for a second. `now`: a clock that never steps back, ms.
 */
export function sharedProbe(probe: Probe, now: () => number = () => performance.now()): Probe {
  let running: Promise<string | undefined> | undefined
  let endedAtMs = Number.NEGATIVE_INFINITY
  return (signal) => {
    if (running === undefined || now() - endedAtMs >= PROBE_GOOD_MS) {
      endedAtMs = Number.POSITIVE_INFINITY // while it runs
      running = probe(within(PROBE_MS)).finally(() => (endedAtMs = now()))
    }
    return raced(signal, running).catch((error: unknown) => {
      if (signal.aborted) return 'no answer in time'
      throw error
    })
  }
}
