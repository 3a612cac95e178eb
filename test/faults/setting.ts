import { createBlacklists } from '../../src/dnsbl/blacklists.ts'
import { identity } from '../../src/mailbox/source/helo.ts'
import { createVerifier } from '../../src/mailbox/verify.ts'
import { domain } from '../../src/names/domain.ts'
import { ip, reverseName } from '../../src/names/ip.ts'
import { DnsError } from '../../src/net/dns/resolver.ts'
import { FetchError } from '../../src/net/fetch.ts'
import type { Deps } from '../../src/operations/deps.ts'
import type { Execute } from '../../src/operations/execute.ts'
import { peerRegistry } from '../../src/peers/registry.ts'
import { ZONE } from '../golden/worlds.ts'
import { LAB_SECRET, labDeps, labExecutor, labPool } from '../lab/app.ts'
import { type LabDial, type LabServer, labDial } from '../lab/dial.ts'
import { type LabZone, labDns } from '../lab/dns.ts'
import { LIVE_LISTS } from '../lab/lists.ts'
import { labProblem } from '../lab/problem.ts'
import { labStore, labWorld } from '../lab/world.ts'
import { type FaultyWorld, faultyWorld } from './world.ts'

/** Our own source addresses, as the pool has them. */
const POOL = [ip('45.53.1.9'), ip('45.53.1.10')]
export const LISTED = ip('45.53.9.9')
export const CLEAN = ip('45.53.5.1')

/** The domains of the test network; lists that answer; one address on two of them. */
const DNS: LabZone = {
  ...ZONE,
  ...LIVE_LISTS,
  test: { NS: ['ns1.lab.test'] },
  com: { NS: ['ns1.lab.test'] },
  '9.9.53.45.zen.spamhaus.org': { A: ['127.0.0.2'], TXT: ['a spam source'] },
  '9.9.53.45.bl.spamcop.net': { A: ['127.0.0.2'] },
  ...Object.fromEntries(POOL.map((address, n) => [reverseName(address), { PTR: [`out${n}.pool.test`] }])),
  ...Object.fromEntries(
    POOL.map((address, n) => [`out${n}.pool.test`, { A: [address], TXT: [`v=spf1 ip4:${address} -all`] }]),
  ),
  'pool.test': { TXT: ['v=spf1 ip4:45.53.1.0/24 -all'] },
}
const OK = '250 2.1.5 Ok'
const FULL = ['PIPELINING', 'STARTTLS', '8BITMIME', 'SMTPUTF8']
const SERVERS: Readonly<Record<string, LabServer>> = {
  '45.53.5.1': { rcpt: { 'user@accept.test': OK } },
  '45.53.5.2': { ehlo: FULL, rcpt: { '*': OK } },
  '2a02:53:5::2': { ehlo: FULL, rcpt: { '*': OK } },
  '45.53.5.48': { ehlo: FULL, rcpt: { 'user@healthy.test': OK } },
  '45.53.9.9': { connect: 'refuse' },
  '2a02:53:9::9': { connect: 'refuse' },
  '45.53.5.27': { ehlo: FULL, rcpt: { 'user@healthy.test': OK, 'user@danegood.test': OK } },
}
const POLICY = 'version: STSv1\r\nmode: enforce\r\nmx: *.test\r\nmax_age: 604800\r\n'

const { resolve, asked } = labDns(DNS)

/** The program over a world that fails as planned: the services are made anew, and keep their state between calls. */
export type Setting = {
  readonly world: FaultyWorld
  readonly net: LabDial
  readonly execute: Execute
}

/** Names greylist and limits apart, the services are those of `serve`. */
export function setting(): Setting {
  asked.length = 0 // nobody reads it, and there are millions
  const net = labDial(SERVERS)
  const world = faultyWorld(
    labWorld(
      {},
      {
        resolve,
        askServer: async (_, name, type, signal) => ({ ...(await resolve(name, type, signal)), authoritative: true }),
        dial: net.dial,
        fetch: async (url) => {
          if (!url.startsWith('https://mta-sts.')) throw new FetchError('connect', labProblem('nobody answers'))
          return { status: 200, contentType: 'text/plain', body: Buffer.from(POLICY), url }
        },
        store: labStore(),
      },
    ),
  )
  const blacklists = createBlacklists({ now: world.monotonic, noCourtesy: true })
  const self = { id: 'here', url: undefined, name: 'here', region: '', addresses: () => [], version: '0' }
  const deps: Partial<Deps> = {
    blacklists,
    sourcePool: labPool(world, blacklists, POOL),
    heloName: identity(world, {}).heloName,
    verifier: createVerifier(world, { noCourtesy: true, pool: () => POOL, helo: domain('out0.pool.test') }),
    peers: peerRegistry({
      ...world,
      self,
      secret: LAB_SECRET,
      ttlMs: 30_000,
      call: () => Promise.reject(new FetchError('connect', labProblem('no other node answers'))),
    }),
    canBind: async () => true,
    probes: {
      resolver: async (signal) =>
        world.resolve('com', 'NS', signal).then(
          () => undefined,
          (error: unknown) => (error instanceof DnsError ? error.message : Promise.reject(error)),
        ),
      store: async () => undefined,
      queue: async () => undefined,
    },
  }
  return { world, net, execute: labExecutor(world, labDeps(world, deps)) }
}
