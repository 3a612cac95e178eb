import { expect, it, vi } from 'vitest'
import type { Json } from '../src/base/json.ts'
import { createVerifier } from '../src/mailbox/verify.ts'
import { ip } from '../src/names/ip.ts'
import { DnsError } from '../src/net/dns/resolver.ts'
import { FetchError } from '../src/net/fetch.ts'
import type { PeerCall } from '../src/net/peer-call.ts'
import { blacklist } from '../src/operations/blacklist.ts'
import blacklistExample from '../src/operations/examples/blacklist.json' with { type: 'json' }
import verifyExample from '../src/operations/examples/verify.json' with { type: 'json' }
import { verify } from '../src/operations/verify.ts'
import { readPeers } from '../src/peers/record.ts'
import { labApp, labDeps, labExecutor } from './lab/app.ts'
import { labDial } from './lab/dial.ts'
import type { LabZone } from './lab/dns.ts'
import { LIVE_LISTS } from './lab/lists.ts'
import { labProblem } from './lab/problem.ts'
import { labStore, labWorld } from './lab/world.ts'

const ZONE: LabZone = {
  ...LIVE_LISTS,
  'n1.example': { A: ['45.53.1.7'] },
  'lan.example': { A: ['10.0.0.7'] },
  'lost.example': 'SERVFAIL',
  'a.example': { MX: [[10, 'mx.example']] },
  'mx.example': { A: ['45.53.5.1'] },
}
const post = (path: string, body: unknown) => ({
  method: 'POST' as const,
  url: path,
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify(body),
})
const NODE = { id: 'n1', url: 'https://n1.example', region: 'eu', addresses: ['45.53.1.7'] }

it('a node registers, is renewed, keeps alive, is listed, and its silence tells', async () => {
  let now = Date.UTC(2026, 0, 2)
  const world = labWorld(ZONE, { now: () => now })
  const app = await labApp(world, { deps: labDeps(world) })
  const first = await app.inject(post('/v1/peer/register', NODE))
  expect(first.statusCode).toBe(201)
  expect(first.json()).toMatchObject({
    ...NODE,
    name: 'n1',
    version: '',
    capabilities: ['verify', 'check', 'blacklist'],
    geo: [{ ip: '45.53.1.7', found: false }],
    status: 'alive',
    registered_at: '2026-01-02T00:00:00.000Z',
    ttl_ms: 30_000,
    load: null,
  })
  expect((await app.inject(post('/v1/peer/register', NODE))).statusCode).toBe(200)
  const statuses = []
  for (const ms of [30_000, 1, 59_999, 1]) {
    now += ms
    const { peers, total } = (await app.inject({ url: '/v1/peer/peers' })).json()
    statuses.push(peers[0].status)
    expect(total).toBe(1)
  }
  expect(statuses).toEqual(['alive', 'suspect', 'suspect', 'dead'])
  const beat = await app.inject(post('/v1/peer/heartbeat', { id: 'n1', load: { active: 1, capacity: 9 } }))
  expect([beat.statusCode, beat.json()]).toEqual([200, { id: 'n1', status: 'alive', ttl_ms: 30_000, peers: 1 }])
})

it('remembers its nodes over a restart', async () => {
  const world = labWorld(ZONE, { store: labStore() })
  const { peerRegistry } = await import('../src/peers/registry.ts')
  const registry = () => {
    const { peers } = labDeps(world)
    return peerRegistry({
      ...world,
      self: peers.self,
      secret: undefined,
      ttlMs: 30_000,
      call: async () => ({ status: 200, body: null }),
    })
  }
  const before = await labApp(world, { deps: labDeps(world, { peers: registry() }) })
  await before.inject(post('/v1/peer/register', NODE))
  const after = await labApp(world, { deps: labDeps(world, { peers: registry() }) })
  expect((await after.inject({ url: '/v1/peer/peers' })).json().peers).toMatchObject([NODE])
})

