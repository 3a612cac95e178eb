import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { MonitorAnswer } from '../../src/answers/monitors.ts'
import { AppError } from '../../src/base/errors.ts'
import type { MonitorService } from '../../src/monitors/service.ts'
import type { Stored } from '../../src/monitors/stored.ts'
import { cidr } from '../../src/names/cidr.ts'
import type { Deps } from '../../src/operations/deps.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { PAGE_POLICY, type Site } from '../../src/pages/page.ts'
import { openSite, readIslands } from '../../src/start/pages.ts'
import { type ApiKey, SCOPES, type Scope } from '../../src/store/key-file.ts'
import type { Ctx, World } from '../../src/world.ts'
import { labApp, labDeps, labExecutor, labKey } from '../lab/app.ts'
import { labDns } from '../lab/dns.ts'
import { labMonitors } from '../lab/monitors.ts'
import { labProblem } from '../lab/problem.ts'
import { labReports } from '../lab/reports.ts'
import { labStored } from '../lab/stored.ts'
import { labWorld } from '../lab/world.ts'

const operations = await allOperations()
const siteOf = (world: World, parts: Partial<Deps> = {}): Site =>
  openSite({ operations, world, version: '0.0.0', execute: labExecutor(world, labDeps(world, parts)) })
const appOf = (world: World = labWorld(), options: Parameters<typeof labApp>[1] = {}) =>
  labApp(world, { site: siteOf(world), ...options })

/**
 * Who may see what while keys are in force: every page. A page that is added fails until somebody has thought about it.
 * `free`: no key is asked for.
 */
const REQUIRED: Readonly<Record<string, Scope | 'free'>> = {
  'GET /': 'free',
  'GET /go': 'free',
  'GET /login': 'free',
  'POST /login': 'free',
  'POST /logout': 'free',
  'GET /docs': 'free',
  'GET /docs/api': 'free',
  'GET /docs/api/': 'free',
  'GET /docs/api/:group': 'free',
  'GET /docs/:name': 'free',
  'GET /docs/checks/:name': 'free',
  'GET /docs/symptoms/:name': 'free',
  'GET /docs/providers/:name': 'free',
  'GET /domain/:name': 'read',
  'GET /domain/:name/events': 'read',
  'GET /domain/:name/try': 'read',
  'POST /domain/:name/try': 'read',
  'POST /domain/:name/save': 'read',
  'GET /address/:email': 'verify',
  'POST /address/:email/save': 'verify',
  'GET /address/:email/events': 'verify',
  'GET /jobs': 'jobs',
  'POST /jobs': 'jobs',
  'POST /jobs/preview': 'jobs',
  'POST /jobs/upload': 'jobs',
  'GET /message': 'read',
  'POST /message': 'read',
  'POST /message/address': 'read',
  'GET /message/:id': 'read',
  'GET /message/:id/events': 'read',
  'GET /jobs/:id': 'jobs',
  'GET /jobs/:id/events': 'jobs',
  'POST /jobs/:id/pause': 'jobs',
  'POST /jobs/:id/resume': 'jobs',
  'POST /jobs/:id/cancel': 'jobs',
  'POST /jobs/:id/delete': 'jobs',
  'GET /reports': 'reports',
  'GET /reports/providers': 'reports',
  'POST /reports': 'reports',
  'POST /reports/:domain/senders': 'reports',
  'GET /reports/:domain': 'reports',
  'GET /reports/:domain/events': 'reports',
  'GET /accepted': 'jobs',
  'POST /accepted': 'jobs',
  'POST /accepted/:id/delete': 'jobs',
  'GET /monitors': 'jobs',
  'POST /monitors': 'jobs',
  'GET /monitors/digest': 'jobs',
  'POST /monitors/digest': 'jobs',
  'POST /monitors/import': 'jobs',
  'GET /monitors/:id': 'jobs',
  'POST /monitors/:id/change': 'jobs',
  'POST /monitors/:id/run': 'jobs',
  'POST /monitors/:id/test': 'jobs',
  'POST /monitors/:id/pause': 'jobs',
  'POST /monitors/:id/resume': 'jobs',
  'POST /monitors/:id/delete': 'jobs',
  'POST /r/:id/delete': 'read',
  'GET /sources': 'read',
  'GET /blacklists': 'read',
  'GET /nodes': 'admin',
  'GET /ip/:ip': 'read',
  'GET /ip/:ip/events': 'read',
  'GET /ip/:ip/names': 'read',
  'POST /ip/:ip/save': 'read',
}
const KEYS = [
  ...SCOPES.map((scope) => labKey(`key-of-${scope}`, [scope])),
  labKey('old-key-of-admin', ['admin'], { expires_at: '2026-01-01T00:00:00.000Z' }),
]
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const SAME = { 'sec-fetch-site': 'same-origin' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const cookieOf = (headers: Record<string, unknown>): string => String(headers['set-cookie']).split(';')[0]!
const tokenOf = (body: string): string => /name="_csrf" value="([\w-]+)"/.exec(body)![1]!

type App = Awaited<ReturnType<typeof labApp>>
async function logIn(app: App, key: string) {
  const first = await app.inject({ url: '/login', headers: HTML })
  const payload = `_csrf=${tokenOf(first.body)}&key=${key}&to=/ip/192.0.2.1`
  const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(first.headers) }
  return app.inject({ method: 'POST', url: '/login', headers, payload })
}
async function session(app: App, key: string): Promise<{ cookie: string; token: string }> {
  const cookie = cookieOf((await logIn(app, key)).headers)
  return { cookie, token: tokenOf((await app.inject({ url: '/', headers: { ...HTML, cookie } })).body) }
}

const locked = await appOf(labWorld(), { keys: () => KEYS })
const sessions = new Map(
  await Promise.all(SCOPES.map(async (scope) => [scope, await session(locked, `key-of-${scope}`)] as const)),
)

it('every page is in the table, and nothing else', () => {
  const routes = siteOf(labWorld()).pages.map(({ method, path }) => `${method} ${path}`)
  expect(routes.toSorted()).toEqual(Object.keys(REQUIRED).toSorted())
})

