import dnsPacket from 'dns-packet'
import { afterEach, expect, it, vi } from 'vitest'
import { type LabServer, labServer, type Query, type Reply, response, soa } from '../../../test/lab/dns-server.ts'
import { ip } from '../../names/ip.ts'
import { serverAsker } from './ask-server.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})
async function asker(behave: (query: Query) => Reply, { allowed = true, tryMs = 4_000 } = {}) {
  const lab: LabServer = await labServer(behave)
  const { ask, close } = serverAsker({
    allowed: () => allowed,
    random: () => 0.5,
    port: lab.server.port,
    timeouts: { tryMs, totalMs: 4_500 },
  })
  closers.push(close, lab.close)
  const asking = (over?: 'tcp') =>
    ask(ip('127.0.0.1'), 'a.example', 'A', AbortSignal.timeout(5_000), over ? { over } : {})
  return { lab, ask: () => asking(), askOverTcp: () => asking('tcp') }
}
const AA = dnsPacket.AUTHORITATIVE_ANSWER
const found = (query: Query) => [{ type: 'A', name: query.name, ttl: 60, data: '192.0.2.1' }]

it('asks without recursion, and tells whether the server speaks for the zone', async () => {
  const { lab, ask } = await asker((query) => response(query, { answers: found(query), flags: AA }))
  expect(await ask()).toMatchObject({ kind: 'found', records: ['192.0.2.1'], authoritative: true, secure: false })
  expect(lab.queries[0]!.bytes[2]! & 1).toBe(0) // RD
})

it('goes to TCP after a truncated answer', async () => {
  const { ask } = await asker((query) =>
    query.over === 'udp' ? response(query, { flags: 0x0200 }) : response(query, { answers: found(query) }),
  )
  expect(await ask()).toMatchObject({ kind: 'found', authoritative: false })
})

it('asks over TCP alone where it is told to', async () => {
  const { lab, askOverTcp } = await asker((query) => response(query, { answers: found(query), flags: AA }))
  expect(await askOverTcp()).toMatchObject({ kind: 'found' })
  expect(lab.queries.map(({ over }) => over)).toEqual(['tcp'])
})

const ns = (name: string, data: string) => ({ type: 'NS' as const, name, ttl: 1, data })
const host = (type: 'A' | 'AAAA', name: string, data: string) => ({ type, name, ttl: 1, data })

it.each<[string, Parameters<typeof response>[1], object | undefined]>([
  [
    'servers and glue',
    {
      authorities: [ns('a.example', 'NS2.a.example'), ns('a.example', 'ns.b.example')],
      additionals: [
        host('A', 'ns2.a.example', '192.0.2.1'),
        host('AAAA', 'ns2.a.example', '2001:db8::1'),
        host('A', 'stranger.example', '192.0.2.9'),
      ],
    },
    {
      zone: 'a.example',
      servers: ['ns.b.example', 'ns2.a.example'],
      glue: { 'ns2.a.example': ['192.0.2.1', '2001:db8::1'] },
    },
  ],
  [
    'NS records of another zone beside them',
    { authorities: [ns('example', 'ns.example'), ns('other.test', 'ns.other.test')] },
    { zone: 'example', servers: ['ns.example'], glue: {} },
  ],
  ['a zone that is not above the name', { authorities: [ns('b.example', 'ns.b.example')] }, undefined],
])('the delegation of a referral: %s', async (_, parts, referral) => {
  const { ask } = await asker((query) => response(query, parts))
  expect((await ask()).referral).toEqual(referral)
})

it.each<[string, (query: Query) => Reply, object]>([
  [
    'a referral',
    (query) => response(query, { authorities: [{ type: 'NS', name: 'example', ttl: 1, data: 'ns.example' }] }),
    { kind: 'nodata', authoritative: false },
  ],
  [
    'a chain that leaves the zone',
    (query) =>
      response(query, { answers: [{ type: 'CNAME', name: query.name, ttl: 1, data: 'b.example' }], flags: AA }),
    { kind: 'nodata', cname: ['b.example'], authoritative: true },
  ],
  [
    'NXDOMAIN',
    (query) => response(query, { rcode: 3, authorities: [soa(9)], flags: AA }),
    { kind: 'nxdomain', ttlSeconds: 9 },
  ],
])('%s is an answer', async (_, behave, answer) => {
  const { lab, ask } = await asker(behave)
  expect(await ask()).toMatchObject(answer)
  expect(lab.queries).toHaveLength(1)
})

it.each<[string, (query: Query) => Reply, string]>([
  ['REFUSED (a lame server)', (query) => response(query, { rcode: 5 }), 'refused'],
  ['silence', () => undefined, 'timeout'],
])('%s is none', async (_, behave, reason) => {
  const { lab, ask } = await asker(behave, reason === 'timeout' ? { tryMs: 100 } : {})
  await expect(ask()).rejects.toMatchObject({ reason })
  expect(lab.queries).toHaveLength(1) // the address may be a stranger's: nothing is sent twice
})

it('sends nothing to an address that is not allowed', async () => {
  const { lab, ask } = await asker((query) => response(query), { allowed: false })
  await expect(ask()).rejects.toMatchObject({ name: 'DnsError', reason: 'unsafe_address' })
  expect(lab.queries).toHaveLength(0)
})

it('keeps a server whose question is not sent yet, so that close() reaches it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const { lab, ask } = await asker((query) => response(query, { answers: found(query), flags: AA }))
    const pending = ask()
    vi.advanceTimersByTime(50) // the sweep comes first, as in a busy turn of the event loop
    for (const close of closers.splice(0, 1)) close()
    await expect(pending).rejects.toMatchObject({ reason: 'aborted' })
    await new Promise((done) => setTimeout(done, 20))
    expect(lab.queries).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

it('opens no socket for what is asked of a closed asker', async () => {
  const { lab, ask } = await asker((query) => response(query))
  closers[0]!()
  await expect(ask()).rejects.toMatchObject({ reason: 'aborted' })
  await new Promise((done) => setTimeout(done, 20))
  expect(lab.queries).toEqual([])
})

it('refuses the 1,025th server that is asked at a time', async () => {
  const { ask, close } = serverAsker({ allowed: () => true, random: () => 0.5 })
  const reasons = Array.from({ length: 1_025 }, (_, i) =>
    ask(ip(`127.1.${i >> 8}.${i & 255}`), 'a.example', 'A', AbortSignal.timeout(5_000)).catch((error) => error.reason),
  )
  close() // before anything was sent
  const seen = await Promise.all(reasons)
  expect(seen.slice(0, 1_024).every((reason) => reason === 'aborted')).toBe(true)
  expect(seen[1_024]).toBe('network')
})