const many = (n: number) => Array.from({ length: n }, (_, i) => `45.1.${i >> 8}.${i & 255}`)
it.each<[string, string, unknown, number, string, string | undefined]>([
  ['without a URL', 'register', { id: 'n1' }, 400, 'missing_parameter', 'url'],
  ['no URL', 'register', { ...NODE, url: 'n1.example' }, 400, 'invalid_parameter', 'url'],
  ['another scheme', 'register', { ...NODE, url: 'ftp://n1.example' }, 400, 'invalid_parameter', 'url'],
  ['a path', 'register', { ...NODE, url: 'https://n1.example/a' }, 400, 'invalid_parameter', 'url'],
  ['a password', 'register', { ...NODE, url: 'https://a:b@n1.example' }, 400, 'invalid_parameter', 'url'],
  ['plain HTTP', 'register', { ...NODE, url: 'http://n1.example' }, 400, 'invalid_parameter', 'url'],
  ['a private address', 'register', { ...NODE, url: 'https://10.0.0.7' }, 400, 'invalid_parameter', 'url'],
  ['a private address by name', 'register', { ...NODE, url: 'https://lan.example' }, 400, 'invalid_parameter', 'url'],
  ['loopback by name', 'register', { ...NODE, url: 'https://localhost:8080' }, 400, 'invalid_parameter', 'url'],
  ['loopback in disguise', 'register', { ...NODE, url: 'https://[::ffff:127.0.0.1]' }, 400, 'invalid_parameter', 'url'],
  ['loopback as a number', 'register', { ...NODE, url: 'https://2130706433' }, 400, 'invalid_parameter', 'url'],
  ['the metadata service', 'register', { ...NODE, url: 'https://169.254.169.254' }, 400, 'invalid_parameter', 'url'],
  ['257 addresses', 'register', { ...NODE, addresses: many(257) }, 400, 'invalid_parameter', 'addresses'],
  ['10,000 addresses', 'register', { ...NODE, addresses: many(10_000) }, 413, 'payload_too_large', undefined],
  ['no address', 'register', { ...NODE, addresses: ['45.53.1'] }, 400, 'invalid_ip', 'addresses'],
  ['addresses as text', 'register', { ...NODE, addresses: '45.53.1.7' }, 400, 'invalid_parameter', 'addresses'],
  ['an unknown property', 'register', { ...NODE, admin: true }, 400, 'unknown_parameter', 'admin'],
  ['an unknown capability', 'register', { ...NODE, capabilities: ['root'] }, 400, 'invalid_parameter', 'capabilities'],
  ['an id with a slash', 'register', { ...NODE, id: '../n1' }, 400, 'invalid_parameter', 'id'],
  ['a name of two lines', 'register', { ...NODE, name: 'a\nb' }, 400, 'invalid_parameter', 'name'],
  ['a node that is not known', 'heartbeat', { id: 'n9' }, 404, 'not_found', undefined],
  ['no id', 'heartbeat', {}, 400, 'missing_parameter', 'id'],
  [
    'an unknown property of the load',
    'heartbeat',
    { id: 'n1', load: { active: 1, capacity: 2, x: 1 } },
    400,
    'unknown_parameter',
    'load',
  ],
  [
    'a load that is none',
    'heartbeat',
    { id: 'n1', load: { active: -1, capacity: 2 } },
    400,
    'invalid_parameter',
    'load',
  ],
])('%s is refused by %s', async (_, path, body, status, code, parameter) => {
  const app = await labApp(labWorld(ZONE))
  const response = await app.inject(post(`/v1/peer/${path}`, body))
  expect([response.statusCode, response.json().code, response.json().parameter]).toEqual([status, code, parameter])
})

it('takes a name that cannot be looked up now, and 256 addresses', async () => {
  const app = await labApp(labWorld(ZONE))
  const body = { ...NODE, url: 'https://lost.example', addresses: many(256) }
  const response = await app.inject(post('/v1/peer/register', body))
  expect(response.statusCode).toBe(201)
  expect(response.json().geo).toHaveLength(32)
})

it('one machine registers a few nodes, and not a thousand', async () => {
  const app = await labApp(labWorld(ZONE))
  const statuses = new Map<number, number>()
  for (let i = 0; i < 100; i++) {
    const body = { id: `m${i}`, url: `https://n1.example:${8_000 + i}` }
    const { statusCode } = await app.inject(post('/v1/peer/register', body))
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
  }
  expect([...statuses]).toEqual([
    [201, 16],
    [503, 84],
  ])
  expect((await app.inject(post('/v1/peer/register', { id: 'x', url: 'https://n1.example:8000' }))).statusCode).toBe(
    403,
  )
})

it('1,000 nodes with 256 addresses each are listed in less than 1 MiB', async () => {
  const world = labWorld()
  const deps = labDeps(world)
  const addresses = many(256).map(ip)
  const peer = { name: 'n', region: '', version: '0.1.0', addresses, capabilities: ['verify' as const] }
  const told = Array.from({ length: 1_000 }, (_, i) => {
    const times = { registeredAtMs: world.now(), lastSeenAtMs: world.now() }
    const one = { ...peer, id: `n${i}`, url: `https://n${i}.example`, load: undefined, ...times }
    return { peer: one, status: 'alive' as const }
  })
  await deps.peers.learn(told)
  const app = await labApp(world, { deps })
  const { body } = await app.inject({ url: '/v1/peer/peers' })
  expect(body.length).toBeLessThan(1_048_576)
  const { peers, total } = JSON.parse(body)
  expect([total, peers.length]).toEqual([1_000, 1_000])
  expect(peers[0].addresses).toHaveLength(5)
  expect(peers[0].addresses_left_out).toBe(251)
  expect(await readPeers(peers)).toHaveLength(1_000)
})