it('the reference of the API keeps the lines of its requests and answers', async () => {
  const app = await appOf(labWorld())
  const { body } = await app.inject({ url: '/docs/api/domains', headers: HTML })
  const samples = [...body.matchAll(/<pre[^>]* aria-label="Answer of [^>]*>([^<]*)<\/pre>/g)].map(([, text]) => text!)
  expect(samples.length).toBeGreaterThan(5)
  expect(samples.filter((text) => text.trim().split('\n').length < 3)).toEqual([])
})

/** Every method and path that the router of a service has; HEAD goes with GET. */
function routesOf(app: App): readonly string[] {
  const parts: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part, methods = ''] = /^((?:[│ ] {3})*)[├└]── (.+?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? []
      if (part === undefined) return []
      parts.splice(indent.length / 4, parts.length, part)
      return methods
        .split(', ')
        .flatMap((method) => (/^(?:HEAD)?$/.test(method) ? [] : [`${method} ${parts.join('')}`]))
    })
}

it('whatever the service has a route for is a page, a file, or in the table of scopes.test.ts', async () => {
  const metrics = async () => ({ contentType: 'text/plain', text: '' })
  const known = [
    ...Object.keys(REQUIRED),
    'GET /static/:name',
    ...operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    ...['GET /openapi.json', 'GET /metrics', 'POST /mcp'],
  ]
  const routes = routesOf(await appOf(labWorld(), { metrics }))
  expect(routes.filter((route) => !known.includes(route))).toEqual([])
  expect(known.filter((route) => !routes.includes(route))).toEqual([])
})

