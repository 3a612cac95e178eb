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

/** A page of an operation; there is no such answer. */
const STORED = '/r/AAAAAAAAAAAAAAAAAAAAAA'
const CROSS = { 'sec-fetch-site': 'cross-site' }
const LINK = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const IMAGE = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }

it.each<[string, string, Record<string, string>, number]>([
  ['an image that starts a verification', VERIFY, { ...CROSS, ...IMAGE }, 403],
  ['an image of another host of the same site', VERIFY, { ...IMAGE, 'sec-fetch-site': 'same-site' }, 403],
  ['a script', '/openapi.json', { ...CROSS, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }, 403],
  ['a link to work', VERIFY, { ...CROSS, ...LINK }, 403],
  ['a link to a page', STORED, { ...CROSS, ...LINK }, 200],
  ['a page in a frame', STORED, { ...CROSS, ...LINK, 'sec-fetch-dest': 'iframe' }, 403],
  ['a link to nowhere', '/v1/nowhere', { ...CROSS, ...LINK }, 404],
  ['a fetch of an origin that may', VERIFY, { ...CROSS, 'sec-fetch-mode': 'cors', origin: 'https://a.example' }, 200],
  [
    'a fetch of an origin that may not',
    VERIFY,
    { ...CROSS, 'sec-fetch-mode': 'cors', origin: 'https://b.example' },
    403,
  ],
  ['a preflight of an origin that may not', VERIFY, { ...CROSS, origin: 'https://b.example' }, 403],
  ['our own page', VERIFY, { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, 200],
  ['a person at the address bar', VERIFY, { 'sec-fetch-site': 'none', ...LINK }, 200],
  ['no browser', VERIFY, {}, 200],
  ['health', '/v1/health', { ...CROSS, ...IMAGE }, 200],
])('what a browser says of the page that asks: %s', async (_, url, headers, status) => {
  const app = await labApp(labWorld(), { corsOrigins: ['https://a.example'] })
  const method = _.startsWith('a preflight') ? 'OPTIONS' : 'GET'
  expect((await app.inject({ method, url, headers: { host: 'localhost', ...headers } })).statusCode).toBe(status)
})

it('answers the preflight of an origin that may, and counts it', async () => {
  const app = await labApp(labWorld(), { corsOrigins: ['https://a.example'], ratePerMinute: 1 })
  const headers = { ...CROSS, host: 'localhost', origin: 'https://a.example', 'access-control-request-method': 'GET' }
  const ask = async () => app.inject({ method: 'OPTIONS', url: VERIFY, headers })
  const first = await ask()
  expect([first.statusCode, first.headers['access-control-allow-origin']]).toEqual([204, 'https://a.example'])
  expect((await ask()).statusCode).toBe(429)
})

it('with keys in force the page of another site is refused too', async () => {
  const app = await labApp(labWorld(), { keys: () => KEYS })
  const headers = { ...CROSS, ...IMAGE, authorization: 'Bearer boss' }
  expect((await app.inject({ url: VERIFY, headers })).statusCode).toBe(403)
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

it.each(['/v1/health'])('closed for want of keys: %s is answered', async (url) => {
  const app = await labApp(labWorld(), { closed: () => 'no key is left' })
  expect((await app.inject({ url })).statusCode).toBe(200)
})

it.each([GEO, VERIFY, '/v1/peer/peers', '/v1/ready', '/openapi.json', '/metrics', '/v1/nowhere'])(
  'closed for want of keys: %s is refused, and the reason is not told to callers',
  async (url) => {
    const metrics = async () => ({ contentType: 'text/plain', text: 'up 1\n' })
    const app = await labApp(labWorld(), { closed: () => 'the file /secret/place is missing', metrics })
    const response = await app.inject({ url, headers: LIVE })
    expect([response.statusCode, response.json().code]).toEqual([401, 'unauthorized'])
    expect(response.body).not.toContain('/secret/place')
  },
)

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

it.each([
  ['/openapi.json', 2],
  ['/v1/nowhere', 2],
  ['/v1/ready', 20],
])('%s has a rate, by address: %d a minute of 2', async (url, allowed) => {
  const app = await labApp(labWorld(), { ratePerMinute: 2, keys: () => KEYS })
  const statuses = []
  for (let i = 0; i <= allowed; i++) statuses.push((await app.inject({ url })).statusCode)
  expect(statuses.slice(0, -1)).not.toContain(429)
  expect(statuses.at(-1)).toBe(429)
  expect((await app.inject({ url, remoteAddress: '45.53.1.1' })).statusCode).not.toBe(429)
})

it('counts probes by themselves, and health not at all', async () => {
  const app = await labApp(labWorld(), { ratePerMinute: 1 })
  for (let i = 0; i < 20; i++) expect((await app.inject({ url: '/v1/health' })).statusCode).toBe(200)
  for (let i = 0; i < 5; i++) await app.inject({ url: '/v1/ready' })
  expect((await app.inject({ url: GEO })).statusCode).toBe(200)
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