it('nobody takes the id of a living node', async () => {
  const app = await labApp(labWorld(ZONE))
  await app.inject(post('/v1/peer/register', NODE))
  const response = await app.inject(post('/v1/peer/register', { ...NODE, url: 'https://45.53.1.8' }))
  expect([response.statusCode, response.json().code]).toEqual([403, 'forbidden'])
})

/** An app that knows the nodes `n1` … whose answers are given by the host of their URL. */
async function cluster(answers: readonly ((path: string) => Json)[], refusing = true) {
  const called: string[] = []
  const call: PeerCall = async ({ url }) => {
    const { hostname, pathname, search } = new URL(url)
    called.push(`${hostname}${pathname}${search}`)
    const body = answers[Number(hostname.split('.')[3]) - 1]!(search)
    if (body === null) throw new FetchError('connect', labProblem('it does not answer'))
    return { status: 200, body }
  }
  const { dial, dialled } = labDial({
    '45.53.5.1': refusing
      ? { rcpt: { '*': '554 5.7.1 Client host [45.53.1.9] blocked using zen.spamhaus.org' } }
      : { rcpt: { 'user@a.example': '250 ok' } },
  })
  const world = labWorld(ZONE, { dial })
  const deps = labDeps(world, { call, verifier: createVerifier(world, { noCourtesy: true }) })
  const app = await labApp(world, { deps })
  for (const i of answers.keys())
    await app.inject(post('/v1/peer/register', { id: `n${i + 1}`, url: `https://45.53.2.${i + 1}` }))
  return { app, called, dialled, deps }
}

const accepted = (email = 'user@a.example'): Json => ({
  ...(verifyExample as { [key: string]: Json }),
  email,
  ip_used: '45.53.2.1',
})

it.each<[string, (path: string) => Json, string, string | undefined]>([
  ['accepts', () => accepted(), 'accepted', 'n1'],
  ['does not answer', () => null, 'blocked', undefined],
  ['answers about another mailbox', () => accepted('other@a.example'), 'blocked', undefined],
  ['answers about the same local part of another domain', () => accepted('user@evil.example'), 'blocked', undefined],
  ['answers with the domain written otherwise', () => accepted('user@A.example'), 'accepted', 'n1'],
  ['answers with something else', () => ({ result: 'accepted' }), 'blocked', undefined],
  [
    'lies: a result that does not follow from its reason',
    () => ({ ...(accepted() as object), result: 'rejected' }),
    'blocked',
    undefined,
  ],
  ['makes a reason up', () => ({ ...(accepted() as object), reason: 'because' }), 'blocked', undefined],
  [
    'is refused too',
    () => ({ ...(accepted() as object), result: 'blocked', reason: 'source_blocked', deliverability: 'unknown' }),
    'blocked',
    undefined,
  ],
])('pool=true, every address here refused, and the node %s', async (_, answer, result, peer) => {
  const { app, called } = await cluster([answer])
  const got = (await app.inject({ url: '/v1/verify?email=user@a.example&pool=true' })).json()
  expect([got.result, got.peer]).toEqual([result, peer])
  expect(got.attempts[0]).toMatchObject({ mx_server: 'mx.example', code: 554 })
  expect(called).toHaveLength(1)
  expect(called[0]).toMatch(/^45\.53\.2\.1\/v1\/verify\?pool=true&email=user%40a\.example&timeout=\d+ms$/)
})

it.each<[string, string, boolean, number]>([
  ['without pool', 'email=user@a.example', true, 0],
  ['when it was accepted here', 'email=user@a.example&pool=true', false, 0],
  ['when the node itself is named', 'email=user@a.example&peer=here', true, 0],
  ['when a node is named', 'email=user@a.example&peer=n1', true, 1],
  ['auto', 'email=user@a.example&peer=auto', true, 1],
])('asks other nodes or not: %s', async (_, query, refusing, calls) => {
  const { app, called } = await cluster([() => accepted()], refusing)
  expect((await app.inject({ url: `/v1/verify?${query}` })).statusCode).toBe(200)
  expect(called).toHaveLength(calls)
})