describe.each(Object.entries(REQUIRED))('%s', (route, required) => {
  // A parameter that no operation takes: what is let in does nothing.
  const [method, path] = route.split(' ') as ['GET' | 'POST', string]
  const url = path.replace(/:(\w+)/, (_, name) => (name === 'name' && path.startsWith('/docs') ? 'score' : 'x'))

  it.each([undefined, ...SCOPES])('key: %s', async (scope) => {
    const login = scope === undefined || path === '/logout' ? undefined : sessions.get(scope)
    const headers = { ...HTML, ...(method === 'POST' && FORM), ...SAME, ...(login && { cookie: login.cookie }) }
    const payload = method === 'POST' ? `_csrf=${login?.token ?? ''}` : undefined
    const {
      statusCode,
      body,
      headers: sent,
    } = await locked.inject({ method, url, headers, ...(payload && { payload }) })
    const isIn = required === 'free' || scope === required || scope === 'admin'
    if (isIn && method === 'GET') expect([401, 403]).not.toContain(statusCode)
    if (!isIn) expect(statusCode).toBe(scope === undefined && method === 'GET' ? 401 : scope === undefined ? 401 : 403)
    if (String(sent['content-type']).startsWith('text/html')) {
      expect(sent['content-security-policy']).toBe(PAGE_POLICY)
      expect(sent['cache-control']).toBe('private, no-store')
      expect(body).not.toMatch(/<script(?![^>]*\ssrc="\/static\/)|<style|\sstyle="|\son\w+="/)
    }
  })
})

describe.each(Object.entries(REQUIRED))('%s with a key in a header', (route, required) => {
  const [method, path] = route.split(' ') as ['GET' | 'POST', string]
  const url = path.replace(/:(\w+)/, (_, name) => (name === 'name' && path.startsWith('/docs') ? 'score' : 'x'))
  it.each(['nope', 'old-key-of-admin'])('%s', async (key) => {
    const headers = { ...HTML, ...(method === 'POST' && FORM), ...SAME, 'x-api-key': key }
    const { statusCode } = await locked.inject({ method, url, headers })
    if (required !== 'free') expect(statusCode).toBe(401)
    else if (method === 'GET') expect([401, 403]).not.toContain(statusCode)
    else expect(statusCode).toBe(403) // no token of a session
  })
})

describe('sessions', () => {
  const keys = () => KEYS

  it('a key begins a session of a new id; the page that was wanted follows', async () => {
    const app = await appOf(labWorld(), { keys })
    const before = cookieOf((await app.inject({ url: '/login', headers: HTML })).headers)
    const { statusCode, headers } = await logIn(app, 'key-of-read')
    expect([statusCode, headers.location]).toEqual([303, '/ip/192.0.2.1'])
    expect(cookieOf(headers)).not.toBe(before)
    expect(headers['set-cookie']).toMatch(/^mailsonde_session=[\w-]{22}; Path=\/; HttpOnly; SameSite=Strict$/)
  })

  it.each([
    ['origin', 'https://localhost', []],
    ['x-forwarded-proto', 'https', [cidr('127.0.0.1')]],
  ])('under HTTPS the cookie has the prefix __Host- (%s)', async (name, value, networks) => {
    const app = await appOf(labWorld(), { keys, trustedProxies: { networks, unix: false } })
    const { headers } = await app.inject({ url: '/login', headers: { ...HTML, [name]: value } })
    expect(headers['set-cookie']).toMatch(
      /^__Host-mailsonde_session=[\w-]{22}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
  })

  it('a wrong key is refused with words', async () => {
    const app = await appOf(labWorld(), { keys })
    const { statusCode, body } = await logIn(app, 'nope')
    expect([statusCode, body.includes('This key is unknown')]).toEqual([401, true])
  })

  it.each(['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)', '/a b'])(
    'leads nowhere else: %s',
    async (to) => {
      const app = await appOf(labWorld(), { keys })
      const first = await app.inject({ url: '/login', headers: HTML })
      const payload = new URLSearchParams({ _csrf: tokenOf(first.body), key: 'key-of-read', to }).toString()
      const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(first.headers) }
      expect((await app.inject({ method: 'POST', url: '/login', headers, payload })).headers.location).toBe('/')
    },
  )

  it('ends by logging out, and when the key is revoked', async () => {
    let inForce = KEYS
    const app = await appOf(labWorld(), { keys: () => inForce })
    const status = async (cookie: string) =>
      (await app.inject({ url: '/v1/peer/geo?ip=192.0.2.1', headers: { cookie } })).statusCode
    const one = await session(app, 'key-of-read')
    expect(await status(one.cookie)).toBe(200)
    const payload = `_csrf=${one.token}`
    const headers = { ...HTML, ...FORM, ...SAME, cookie: one.cookie }
    expect((await app.inject({ method: 'POST', url: '/logout', headers, payload })).statusCode).toBe(303)
    expect(await status(one.cookie)).toBe(401)
    const two = await session(app, 'key-of-read')
    inForce = KEYS.slice(1)
    expect(await status(two.cookie)).toBe(401)
  })

  it.each<[string, Record<string, string>, (token: string) => string, number]>([
    ['with its token', SAME, (token) => token, 303],
    ['without a token', SAME, () => '', 403],
    ['with another token', SAME, (token) => token.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')), 403],
    ['from another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, (token) => token, 403],
    ['from an address bar', { 'sec-fetch-site': 'none' }, (token) => token, 403],
    ['of a browser without Sec-Fetch-Site', { origin: 'http://localhost:80' }, (token) => token, 303],
    ['of such a browser, from another origin', { origin: 'http://evil.example' }, (token) => token, 403],
    ['that says neither', {}, (token) => token, 403],
  ])('a change %s', async (_, site, token, status) => {
    const app = await appOf(labWorld(), { keys })
    const own = await session(app, 'key-of-read')
    const headers = { ...HTML, ...FORM, host: 'localhost', ...site, cookie: own.cookie }
    const payload = `_csrf=${token(own.token)}`
    expect((await app.inject({ method: 'POST', url: '/logout', headers, payload })).statusCode).toBe(status)
  })

  it('a change of the API by a session needs the token, too; by a key it does not', async () => {
    const app = await appOf(labWorld(), { keys })
    const { cookie, token } = await session(app, 'key-of-admin')
    const post = async (headers: Record<string, string>) =>
      (await app.inject({ method: 'POST', url: '/v1/pool', headers, payload: {} })).statusCode
    expect(await post({ cookie, ...SAME })).toBe(403)
    expect(await post({ cookie, ...SAME, 'x-csrf-token': token })).toBe(200)
    expect(await post({ cookie, 'x-csrf-token': token })).toBe(403)
    expect(await post({ authorization: 'Bearer key-of-admin' })).toBe(200)
  })
})

describe('what people open', () => {
  it.each([
    ['/go?q=example.org', '/domain/example.org'],
    ['/go?q=%22Joe%22+%3Cjoe%40example.org%3E', '/address/joe@example.org'],
    ['/go?q=https%3A%2F%2Fwww.example.org%2Fx', '/domain/www.example.org'],
    ['/go?q=2001%3ADB8%3A%3A1', '/ip/2001:db8::1'],

    ['/go', '/'],
    ['/v1/check?domain=example.org', '/domain/example.org?only=check'],
    ['/v1/report?domain=example.org&selector=s1', '/domain/example.org?selector=s1'],
    ['/v1/verify?email=joe%2Bx@example.org', '/address/joe%2Bx@example.org'],
    ['/v1/blacklist?ip=192.0.2.1', '/ip/192.0.2.1'],
    ['/v1/check?domain=..%2F..%2Fx', '/domain/..%2F..%2Fx?only=check'],
  ])('%s leads to %s', async (url, to) => {
    const { statusCode, headers } = await (await appOf()).inject({ url, headers: HTML })
    expect([statusCode, headers.location]).toEqual([303, to])
  })

  it('an explicit format wins over Accept, and a program gets JSON', async () => {
    const app = await appOf(labWorld({ 'a.example': { A: ['192.0.2.1'] } }))
    for (const [url, accept] of [
      ['/v1/check?domain=a.example&format=json', HTML.accept],
      ['/v1/check?domain=a.example', '*/*'],
      ['/v1/check?domain=a.example', 'application/json, text/html;q=0.9'],
    ] as const) {
      const { headers } = await app.inject({ url, headers: { accept } })
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
    }
  })

  it.each<[string, Record<string, string>, number]>([
    ['/', { host: 'rebound.example' }, 403],
    ['/docs', { host: 'rebound.example' }, 403],
    ['/nowhere', { host: 'rebound.example' }, 403],
    ['/', { host: 'localhost', origin: 'https://a.example' }, 403],
    ['/', { host: 'sonde.example' }, 200],
    ['/', { host: 'localhost:8080', origin: 'http://localhost:8080' }, 200],
  ])('while no key is in force, the page %s with %j is %s', async (url, headers, status) => {
    const app = await appOf(labWorld(), { hostNames: ['sonde.example'] })
    expect((await app.inject({ url, headers: { ...HTML, ...headers } })).statusCode).toBe(status)
  })

  it('a link of another site asks nothing', async () => {
    const world = labWorld({ 'a.example': { A: ['192.0.2.1'] } })
    const app = await appOf(world)
    const link = { ...HTML, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    for (const url of ['/domain/a.example?wait=true', '/ip/192.0.2.1?wait=true', '/address/joe@a.example?wait=true']) {
      const { statusCode, body } = await app.inject({ url, headers: link })
      expect([statusCode, body.includes('Nothing has been queried yet')]).toEqual([200, true])
    }
    expect(world.asked).toEqual([])
    const events = { ...link, accept: 'text/event-stream', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
    expect((await app.inject({ url: '/domain/a.example/events', headers: events })).statusCode).toBe(403)
  })

  it.each(Object.keys(REQUIRED).filter((route) => route.startsWith('GET ')))(
    'a link of another site to %s asks nothing',
    async (route) => {
      const world = labWorld({ 'a.example': { A: ['192.0.2.1'] } })
      const ask = async ({ resolve, signal }: Pick<Ctx, 'resolve' | 'signal'>): Promise<never> => {
        await resolve('asked.example', 'A', signal)
        throw new AppError('not_found', labProblem('asked'))
      }
      const reports = { ...labReports, senders: ask, summary: ask, stored: async () => 1 }
      const app = await appOf(world, { site: siteOf(world, { reports: async () => reports }) })
      const named = route
        .slice(4)
        .replace(':email', 'joe@a.example')
        .replace(':ip', '192.0.2.1')
        .replace(/:(?:name|domain)/, 'a.example')
        .replace(/:\w+/, 'x')
      const link = {
        ...HTML,
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      }
      for (const url of [named, `${named}?wait=true`, `${named}?q=a.example`]) await app.inject({ url, headers: link })
      expect(world.asked).toEqual([])
    },
  )

  describe.each(['/domain/a.example', '/address/joe@a.example', '/ip/192.0.2.1'])('the event stream of %s', (path) => {
    it.each(['cross-site', 'same-site', 'none', 'same-origin, cross-site'])('starts nothing for %s', async (site) => {
      const world = labWorld({ 'a.example': { A: ['192.0.2.1'] } })
      const app = await appOf(world)
      for (const headers of [
        { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
        { 'sec-fetch-site': site, accept: 'text/event-stream' },
      ])
        expect((await app.inject({ url: `${path}/events`, headers })).statusCode).toBe(403)
      expect(world.asked).toEqual([])
    })

    it('starts nothing for a browser that does not say which site asks, without a token of its page', async () => {
      const world = labWorld({ 'a.example': { A: ['192.0.2.1'] } })
      const app = await appOf(world)
      const status = async (query: string) => (await app.inject({ url: `${path}/events${query}` })).statusCode
      expect([await status(''), await status('?token=AAAAAAAAAAAAAAAAAAAAAA')]).toEqual([403, 403])
      expect(world.asked).toEqual([])
    })
  })

  it.each<[string, string, number, string]>([
    ['a page that is not there', '/nowhere', 404, 'Not found'],
    ['a document that is not there', '/docs/nowhere', 404, 'Not found'],
    ['what is no domain', '/domain/x', 400, 'Not a domain name'],
    ['what the box does not understand', '/go?q=not+a+domain', 400, 'Not understood'],
    ['several addresses in the box', '/go?q=a%40a.example,+b%40b.example', 200, 'a@a.example\nb@b.example</textarea>'],
    ['an address with two @', '/go?q=joe%40%40x.example', 400, 'Not understood'],
    ['markup for a domain', '/domain/%3Cimg%20src=x%20onerror=alert(1)%3E', 400, '&lt;img'],
  ])('%s is a page', async (_, url, status, words) => {
    const { statusCode, body, headers } = await (await appOf()).inject({ url, headers: HTML })
    expect([statusCode, body.includes(words), body.includes('<img')]).toEqual([status, true, false])
    expect(headers['content-security-policy']).toBe(PAGE_POLICY)
  })

  it.each(['/domain/a.example?only=check', '/ip/192.0.2.1'])(
    'a token of the page %s starts one question, and reconnects to that',
    async (path) => {
      let nowMs = Date.UTC(2026, 0, 2)
      const world = labWorld({ 'a.example': { A: ['192.0.2.1'] } }, { now: () => nowMs })
      const app = await appOf(world)
      const shown = await app.inject({ url: path, headers: HTML })
      const url = /data-live="([^"]+)"/.exec(shown.body)![1]!.replaceAll('&amp;', '&')
      expect(url).toContain('token=')
      const other = url.replace('a.example', 'b.example').replace('192.0.2.1', '192.0.2.2')
      expect((await app.inject({ url: other })).statusCode).toBe(403)
      const first = await app.inject({ url })
      expect([first.statusCode, first.body.includes('event: answer')]).toEqual([200, true])
      expect((await app.inject({ url })).body).toContain('event: answer')
      nowMs += 61_000 // the answer is not kept any more
      expect((await app.inject({ url })).statusCode).toBe(403)
    },
  )

  it.each<[string, Parameters<typeof labApp>[1], string, number, string]>([
    ['while the service stops', { draining: () => true }, '/domain/a.example', 503, 'The service is stopping'],
    ['when nothing more is taken', { maxConcurrency: 0 }, '/domain/a.example', 503, 'The service is busy'],
    ['over the rate', { ratePerMinute: 1 }, '/', 429, 'Too many requests'],
    ['without a key', { keys: () => KEYS }, '/domain/a.example', 401, 'Log in to continue'],
  ])('%s it says what works', async (_, options, url, status, words) => {
    const app = await appOf(labWorld(), options)
    await app.inject({ url: '/', headers: HTML })
    const { statusCode, body } = await app.inject({ url, headers: HTML })
    expect([statusCode, body.includes(words)]).toEqual([status, true])
  })

  it('a page waits for the whole where it is told to, and is shown again without being asked anew', async () => {
    const world = labWorld({ 'a.example': { A: ['192.0.2.1'], TXT: ['v=spf1 -all'] } })
    const app = await appOf(world)
    const whole = await app.inject({ url: '/domain/a.example?only=check&wait=true', headers: HTML })
    expect(whole.body).toContain('id="try"')
    const asked = world.asked.length
    const again = await app.inject({ url: '/domain/a.example?only=check', headers: HTML })
    expect([again.body.includes('id="try"'), world.asked.length]).toEqual([true, asked])
  })

  it('the events of a page end with its whole content', async () => {
    const app = await appOf(labWorld({ 'a.example': { A: ['192.0.2.1'], TXT: ['v=spf1 -all <marquee>'] } }))
    const { body } = await app.inject({ url: '/domain/a.example/events?only=check', headers: SAME })
    const events = body.split('\n\n').filter((one) => one.startsWith('event: '))
    expect(events.filter((one) => one.startsWith('event: part')).length).toBe(13)
    expect(events.at(-1)).toMatch(/^event: answer\ndata: {"html":/)
    expect(body).not.toContain('<marquee>')
  })
})

it('a record is tried: before and after side by side, who may pass, without script', async () => {
  const app = await appOf(
    labWorld({
      'a.example': { A: ['45.53.1.1'], MX: [[10, 'a.example']], TXT: ['v=spf1 ip4:45.53.1.1 ip4:45.53.2.0/24 ?all'] },
    }),
  )
  const first = await app.inject({ url: '/domain/a.example?only=check&wait=true', headers: HTML })
  const payload = new URLSearchParams({
    _csrf: tokenOf(first.body),
    name: 'a.example',
    type: 'TXT',
    value: 'v=spf1 ip4:45.53.1.1\r\n -all',
  }).toString()
  const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(first.headers) }
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/domain/a.example/try', headers, payload })
  expect([statusCode, body.includes('Who may send (SPF)')]).toEqual([200, true])
  expect(body).toContain('<code>ip4:45.53.2.0/24</code>')
  expect(body).toContain('257 IPv4 addresses')
  expect(body).toContain('>v=spf1 ip4:45.53.1.1 -all')
})

it('a record that cannot be tried: why, above what was typed', async () => {
  const app = await appOf(labWorld({ 'a.example': { A: ['192.0.2.1'] } }))
  const first = await app.inject({ url: '/domain/a.example?only=check&wait=true', headers: HTML })
  const fields = { name: 'not a name', type: 'TXT', value: 'v=spf1 "<b>' }
  const payload = new URLSearchParams({ _csrf: tokenOf(first.body), ...fields }).toString()
  const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(first.headers) }
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/domain/a.example/try', headers, payload })
  expect([statusCode, body.includes('role="alert">Not tried: &quot;not a name&quot;')]).toEqual([400, true])
  expect(body).toContain('>\nv=spf1 &quot;&lt;b&gt;</textarea>')
})

it.each([
  ['/address/joe@@a.example', 'is not an e-mail address'],
  ['/address/joe@@x', 'is not an e-mail address'],
  ['/ip/10.0.0.1', 'Not a public address'],
  ['/ip/fd00::1', 'Not a public address'],
])(
  '%s: what nobody can be asked about is told in a sentence, and is neither asked again, kept nor watched',
  async (path, words) => {
    const app = await appOf()
    const pages = await Promise.all(['', '?wait=true'].map((query) => app.inject({ url: path + query, headers: HTML })))
    for (const { body } of pages)
      for (const offer of ['Check again', 'Make a link', 'Watch']) expect(body).not.toContain(offer)
    expect(pages[1]!.body).toContain(words)
    expect(pages[1]!.body).not.toMatch(/class="grid|not asked|lists? answered/)
  },
)

describe('an answer is stored from its page', () => {
  const world = labWorld({ 'a.example': { A: ['192.0.2.1'], TXT: ['v=spf1 -all'] } })
  const kept: unknown[] = []
  const stored: Stored = {
    ...labStored,
    save: async (what, owner) => {
      kept.push([what.kind, what.subject, Math.round(what.expiresInMs / 86_400_000)])
      return labStored.save(what, owner)
    },
  }
  it.each([
    ['/domain/a.example?only=check', 'expires_in=7d', ['check', 'a.example', 7]],
    ['/ip/45.53.1.1', '', ['blacklist', '45.53.1.1', 90]],
    ['/address/joe@missing.example', 'expires_in=365d', ['verify', 'joe@missing.example', 365]],
  ])('%s', async (path, field, wanted) => {
    const app = await appOf(world, { site: siteOf(world, { stored: async () => stored }) })
    const [pathname, query = ''] = path.split('?')
    const shown = await app.inject({ url: `${pathname}?${query}&wait=true`, headers: HTML })
    const action = /action="([^"]*\/save[^"]*)"/.exec(shown.body)![1]!
    const payload = `_csrf=${tokenOf(shown.body)}&${field}`
    const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(shown.headers) }
    const { statusCode, headers: sent } = await app.inject({ method: 'POST', url: action, headers, payload })
    expect([statusCode, sent.location]).toEqual([303, '/r/AAAAAAAAAAAAAAAAAAAAAA'])
    expect(kept.pop()).toEqual(wanted)
  })
})

it('an address on its page: its names and whether they lead back', async () => {
  const world = labWorld({
    '1.2.0.192.in-addr.arpa': { PTR: ['mx.a.example', 'other.<b>.example'] },
    'mx.a.example': { A: ['192.0.2.1'] },
  })
  const { body } = await (await appOf(world)).inject({ url: '/ip/192.0.2.1?wait=true', headers: HTML })
  expect(body).toMatch(/<code>mx\.a\.example<\/code> <span class="mark good">.{0,50} resolves back to it/)
  expect(body).toMatch(/other\.&lt;b&gt;\.example<\/code> <span class="mark warn">.{0,50} has no address/)
  expect(body).toContain('Not a public address')
})

it('an address whose names come late: its page does not wait for them, and fetches them later', async () => {
  const { resolve } = labDns({
    '1.2.0.192.in-addr.arpa': { PTR: ['mx.a.example'] },
    'mx.a.example': { A: ['192.0.2.1'] },
  })
  const late: typeof resolve = async (...question) => {
    if (question[1] === 'PTR') await wait(700)
    return resolve(...question)
  }
  const app = await appOf(labWorld({}, { resolve: late }))
  const page = await app.inject({ url: '/ip/192.0.2.1?wait=true', headers: HTML })
  expect(page.body).toContain('unknown: no answer within 0.5 s')
  const [, later = ''] = /data-later="([^"]+)"/.exec(page.body) ?? []
  expect(later).toBe('/ip/192.0.2.1/names')
  const { body } = await app.inject({ url: later, headers: { ...HTML, ...SAME } })
  expect(body).toMatch(/^<dl>.*<code>mx\.a\.example<\/code>/)
  const foreign = await app.inject({
    url: later,
    headers: { ...HTML, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  })
  expect(foreign.statusCode).toBe(403)
})

describe('a list as it is read', () => {
  it('is sent back as it was pasted: every line, of any length', async () => {
    const app = await appOf()
    const first = await app.inject({ url: '/', headers: HTML })
    const text = `\nwho,mail\n${'"Ann, <b>",ann@a.example\n'.repeat(1_000)}`
    const payload = new URLSearchParams({ _csrf: tokenOf(first.body), kind: 'auto', text }).toString()
    const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(first.headers) }
    const { body } = await app.inject({ method: 'POST', url: '/jobs/preview', headers, payload })
    const shown = /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(body)![1]!
    expect(shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"')).toBe(text)
  })

  it.each([
    ['name,who\nAnn,ann@a.example\n', 'rows are mail addresses', 'verify'],
    ['a.example\nb.example\n', 'rows are domains', 'check'],
    ['192.0.2.1\n2001:db8::1\n', 'rows are IP addresses', 'blacklist'],
  ])('%j', async (text, words, kind) => {
    const app = await appOf()
    const first = await app.inject({ url: '/', headers: HTML })
    const payload = new URLSearchParams({ _csrf: tokenOf(first.body), kind: 'auto', text }).toString()
    const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(first.headers) }
    const { body } = await app.inject({ method: 'POST', url: '/jobs/preview', headers, payload })
    expect(body).toContain(`<td><code>${text.split(/[\n,]/).at(text.includes(',') ? 2 : 0)}</code></td>`)
    expect([body.includes(words), body.includes(`<option value="${kind}" selected>`)]).toEqual([true, true])
  })
})

describe('a list as a file', () => {
  const CRLF = 'Straße;E-Mail\r\nMühlweg;a@a.example\r\nx;b@a.example\r\n'
  it.each<[string, Uint8Array, 'cut'?]>([
    ['in Windows-1252', Buffer.from(CRLF, 'latin1')],
    ['in UTF-16', Buffer.from(`\ufeff${CRLF}`, 'utf16le')],
    ['in gzip', gzipSync(CRLF)],
    ['of which the beginning is sent', Buffer.from(`${CRLF}Haus;c@a.exa`), 'cut'],
  ])('%s is previewed as it is read', async (_, octets, partial) => {
    const app = await appOf()
    const first = await app.inject({ url: '/', headers: HTML })
    const form = new FormData()
    form.set('kind', 'auto')
    if (partial) form.set('partial', partial)
    form.set('file', new File([new Uint8Array(octets)], 'a.csv'))
    const sent = new Response(form)
    const { body } = await app.inject({
      ...{ method: 'POST', url: `/jobs/upload?_csrf=${tokenOf(first.body)}`, payload: Buffer.from(await sent.bytes()) },
      headers: {
        ...{ ...HTML, ...SAME, cookie: cookieOf(first.headers) },
        'content-type': sent.headers.get('content-type')!,
      },
    })
    for (const word of ['Straße', 'Mühlweg', 'a@a.example', 'b@a.example']) expect(body).toContain(word)
    expect(body).not.toMatch(/cannot be read|c@a/)
  })
})

describe('monitors', () => {
  const world = labWorld({ 'hooks.example': { A: ['45.53.1.1'] } })
  const asked: unknown[] = []
  const open = async (over: Partial<MonitorService> = {}, about: Partial<MonitorAnswer> = {}) => {
    const show = async () => ({ ...(await labMonitors.show('', { id: '', isAdmin: true })), ...about })
    const service: MonitorService = {
      ...labMonitors,
      show,
      create: async (input) => {
        asked.push(input)
        return show()
      },
      change: async (_, patch) => {
        asked.push(patch)
        return show()
      },
      ...over,
    }
    const app = await appOf(world, { site: siteOf(world, { monitors: async () => service }) })
    const first = await app.inject({ url: '/monitors', headers: HTML })
    const headers = { ...HTML, ...FORM, ...SAME, cookie: cookieOf(first.headers) }
    const post = (url: string, fields: Record<string, string> = {}) => {
      const payload = new URLSearchParams({ _csrf: tokenOf(first.body), ...fields }).toString()
      return app.inject({ method: 'POST', url, headers, payload })
    }
    return { get: (url: string) => app.inject({ url, headers: HTML }), post }
  }
  const PATH = '/monitors/mon_AAAAAAAAAAAAAAAAAAAAAA'
  const CREATE = { kind: 'report', target: 'example.org', every: '6h' }

  it('the form makes one as the API does, and tries its receivers', async () => {
    const { post } = await open({}, { notify: [{ type: 'mail', to: 'a@b.example' }] })
    const fields = { ...CREATE, changed: 'true', listed: 'true', score_below: '80', mail: 'a@b.example', name: '' }
    const { statusCode, body } = await post('/monitors', { ...fields, webhook: 'https://hooks.example/x' })
    expect([statusCode, body.includes('Test messages')]).toEqual([201, true])
    expect(asked.pop()).toMatchObject({
      everyMs: 21_600_000,
      when: ['changed', 'listed', 'score_below:80'],
      notify: [
        { type: 'mail', to: 'a@b.example' },
        { type: 'webhook', url: 'https://hooks.example/x' },
      ],
    })
  })

  it.each([
    ['example.org', 'report'],
    ['joe@example.org', 'verify'],
    ['192.0.2.1', 'blacklist'],
  ])('a target is enough: %s is a %s, without receivers', async (target, kind) => {
    const { post } = await open({}, { notify: [] })
    const { statusCode, headers } = await post('/monitors', { kind: '', target, changed: 'true' })
    expect([statusCode, headers.location]).toEqual([303, PATH])
    expect(asked.pop()).toMatchObject({ kind, target, notify: [] })
  })

  it('a finding is accepted by a form, which says beside a field what was wrong', async () => {
    const { get, post } = await open()
    expect((await get('/accepted?finding=dmarc.policy_none&domain=a.example')).body).toMatch(
      /name="finding" value="dmarc.policy_none".*name="domain" value="a.example"/s,
    )
    const fields = { finding: 'dmarc.policy_none', domain: 'a.example', label: '', reason: '"<b>', until: '', by: '' }
    expect((await post('/accepted', fields)).headers.location).toBe('/accepted')
    const nothing = await post('/accepted', { ...fields, finding: 'dmarc.nothing' })
    expect([nothing.statusCode, nothing.body]).toEqual([400, expect.stringContaining('value="&quot;&lt;b&gt;"')])
    expect(nothing.body).toMatch(/value="dmarc.nothing"[^>]*aria-invalid="true"[^>]*><span class="problem"/)
    const endless = await post('/accepted', { ...fields, finding: 'spf.plus_all' })
    expect(endless.body).toMatch(/name="until" value=""[^>]*aria-invalid="true"/)
    expect((await post('/accepted/acc_AAAAAAAAAAAAAAAAAAAAAA/delete')).headers.location).toBe('/accepted')
  })

  it('mail is not offered by a service that sends none', async () => {
    const site = openSite({
      ...{ operations, world, version: '0.0.0', canMail: false },
      execute: labExecutor(world, labDeps(world, { monitors: async () => labMonitors })),
    })
    const { body } = await (await appOf(world, { site })).inject({ url: '/monitors', headers: HTML })
    expect([body.includes('name="mail"'), body.includes('--smtp-url')]).toEqual([false, true])
  })

  it('selectors, quiet hours and the badge go with it', async () => {
    const { post } = await open()
    const quiet = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' }
    await post('/monitors', { ...CREATE, ...quiet, selector: 's1, s2', public: 'true' })
    expect(asked.pop()).toMatchObject({ options: { selector: 's1, s2' }, quiet, isPublic: true })
  })

  it('a link fills the form in, and nothing is made', async () => {
    const { get } = await open()
    const { body } = await get('/monitors?kind=verify&target=%22joe%40example.org')
    expect(body).toContain('<option value="verify" selected>')
    expect(body).toContain('value="&quot;joe@example.org"')
    expect(asked).toEqual([])
  })

  it.each<[string, Record<string, string>, object]>([
    ['whom it tells stays', { mail: 'a@b.example' }, { name: 'x', when: ['listed'], quiet: null, isPublic: false }],
    [
      'whom it tells is replaced',
      { notify: 'replace', mail: 'a@b.example' },
      { notify: [{ type: 'mail', to: 'a@b.example' }] },
    ],
    ['nobody is told any more', { notify: 'replace' }, { notify: [] }],
    ['how often', { every: '6h' }, { everyMs: 21_600_000 }],
  ])('is changed: %s', async (_, fields, patch) => {
    const { post } = await open()
    const { statusCode, headers } = await post(`${PATH}/change`, { name: ' x ', listed: 'true', ...fields })
    expect([statusCode, headers.location]).toEqual([303, `${PATH}?asked=change`])
    const given = asked.pop()
    expect(given).toMatchObject(patch)
    if (fields.notify === undefined) expect(given).not.toHaveProperty('notify')
  })

  it('a change that is refused is said above what was typed', async () => {
    const { post } = await open()
    const { statusCode, body } = await post(`${PATH}/change`, { name: 'ours "<b>', from: '25:00', to: '07:00' })
    expect([statusCode, body.includes('role="alert"')]).toEqual([400, true])
    expect(body).toContain('value="ours &quot;&lt;b&gt;"')
    expect(asked).toEqual([])
  })

  it.each<[string, Record<string, string>, string]>([
    ['target', { target: '<img src=x>' }, '&lt;img src=x&gt;'],
    ['webhook', { webhook: 'https://127.0.0.1/' }, 'private or reserved'],
    ['score_below', { score_below: '101' }, 'score_below:N'],
  ])('a %s that is refused is said beside its field', async (name, fields, words) => {
    const { post } = await open()
    const { statusCode, body } = await post('/monitors', { ...CREATE, name: 'ours "<b>', ...fields })
    expect([statusCode, body.includes('role="alert"'), body.includes(words)]).toEqual([400, true, true])
    expect(body).toMatch(new RegExp(`name="${name}"[^>]* aria-invalid="true" aria-describedby="problem"`))
    expect(body).toContain('value="ours &quot;&lt;b&gt;"')
    expect(body).not.toContain('<img')
    expect(asked).toEqual([])
  })

  it('the secret of a webhook is shown once', async () => {
    const notify = [{ type: 'webhook', url: 'https://hooks.example/', id: 'wh_x', secret: 'whsec_shown' }] as const
    const { post } = await open({}, { notify: [...notify] })
    const { statusCode, body } = await post('/monitors', { ...CREATE, webhook: 'https://hooks.example/' })
    expect([statusCode, body.includes('whsec_shown')]).toEqual([201, true])
    asked.pop()
  })

  it.each([
    ['run', `${PATH}?asked=run`],
    ['pause', PATH],
    ['resume', PATH],
    ['delete', '/monitors'],
  ])('%s', async (action, to) => {
    const { post } = await open()
    const { statusCode, headers } = await post(`${PATH}/${action}`)
    expect([statusCode, headers.location]).toEqual([303, to])
    const patch = asked.pop()
    if (action === 'pause' || action === 'resume') expect(patch).toEqual({ enabled: action === 'resume' })
  })

  it('run twice in a minute is said in words', async () => {
    const run = () => Promise.reject(new AppError('rate_limited', labProblem('a monitor runs at most once a minute')))
    const { post, get } = await open({ run })
    const to = String((await post(`${PATH}/run`)).headers.location)
    expect((await get(to)).body).toContain('at most once a minute')
  })

  it('a test message: who took it', async () => {
    const sent = [{ type: 'webhook', to: 'https://hooks.example/', ok: false, reason: '<script>' }] as const
    const { post } = await open({ test: async () => ({ sent: [...sent] }) })
    const { body } = await post(`${PATH}/test`)
    expect(body).toContain('could not be sent')
    expect(body).toContain('&lt;script&gt;')
  })

  it('shows what changed, who is told and the runs over time; outside text runs nothing', async () => {
    const evil = '<img src=x onerror=alert(1)>'
    const time = (day: number) => `2026-01-0${day}T03:04:05.000Z`
    const { get } = await open(
      {
        history: async () => [
          { time: time(1), status: 'pass', score: 97, listed: 0 },
          { time: time(2), status: 'unknown', score: null, listed: null, reason: evil },
          { time: time(3), status: 'fail', score: 60, listed: 2 },
          { time: time(4), status: 'fail', score: 60, listed: 2 },
        ],
        changes: async () => [{ time: time(3), lines: [`SPF: ${evil}`], changes: [] }],
      },
      { name: evil, target: evil, options: { selector: evil }, notify: [{ type: 'ntfy', url: evil }] },
    )
    const page = (await get(PATH)).body
    for (const words of [
      'Score, of 100',
      '<polyline',
      'could not be determined',
      'Notifications',
      '2026-01-03 03:04 UTC',
    ])
      expect(page).toContain(words)
    const list = (await get('/monitors')).body
    for (const body of [page, list]) expect(body).not.toMatch(/<(?:img|script(?! type="module" src="\/static))/)
  })

  it('the filters of the URL stand in the form, escaped', async () => {
    const { get } = await open()
    const list = (await get('/monitors?q=%3Cb%3E&label=x')).body
    expect(list).toContain('value="&lt;b&gt;"')
    expect(list).not.toContain('<b>')
  })

  it('the paths of the API lead a browser here, and the links lead on to JSON and lists', async () => {
    const { get } = await open()
    for (const path of ['/monitors', PATH]) {
      expect((await get(`/v1${path}`)).headers.location).toBe(path)
      for (const [, link] of (await get(path)).body.matchAll(/href="(\/v1[^"]*)"/g))
        expect((await get(link!.replaceAll('&amp;', '&'))).headers['content-type'], link).toMatch(
          /^application\/json|^text\/csv|ndjson$/,
        )
    }
  })
})

describe('a stored answer', () => {
  const world = labWorld()
  const ID = 'AAAAAAAAAAAAAAAAAAAAAA'
  const removed: string[] = []
  const read: unknown[] = []
  const stored: Stored = {
    ...labStored,
    read: async (id, reader) => {
      read.push(reader)
      if (id !== ID) throw new AppError('gone', labProblem('the answer has expired'))
      return { ...(await labStored.read(id, reader)), domain_unicode: '<img src=x onerror=alert(1)>' }
    },
    // It belongs to the key `read`.
    history: async (name, value, page, owner) =>
      owner.id === 'id-of-key-of-read' ? labStored.history(name, value, page, owner) : [],
    remove: async (id, owner) => {
      removed.push(`${id} by ${owner.id}`)
      return labStored.remove(id, owner)
    },
  }
  const parts = { stored: async () => stored }
  const open = (keys: readonly ApiKey[]) =>
    appOf(world, { keys: () => keys, site: siteOf(world, parts), deps: labDeps(world, parts) })

  it.each<[string, Scope | undefined, boolean]>([
    ['nobody', undefined, false],
    ['who stored it', 'read', true],
    ['another key', 'verify', false],
    ['an admin', 'admin', true],
  ])('is read by everybody, and removed by who stored it: %s', async (_, scope, mayDelete) => {
    const app = await open(KEYS)
    const login = scope && (await session(app, `key-of-${scope}`))
    const { statusCode, body, headers } = await app.inject({
      url: `/r/${ID}`,
      headers: { ...HTML, ...(login && { cookie: login.cookie }) },
    })
    expect([statusCode, headers['x-robots-tag'], headers['cache-control'], headers['content-security-policy']]).toEqual(
      [200, 'noindex, nofollow', 'private, no-store', PAGE_POLICY],
    )
    expect(body).toMatch(/Stored answer of <time datetime="2026-01-02T03:04:[^>]*>2026-01-02 03:04 UTC</)
    expect(body).toContain('href="/domain/neglected.test?only=check">Check again</a>')
    expect(body).not.toContain('<img')
    expect(body.includes(`action="/r/${ID}/delete"`)).toBe(mayDelete)
    // Mailboxes are masked for a reader who is not named.
    expect(read.at(-1)).toEqual(scope && { id: `id-of-key-of-${scope}`, isAdmin: scope === 'admin' })
  })

  it('is removed by a form, with its token alone', async () => {
    const app = await open(KEYS)
    const { cookie, token } = await session(app, 'key-of-read')
    const post = (payload: string) =>
      app.inject({
        method: 'POST',
        url: `/r/${ID}/delete`,
        headers: { ...HTML, ...FORM, ...SAME, cookie },
        payload,
      })
    expect([(await post('')).statusCode, removed]).toEqual([403, []])
    expect((await post(`_csrf=${token}`)).headers.location).toBe('/')
    expect(removed).toEqual([`${ID} by id-of-key-of-read`])
  })

  it.each([
    ['?format=html', HTML.accept, 'text/html; charset=utf-8', '<style>'],
    ['?format=json', HTML.accept, 'application/json; charset=utf-8', '"saved_at"'],
    ['', '*/*', 'application/json; charset=utf-8', '"saved_at"'],
    ['', 'text/markdown', 'text/markdown; charset=utf-8', 'Stored answer of'],
  ])('%s with Accept: %s stays by itself', async (query, accept, type, words) => {
    const { headers, body } = await (await open([])).inject({ url: `/r/${ID}${query}`, headers: { accept } })
    expect([headers['content-type'], body.includes(words)]).toEqual([type, true])
  })

  it.each([
    [`/r/${ID.replace(/^A/, 'B')}`, 410],
    ['/r/x', 404],
    [`/r/${ID}?x=1`, 400],
  ])('%s is a page that says why not', async (url, status) => {
    const { statusCode, body } = await (await open([])).inject({ url, headers: HTML })
    expect([statusCode, body.includes('class="refusal"')]).toEqual([status, true])
  })
})

it.each<[string, readonly string[]]>([
  ['softfail', ['/docs/checks/spf']],
  ['webhook secret rotate', ['/docs/webhooks#replace-the-secret']],
  ['<imgx src=xyzzyq>', ['No document has this']],
])('a search of the documents for %s', async (query, words) => {
  const { body } = await (await appOf()).inject({ url: `/docs?q=${encodeURIComponent(query)}`, headers: HTML })
  for (const one of words) expect(body).toContain(one)
  expect(body).not.toContain('<img src=x>')
})

it('the page of a domain is asked anew when reports have come in, and on demand', async () => {
  const world = labWorld({ 'a.example': { A: ['192.0.2.1'] } })
  const run = labExecutor(world, labDeps(world))
  let asked = 0
  let stored = 0
  const counted: typeof run = Object.assign((...args: Parameters<typeof run>) => {
    if (args[0].name === 'check') asked++
    return run(...args)
  }, run)
  const site = openSite({ operations, world, version: '0', execute: counted, storedReports: async () => stored })
  const app = await labApp(world, { site })
  const visit = (query = '') =>
    app.inject({ url: `/domain/a.example?only=check&wait=true${query}`, headers: { ...HTML, ...SAME } })
  const after = async (query?: string): Promise<number> => (await visit(query)) && asked
  expect([await after(), await after()]).toEqual([1, 1])
  stored++
  expect([await after(), await after()]).toEqual([2, 2])
  expect((await visit('&again=true')).headers.location).toBe('/domain/a.example?only=check')
  expect(await after()).toBe(3)
})

describe('weight', () => {
  it('all script together has at most 15 kB', () => {
    const sizes = Object.values(readIslands()).map((text) => Buffer.byteLength(text))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(15_000)
  })

  it.each(['/', '/docs', '/docs/operations', '/domain/a.example', '/login'])(
    '%s has at most 80 kB at its first load, with its typefaces',
    async (url) => {
      const app = await appOf(labWorld({ 'a.example': { A: ['192.0.2.1'] } }))
      const { body } = await app.inject({ url, headers: HTML })
      const load = async (paths: Iterable<string | undefined>) =>
        Promise.all([...new Set(paths)].map(async (url = '') => (await app.inject({ url })).rawPayload))
      const files = await load(
        Array.from(body.matchAll(/(?:src|href)="(\/static\/[^"]+(?<!woff2))"/g), ([, path]) => path),
      )
      const fonts = await load(Array.from(files.join('').matchAll(/url\("([^"]+)"\)/g), ([, path]) => path))
      expect(fonts.length).toBe(body === '' ? 0 : 3) // /login leads to the start page
      const sizes = [Buffer.from(body), ...files].map((octets) => brotliCompressSync(octets).length)
      const bytes = [...sizes, ...fonts.map(({ length }) => length)]
      expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(80_000)
    },
  )
})

it.each([
  ['/docs/nothing', 404, 'See <a href="/docs">all documents</a>'],
  ['/docs/checks/nothing', 404, 'See <a href="/docs">all documents</a>'],
  ['/docs/nothing/at/all', 404, '<a href="/docs/errors#not_found">'],
  ['/monitors?sort=zz', 400, 'sort: &quot;zz&quot; is not one of'],
])('%s: a page that leads on', async (url, status, words) => {
  const { statusCode, body } = await (await appOf()).inject({ url, headers: { ...HTML, ...SAME } })
  expect(statusCode).toBe(status)
  expect(body).toContain(words)
})
