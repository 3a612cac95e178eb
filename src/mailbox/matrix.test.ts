import { describe, expect, it } from 'vitest'
import { type LabServer, labDial } from '../../test/lab/dial.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { type Ip, ip } from '../names/ip.ts'
import { createVerifier } from './verify.ts'

/** Behaviour of the mail host × source addresses × family: the verdict and the number of connections made. */
const FAMILIES = {
  IPv4: {
    type: 'A',
    host: '45.53.5.1',
    pool: ['45.53.1.1', '45.53.1.2', '45.53.1.3'].map(ip),
    other: ip('2a01:4f8::1'),
  },
  IPv6: {
    type: 'AAAA',
    host: '2a01:4f8::25',
    pool: ['2a01:4f8::1', '2a01:4f8::2', '2a01:4f8::3'].map(ip),
    other: ip('45.53.1.1'),
  },
} as const

type Sources =
  | 'default'
  | 'bind_ip'
  | 'pool'
  | 'pool, bind_ip first'
  | 'pool, the other family among it'
  | 'pool of the other family'
/** What each cell should be: verdict, connections. */
type Row = readonly [verdict: string, connections: number]
type Cells = Readonly<Record<Sources, Row>>
const all = (verdict: string): Cells => ({
  default: [verdict, 1],
  bind_ip: [verdict, 1],
  pool: [verdict, 1],
  'pool, bind_ip first': [verdict, 1],
  'pool, the other family among it': [verdict, 1],
  'pool of the other family': ['unreachable network_unreachable', 0],
})
/** Where another address may help all three are tried. */
const allThree = (verdict: string): Cells => ({
  ...all(verdict),
  pool: [verdict, 3],
  'pool, bind_ip first': [verdict, 3],
  'pool, the other family among it': [verdict, 3],
})

const LISTED = '550 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org'
const fromAll = (server: Omit<LabServer, 'from'>, pool: readonly Ip[]): NonNullable<LabServer['from']> =>
  Object.fromEntries(pool.map((source) => [source, server]))

const BEHAVIOURS: readonly (readonly [name: string, server: (pool: readonly Ip[]) => LabServer, cells: Cells])[] = [
  ['takes the mailbox', () => ({ rcpt: { 'a@x.example': '250 ok' } }), all('accepted mailbox_exists')],
  ['takes all', () => ({ rcpt: { '*': '250 ok' } }), all('catch_all accept_all')],
  ['knows no such mailbox', () => ({}), all('rejected mailbox_not_found')],
  ['is full', () => ({ rcpt: { '*': '452 4.2.2 mailbox full' } }), all('deferred mailbox_full')],
  ['greylists', () => ({ rcpt: { '*': '450 4.2.0 Greylisted' } }), all('deferred greylisted')],
  [
    'refuses the sender',
    () => ({ mail: '550 5.1.8 Sender address rejected: Domain not found' }),
    all('blocked sender_refused'),
  ],
  [
    'refuses the HELO name that all share',
    () => ({ ehlo: '550 HELO rejected', helo: '550 5.7.1 HELO name rejected' }),
    all('blocked helo_refused'),
  ],
  ['lists every address, at RCPT', () => ({ rcpt: { '*': LISTED } }), allThree('blocked source_blocked')],
  ['lists every address, at the banner', () => ({ banner: LISTED }), allThree('blocked source_blocked')],
  [
    'wants a PTR record',
    () => ({ banner: '550 5.7.25 Client host rejected: cannot find your reverse hostname' }),
    allThree('blocked reverse_dns_required'),
  ],
  [
    'is too slow for us all',
    () => ({ banner: '421 4.7.0 Too many connections from your IP' }),
    allThree('blocked rate_limited'),
  ],
  [
    'lists the first address only',
    (pool) => ({ rcpt: { 'a@x.example': '250 ok' }, from: fromAll({ rcpt: { '*': LISTED } }, pool.slice(0, 1)) }),
    {
      ...all('accepted mailbox_exists'),
      pool: ['accepted mailbox_exists', 2],
      'pool, the other family among it': ['accepted mailbox_exists', 2],
      'pool, bind_ip first': ['accepted mailbox_exists', 1],
    },
  ],
  ['refuses the connection', () => ({ connect: 'refuse' }), all('unreachable connect_refused')],
  ['times out', () => ({ connect: 'timeout' }), all('unreachable connect_timeout')],
  ['has no route', () => ({ connect: 'unreachable' }), allThree('unreachable network_unreachable')],
  ['is private', () => ({ connect: 'unsafe' }), all('unreachable unsafe_address')],
  ['speaks no SMTP', () => ({ banner: '!garbage' }), all('unreachable protocol_error')],
  ['is silent', () => ({ banner: '!silence' }), all('unreachable timeout')],
]

describe.each(Object.entries(FAMILIES))('%s', (_, { type, host, pool, other }) => {
  describe.each(BEHAVIOURS)('a host that %s', (_name, server, cells) => {
    it.concurrent.each(Object.entries(cells) as [Sources, Row][])('%s', async (sources, [verdict, connections]) => {
      const net = labDial({ [host]: server(pool) })
      const ctx = labCtx(
        { 'x.example': { MX: [[10, 'mx1.x.example']] }, 'mx1.x.example': { [type]: [host] } },
        { dial: net.dial },
      )
      const configured: readonly Ip[] =
        sources === 'pool of the other family' ? [other] : sources.includes('among') ? [other, ...pool] : pool
      const verifier = createVerifier(ctx, { helo: domain('us.example'), pool: () => configured })
      const v = await verifier.verify(ctx, {
        email: 'a@x.example',
        timeoutMs: server(pool).banner === '!silence' ? 2_000 : 5_000,
        pool: sources.startsWith('pool'),
        ...(sources.includes('bind_ip') && { bindIp: pool[1]! }),
      })
      expect([`${v.result} ${v.reason}`, net.dialled.length, v.attempts.length, net.open()]).toEqual([
        verdict,
        connections,
        connections,
        0,
      ])
      if (sources === 'pool, bind_ip first') expect(net.dialled[0]).toBe(`${host} from ${pool[1]}`)
      if (sources === 'default') expect(net.dialled).toEqual([host])
    })
  })
})