it('never passes on what came from a node', async () => {
  const { called, deps } = await cluster([() => accepted()])
  const { dial } = labDial({ '45.53.5.1': { banner: '554 5.7.1 blocked using zen.spamhaus.org' } })
  const execute = labExecutor(labWorld(ZONE, { dial }), deps)
  const by = { caller: { peer: 'n7', isAdmin: false } }
  expect((await execute(verify, { email: 'user@a.example', pool: 'true' }, by)).answer).toMatchObject({
    result: 'blocked',
  })
  expect((await execute(blacklist, { ip: '45.53.9.9', vantage: 'all' }, by)).answer).not.toHaveProperty('agreement')
  expect(called).toEqual([])
})

it.each([
  ['peer=nobody', 400, 'invalid_parameter'],
  ['peer=n1', 502, 'upstream_unavailable'],
  ['peer=a/b', 400, 'invalid_parameter'],
  ['peer=n1&bind_ip=45.53.1.9', 400, 'invalid_parameter'],
])('verify with %s: %d', async (query, status, code) => {
  const { app } = await cluster([() => null])
  const response = await app.inject({ url: `/v1/verify?email=user@a.example&${query}` })
  expect([response.statusCode, response.json().code]).toEqual([status, code])
})

const IP = '45.53.9.9'
const listing =
  (verdict: string, over: object = {}) =>
  (): Json => ({
    ...(blacklistExample as { [key: string]: Json }),
    ip: IP,
    verdict,
    ...over,
  })

// In the lab no list has an address: this node itself says `clean`.
it.each<[string, (() => Json)[], string, string | null, string, string[]]>([
  ['all agree', [listing('clean'), listing('clean')], 'consistent', 'clean', '3/3', []],
  ['one lies', [listing('listed'), listing('clean')], 'consistent', 'clean', '2/3', ['n1']],
  ['one is gone', [() => null, listing('clean')], 'consistent', 'clean', '2/3', ['n1']],
  [
    'one answers about another address',
    [listing('clean', { ip: '45.53.9.8' }), listing('clean')],
    'consistent',
    'clean',
    '2/3',
    ['n1'],
  ],
  ['one answers nonsense', [() => 'listed', listing('clean')], 'consistent', 'clean', '2/3', ['n1']],
  ['two apart of three', [listing('incomplete'), listing('listed')], 'split', null, '1/3', ['n1', 'n2']],
  ['one of two lies', [listing('listed')], 'split', null, '1/2', ['n1']],
  ['one of two is gone', [() => null], 'insufficient', null, '1/2', ['n1']],
  ['two of three are gone', [() => null, () => null], 'insufficient', null, '1/3', ['n1', 'n2']],
  ['nobody else is there', [], 'insufficient', null, '1/1', []],
])('vantage=all: %s', async (_, answers, verdict, value, agree, disagreeing) => {
  const { app } = await cluster(answers)
  const got = (await app.inject({ url: `/v1/blacklist?ip=${IP}&vantage=all` })).json()
  expect(got.verdict).toBe('clean')
  expect(got.agreement).toMatchObject({ verdict, value, agree })
  expect(got.agreement.disagreeing.map(({ node }: { node: string }) => node)).toEqual(disagreeing)
})

it('vantage=all: one machine has one voice, whatever it registers', async () => {
  const { app, called } = await cluster([listing('clean'), listing('listed')])
  for (const port of [1, 2, 3, 4])
    await app.inject(post('/v1/peer/register', { id: `m${port}`, url: `https://45.53.2.2:${port}` }))
  const got = (await app.inject({ url: `/v1/blacklist?ip=${IP}&vantage=all` })).json()
  expect(called.map((url) => url.split('/')[0]).sort()).toEqual(['45.53.2.1', '45.53.2.2'])
  expect(got.agreement).toMatchObject({ verdict: 'consistent', value: 'clean', agree: '2/3' })
})

it('vantage names one node, whose answer is given', async () => {
  const { app } = await cluster([listing('listed')])
  const got = (await app.inject({ url: `/v1/blacklist?ip=${IP}&vantage=n1` })).json()
  expect([got.verdict, got.vantage, got.agreement.agree]).toEqual(['listed', 'n1', '1/2'])
  expect((await app.inject({ url: `/v1/blacklist?ip=${IP}&vantage=n9` })).json().code).toBe('invalid_parameter')
})

