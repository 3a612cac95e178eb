import { tmpdir } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { type Blacklists, createBlacklists } from '../../src/dnsbl/blacklists.ts'
import { DOMAIN_SET } from '../../src/dnsbl/domain-zones.ts'
import { createGeo } from '../../src/geo/geo.ts'
import type { HttpOptions } from '../../src/http/options.ts'
import { httpServer } from '../../src/http/server.ts'
import { identity } from '../../src/mailbox/source/helo.ts'
import { type SourcePool, type SourcePoolOptions, sourcePool } from '../../src/mailbox/source/pool.ts'
import { createVerifier } from '../../src/mailbox/verify.ts'
import { messageService } from '../../src/message/inbox.ts'
import { verifiedSelectors } from '../../src/message/selectors.ts'
import { ip } from '../../src/names/ip.ts'
import { isPublic } from '../../src/names/ip-range.ts'
import { type PoolEntry, parsePoolEntry } from '../../src/names/source.ts'
import type { PeerCall } from '../../src/net/peer-call.ts'
import type { ProxyState } from '../../src/net/socks/proxies.ts'
import type { Deps } from '../../src/operations/deps.ts'
import { type Execute, executor } from '../../src/operations/execute.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { peerRegistry } from '../../src/peers/registry.ts'
import { listingLookup } from '../../src/start/pool.ts'
import { type ApiKey, hashKey, type Scope } from '../../src/store/key-file.ts'
import type { World } from '../../src/world.ts'
import { labIdempotencyKeys, labJobs } from './jobs.ts'
import { labAccepted, labMonitors, labWebhooks } from './monitors.ts'
import { labReports, NO_REPORTS } from './reports.ts'
import { labStored } from './stored.ts'
import { labStore } from './world.ts'

/**
 * The services of the program in a lab world: this node is `here`, all its probes are well, and it can bind 45.53.1.9
 * alone.
 */
export function labDeps(world: World, parts: Partial<Deps> & { readonly call?: PeerCall } = {}): Deps {
  const { call = unasked, ...rest } = parts
  const { now, monotonic, random, log } = world
  const blacklists = createBlacklists({ now: monotonic, noCourtesy: true })
  const verified = rest.verifiedSelectors ?? verifiedSelectors()
  const self = { id: 'here', url: undefined, name: 'here', region: '', addresses: () => [], version: '0' }
  return {
    blacklists,
    domainLists: createBlacklists({ now: monotonic, noCourtesy: true, set: DOMAIN_SET }),
    geo: createGeo({ sources: [], warn: () => {} }),
    verifier: rest.verifier ?? createVerifier(world, { noCourtesy: true }),
    jobs: labJobs,
    idempotencyKeys: labIdempotencyKeys,
    stored: async () => labStored,
    monitors: async () => labMonitors,
    webhooks: async () => labWebhooks,
    accepted: async () => labAccepted,
    acceptedHere: async () => new Map(),
    reports: async () => labReports,
    reportsHere: NO_REPORTS,
    sourcePool: labPool(world, blacklists),
    heloName: identity(world, {}).heloName,
    peers: peerRegistry({
      now,
      monotonic,
      random,
      log,
      store: labStore(),
      self,
      secret: LAB_SECRET,
      ttlMs: 30_000,
      call,
    }),
    messages: messageService({ maxBytes: 10_485_760, verified, now, monotonic }),
    verifiedSelectors: verified,
    mayCall: (url, address) => url.protocol === 'https:' && isPublic(address),
    publicResolvers: [],
    probes: { resolver: async () => undefined, store: async () => undefined, queue: async () => undefined },
    ownProfiles: [],
    submission: async () => undefined,
    databaseState: async () => ({ kind: 'private', ready: true, detail: 'PostgreSQL 18' }),
    canBind: async (address) => address === ip('45.53.1.9'),
    smtpPort: 25,
    sharedDatabaseUser: undefined,
    ...rest,
  }
}

/**
 * The pool of the program over the lab's blacklists; without addresses none is configured, and the machine has no
 * public address.
 */
export const labPool = (
  world: World,
  blacklists: Blacklists,
  sources: readonly string[] = [],
  known: Readonly<Record<string, ProxyState>> = {},
): SourcePool =>
  sourcePool({
    now: world.monotonic,
    read: sources.length > 0 ? () => sources.map(labSource) : undefined,
    ownAddresses: () => [],
    proxies: labProxies(known),
    lookup: listingLookup(world, blacklists),
  })

/** An entry of the pool, written as an operator does. */
export function labSource(text: string): PoolEntry {
  const entry = parsePoolEntry(text)
  if (!entry.ok) throw new Error(entry.problem.text)
  return entry.value
}

/** Proxies of which is known what is written. */
export const labProxies = (known: Readonly<Record<string, ProxyState>> = {}): SourcePoolOptions['proxies'] => ({
  use: () => {},
  known: (name) => known[name] ?? {},
  examine: async (name) => known[name] ?? {},
})

export const LAB_SECRET = 'the secret of the lab cluster'
/** Where other nodes call the lab's. */
export const LAB_ORIGIN = 'https://here.example'

const unasked: PeerCall = async () => {
  throw new Error('the lab has no other node: fake the call in this test')
}

/** Executes operations in a lab world; every answer is held against its schema, strictly. */
export const labExecutor = (world: World, deps: Deps): Execute =>
  executor({ world, provide: async () => deps, strict: true })

/** The HTTP adapter over a lab world; no key is in force unless given. */
export async function labApp(
  world: World,
  options: Partial<HttpOptions> & { readonly deps?: Deps; readonly onLine?: (line: string) => void } = {},
): Promise<FastifyInstance> {
  const { onLine, deps = labDeps(world), ...rest } = options
  return httpServer({
    operations: await allOperations(),
    world,
    execute: labExecutor(world, deps),
    keys: () => [],
    origin: LAB_ORIGIN,
    hostNames: [],
    corsOrigins: [],
    ratePerMinute: 1_000_000,
    maxConcurrency: 512,
    logger: pino({ level: onLine ? 'debug' : 'silent' }, { write: (line: string) => onLine?.(line) }),
    draining: () => false,
    refuseWhenLate: false,
    spool: { folder: tmpdir(), maxOctets: 26_279_936 },
    version: '0.0.0',
    ...rest,
  })
}

/** A key in force that callers present as `key`. */
export const labKey = (key: string, scopes: readonly Scope[], over: Partial<ApiKey> = {}): ApiKey => ({
  id: `id-of-${key}`,
  name: key,
  hash: hashKey(key),
  scopes: [...scopes],
  created_at: '2026-01-01T00:00:00.000Z',
  ...over,
})
