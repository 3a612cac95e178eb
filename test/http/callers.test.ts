import { expect, it } from 'vitest'
import { LAB_SECRET, labApp, labKey } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'

const LIVE = { authorization: 'Bearer live' }
const KEYS = [
  labKey('live', ['read']),
  labKey('verifier', ['verify']),
  labKey('boss', ['admin']),
  labKey('old', ['admin'], { expires_at: '2026-01-01T00:00:00.000Z' }),
]
const GEO = '/v1/peer/geo?ip=192.0.2.1'
const VERIFY = '/v1/verify?email=nobody'

it.each<[string, string, Record<string, string>, number, string | undefined]>([
  ['no key', GEO, {}, 401, 'unauthorized'],
  ['a wrong key', GEO, { authorization: 'Bearer nope' }, 401, 'unauthorized'],
  ['an expired key', GEO, { authorization: 'Bearer old' }, 401, 'unauthorized'],
  ['another scheme', GEO, { authorization: 'Basic bGl2ZTo=' }, 401, 'unauthorized'],
  ['a key in the URL', `${GEO}&api_key=live`, {}, 401, 'unauthorized'],
  ['its scope', GEO, LIVE, 200, undefined],
  ['X-API-Key', GEO, { 'x-api-key': 'live' }, 200, undefined],
  ['another scope', VERIFY, LIVE, 403, 'forbidden'],
  ['the scope of verify', VERIFY, { authorization: 'Bearer verifier' }, 200, undefined],
  ['admin, for anything', VERIFY, { authorization: 'Bearer boss' }, 200, undefined],
  ['nodes, read alone', '/v1/peer/peers', LIVE, 403, 'forbidden'],
  ['nodes, admin', '/v1/peer/peers', { authorization: 'Bearer boss' }, 200, undefined],
  ['the transcript, verify alone', `${VERIFY}&trace=true`, { authorization: 'Bearer verifier' }, 403, 'forbidden'],
  ['the transcript, admin', `${VERIFY}&trace=true`, { authorization: 'Bearer boss' }, 200, undefined],
  ['health, without a key', '/v1/health?x=1', {}, 200, undefined],
  ['ready, without a key', '/v1/ready', {}, 200, undefined],
  ['metrics, without a key', '/metrics', {}, 401, 'unauthorized'],
  ['metrics', '/metrics', LIVE, 200, undefined],
])('with keys in force: %s', async (_, url, headers, status, code) => {
  const metrics = async () => ({ contentType: 'text/plain', text: 'up 1\n' })
  const app = await labApp(labWorld(), { keys: () => KEYS, metrics })
  const response = await app.inject({ url, headers })
  expect([response.statusCode, code && response.json().code]).toEqual([status, code])
  if (status === 401) expect(response.headers['www-authenticate']).toBe('Bearer realm="mailsonde"')
})

it.each<[string, Record<string, string>, number]>([
  ['loopback by name', { host: 'localhost:8080' }, 200],
  ['loopback by address', { host: '127.0.0.1:8080' }, 200],
  ['IPv6 loopback', { host: '[::1]:8080' }, 200],
  ['a configured name', { host: 'sonde.example' }, 200],
  ['a foreign name (DNS rebinding)', { host: 'evil.example' }, 403],
  ['a name that only begins so', { host: 'localhost.evil.example' }, 403],
  ['an own Origin', { host: 'localhost', origin: 'http://localhost:8080' }, 200],
  ['a foreign Origin (CSRF)', { host: 'localhost', origin: 'https://evil.example' }, 403],
  ['an opaque Origin', { host: 'localhost', origin: 'null' }, 403],
])('without a key: %s', async (_, headers, status) => {
  const app = await labApp(labWorld(), { hostNames: ['sonde.example'] })
  const response = await app.inject({ url: GEO, headers })
  expect(response.statusCode).toBe(status)
})

it.each<[string, { peerSecret?: string; remoteAddress?: string; headers?: Record<string, string> }, number]>([
  ['loopback', {}, 200],
  ['loopback, passed on by a proxy', { headers: { 'x-forwarded-for': '45.53.1.1' } }, 403],
  ['another machine', { remoteAddress: '45.53.1.1' }, 403],
  ['loopback, with a secret configured', { peerSecret: LAB_SECRET }, 401],
])('nodes without keys and proof: %s', async (_, { peerSecret, ...request }, status) => {
  const app = await labApp(labWorld(), peerSecret === undefined ? {} : { peerSecret })
  expect((await app.inject({ url: '/v1/peer/peers', ...request })).statusCode).toBe(status)
})

it('the last key was revoked on a host that needs one: nobody is answered', async () => {
  const app = await labApp(labWorld(), { mustHaveKey: true })
  expect((await app.inject({ url: GEO })).statusCode).toBe(401)
  expect((await app.inject({ url: '/v1/peer/peers' })).statusCode).toBe(401)
})

it('counts wrong keys by the address they come from: 1,000 tries', async () => {
  const app = await labApp(labWorld(), { keys: () => KEYS, ratePerMinute: 60 })
  const statuses = new Map<number, number>()
  for (let i = 0; i < 1_000; i++) {
    const { statusCode } = await app.inject({ url: GEO, headers: { authorization: `Bearer guess-${i}` } })
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
  }
  expect(Object.fromEntries(statuses)).toEqual({ 401: 60, 429: 940 })
  // Others are not touched by it: another address, and a key that is known.
  expect((await app.inject({ url: GEO, remoteAddress: '45.53.1.1' })).statusCode).toBe(401)
  expect((await app.inject({ url: GEO, headers: LIVE })).statusCode).toBe(200)
})

it.each([
  ['2001:db8::1', '2001:db8::ffff', 429], // one /64 is one caller
  ['2001:db8::1', '2001:db8:0:1::1', 200],
  ['45.53.1.1', '::ffff:45.53.1.1', 429], // the same caller on a socket of both families
  ['45.53.1.1', '45.53.1.2', 200],
])('after %s has spent its rate, %s gets %d', async (first, second, status) => {
  const hosts = { hostNames: ['localhost'] }
  const app = await labApp(labWorld(), { ...hosts, ratePerMinute: 1 })
  await app.inject({ url: GEO, remoteAddress: first })
  expect((await app.inject({ url: GEO, remoteAddress: second })).statusCode).toBe(status)
})

it('says on every answer what is left of the rate, and when it is spent how long to wait', async () => {
  const app = await labApp(labWorld(), { ratePerMinute: 2 })
  const answers = []
  for (const url of [GEO, '/v1/nowhere', GEO]) answers.push(await app.inject({ url }))
  expect(
    answers.map(({ statusCode, headers }) => [statusCode, headers['ratelimit-policy'], headers.ratelimit]),
  ).toEqual([
    [200, '"default";q=2;w=60', '"default";r=1;t=60'],
    [404, '"default";q=2;w=60', '"default";r=0;t=60'],
    [429, '"default";q=2;w=60', '"default";r=0;t=60'],
  ])
  expect(answers[2]!.headers['retry-after']).toBe('60')
  expect(answers[2]!.json()).toMatchObject({ status: 429, code: 'rate_limited' })
})