it('peer=auto: silent nodes leave time to verify here', async () => {
  let now = Date.UTC(2026, 0, 2)
  const given: number[] = []
  const call: PeerCall = async ({ url }) => {
    const ms = Number.parseInt(new URL(url).searchParams.get('timeout')!, 10)
    given.push(ms)
    now += ms
    throw new FetchError('timeout', labProblem('it does not answer'))
  }
  const { dial } = labDial({ '45.53.5.1': { rcpt: { 'user@a.example': '250 ok' } } })
  const world = labWorld(ZONE, { dial, now: () => now })
  const verifier = createVerifier(world, { noCourtesy: true })
  const noted: typeof verifier = {
    ...verifier,
    verify: (ctx, input) => {
      given.push(input.timeoutMs ?? 0)
      return verifier.verify(ctx, input)
    },
  }
  const app = await labApp(world, { deps: labDeps(world, { call, verifier: noted }) })
  for (const i of [1, 2, 3, 4])
    await app.inject(post('/v1/peer/register', { id: `n${i}`, url: `https://45.53.2.${i}` }))
  const got = (await app.inject({ url: '/v1/verify?email=user@a.example&peer=auto&timeout=16s' })).json()
  expect([got.result, got.peer]).toEqual(['accepted', undefined])
  expect(given).toEqual([8_000, 4_000, 2_000, 2_000])
})

/** What the nodes say, one letter each: `c` clean, `l` listed, `-` nothing for as long as it is waited for. */
const saying = (said: string): PeerCall => {
  const verdicts: Readonly<Record<string, string>> = { c: 'clean', l: 'listed' }
  return (request, signal) =>
    new Promise((resolve, reject) => {
      const verdict = verdicts[said[Number(new URL(request.url).hostname.split('.')[3]) - 1]!]
      if (verdict !== undefined) resolve({ status: 200, body: listing(verdict)() })
      signal.addEventListener('abort', () => reject(new FetchError('timeout', labProblem('no answer in time'))), {
        once: true,
      })
    })
}

// This node says `clean` at once.
it.each<[string, string, number, string, string | null]>([
  ['one of two is silent: no quorum, twice the time of this node, at least 3 s', '-', 3_000, 'insufficient', null],
  ['one of three is silent: 1 s after the quorum', 'c-', 1_000, 'consistent', 'clean'],
  ['one of five is silent', 'ccc-', 1_000, 'consistent', 'clean'],
  ['two of six are silent', 'ccc--', 1_000, 'consistent', 'clean'],
  ['one of seven lies, one is silent', 'cccl-c', 1_000, 'consistent', 'clean'],
  ['a liar is quick, and an honest node silent', 'l-', 3_000, 'split', null],
  ['two of four are silent', 'c--', 3_000, 'insufficient', null],
])('vantage=all, %s', async (_, said, waitMs, verdict, value) => {
  const world = labWorld(ZONE)
  const app = await labApp(world, { deps: labDeps(world, { call: saying(said) }) })
  for (const i of [...said].keys())
    await app.inject(post('/v1/peer/register', { id: `n${i + 1}`, url: `https://45.53.2.${i + 1}` }))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let isDone = false
  const answer = app.inject({ url: `/v1/blacklist?ip=${IP}&vantage=all` }).then((response) => {
    isDone = true
    return response
  })
  for (let i = 0; i < 200; i++) await new Promise(setImmediate) // what answers at once has answered
  await vi.advanceTimersByTimeAsync(waitMs - 1)
  expect(isDone).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  vi.useRealTimers()
  const { agreement } = (await answer).json()
  expect(agreement).toMatchObject({ verdict, value })
})

it.each([
  ['no list answers', 'timeout', 'listings unknown'],
  ['they answer', undefined, 'not listed'],
] as const)('the verdict of a report, where %s', async (_, fault, word) => {
  const plain = labWorld(ZONE)
  const resolve: typeof plain.resolve = async (name, type, signal, options) => {
    if (fault !== undefined && name.startsWith('1.5.53.45.') && !name.endsWith('.arpa'))
      throw new DnsError(fault, { name, type })
    return plain.resolve(name, type, signal, options)
  }
  const { dial } = labDial({ '45.53.5.1': {} })
  const world = { ...plain, resolve, dial }
  const other = await labApp(world)
  const call: PeerCall = async ({ url }) => {
    const { pathname, search } = new URL(url)
    return { status: 200, body: (await other.inject({ url: `${pathname}${search}` })).json() }
  }
  const app = await labApp(world, { deps: labDeps(world, { call }) })
  await app.inject(post('/v1/peer/register', NODE))
  const got = (await app.inject({ url: '/v1/report?domain=a.example&vantage=all' })).json()
  expect(got.agreement.value).toBe(`${got.status}, ${word}`)
})
