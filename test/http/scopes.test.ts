import { describe, expect, it } from 'vitest'
import { allOperations } from '../../src/operations/registry.ts'
import { SCOPES, type Scope } from '../../src/store/key-file.ts'
import { labApp, labKey } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'

/**
 * Who may reach what while keys are in force: every path × no key, a wrong key, an expired key and a key of each scope.
 * Written out here, so that an operation that is added, or whose scope changes, fails until somebody has thought about
 * it. `free`: no key is asked for; `open`: none is needed, and one that is shown must be in force.
 */
const REQUIRED: Readonly<Record<string, Scope | 'free' | 'open'>> = {
  'GET /v1/health': 'free',
  'GET /v1/ready': 'free',
  'GET /openapi.json': 'free',
  'GET /metrics': 'read',
  'POST /mcp': 'read',
  'POST /v1/monitors': 'jobs',
  'GET /v1/monitors': 'jobs',
  'GET /v1/monitors/summary': 'jobs',
  'GET /v1/monitors/digest': 'jobs',
  'PUT /v1/monitors/digest': 'jobs',
  'POST /v1/monitors/import': 'jobs',
  'PATCH /v1/monitors': 'jobs',
  'POST /v1/monitors/pause': 'jobs',
  'POST /v1/monitors/resume': 'jobs',
  'POST /v1/monitors/run': 'jobs',
  'GET /v1/monitors/{id}': 'jobs',
  'PATCH /v1/monitors/{id}': 'jobs',
  'POST /v1/monitors/{id}/pause': 'jobs',
  'POST /v1/monitors/{id}/resume': 'jobs',
  'DELETE /v1/monitors/{id}': 'jobs',
  'POST /v1/monitors/{id}/run': 'jobs',
  'POST /v1/monitors/{id}/test': 'jobs',
  'GET /v1/monitors/{id}/history': 'jobs',
  'GET /v1/monitors/{id}/changes': 'jobs',
  'POST /v1/webhooks': 'jobs',
  'GET /v1/webhooks': 'jobs',
  'GET /v1/webhooks/{id}': 'jobs',
  'POST /v1/webhooks/{id}/pause': 'jobs',
  'POST /v1/webhooks/{id}/resume': 'jobs',
  'POST /v1/webhooks/{id}/rotate': 'jobs',
  'DELETE /v1/webhooks/{id}': 'jobs',
  'GET /v1/webhooks/{id}/deliveries': 'jobs',
  'POST /v1/accepted': 'jobs',
  'GET /v1/accepted': 'jobs',
  'DELETE /v1/accepted/{id}': 'jobs',
  'POST /v1/webhooks/{id}/deliveries/{delivery}/replay': 'jobs',
  'GET /v1/badge/{badge}': 'open',
  'POST /u/{token}': 'open',
  'GET /u/{token}': 'open',
  'POST /v1/consent/{consent}': 'open',
  'GET /v1/consent/{consent}': 'open',
  'GET /r/{id}': 'open',
  'DELETE /r/{id}': 'open',
  'GET /v1/history': 'read',
  'GET /v1/changes': 'read',
  'GET /v1/check': 'read',
  'POST /v1/check': 'read',
  'POST /v1/expect': 'read',
  'GET /probe': 'read',
  'GET /v1/report': 'read',
  'GET /v1/spf': 'read',
  'GET /v1/dkim': 'read',
  'GET /v1/dmarc': 'read',
  'GET /v1/plan': 'read',
  'POST /v1/plan': 'read',
  'POST /v1/message': 'read',
  'POST /v1/message/address': 'read',
  'GET /v1/message/{id}': 'read',
  'GET /v1/message/{id}/events': 'read',
  'GET /v1/domain-blacklist': 'read',
  'POST /v1/domain-blacklist': 'read',
  'GET /v1/blacklist': 'read',
  'POST /v1/blacklist': 'read',
  'GET /v1/blacklists': 'read',
  'GET /v1/pool': 'read',
  'POST /v1/pool': 'admin',
  'GET /v1/doctor': 'admin',
  'GET /v1/peer/geo': 'read',
  'GET /v1/verify': 'verify',
  'POST /v1/forget': 'admin',
  'POST /v1/reports': 'reports',
  'GET /v1/reports': 'reports',
  'GET /v1/reports/domains': 'reports',
  'GET /v1/reports/senders': 'reports',
  'GET /v1/reports/providers': 'reports',
  'PUT /v1/reports/senders/{id}': 'reports',
  'GET /v1/reports/rows': 'reports',
  'GET /v1/reports/tls': 'reports',
  'GET /v1/reports/policy': 'reports',
  'POST /v1/jobs': 'jobs',
  'PUT /v1/jobs/{id}/rows': 'jobs',
  'GET /v1/jobs': 'jobs',
  'GET /v1/jobs/{id}': 'jobs',
  'GET /v1/jobs/{id}/events': 'jobs',
  'GET /v1/jobs/{id}/results': 'jobs',
  'GET /v1/jobs/{id}/bad-rows': 'jobs',
  'POST /v1/jobs/{id}/pause': 'jobs',
  'POST /v1/jobs/{id}/resume': 'jobs',
  'POST /v1/jobs/{id}/cancel': 'jobs',
  'DELETE /v1/jobs/{id}': 'jobs',
  'POST /v1/peer/register': 'admin',
  'POST /v1/peer/heartbeat': 'admin',
  'POST /v1/peer/forget': 'admin',
  'GET /v1/peer/peers': 'admin',
}

const KEYS = [
  ...SCOPES.map((scope) => labKey(`key-of-${scope}`, [scope])),
  ...SCOPES.map((scope) => labKey(`old-key-of-${scope}`, [scope], { expires_at: '2026-01-01T00:00:00.000Z' })),
]
const operations = await allOperations()
const others = ['GET /openapi.json', 'GET /metrics', 'POST /mcp']
const routes = [...operations.map(({ method, path }) => `${method} ${path}`), ...others]
const app = await labApp(labWorld(), {
  keys: () => KEYS,
  metrics: async () => ({ contentType: 'text/plain', text: 'up 1\n' }),
})

/** The status of a call that would do nothing if it is let in: it has a parameter that is not known. */
async function call(route: string, key: string | undefined, asHeader: 'authorization' | 'x-api-key'): Promise<number> {
  const [method, path] = route.split(' ') as ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string]
  const value = asHeader === 'authorization' ? `Bearer ${key}` : String(key)
  const headers = key === undefined ? {} : { [asHeader]: value }
  const url = REQUIRED[route] === 'free' ? path : `${path}?no_such_parameter=1`
  return (await app.inject({ method, url, headers })).statusCode
}

/** 401: nobody known; 403: somebody known who may not; else it was let in. */
function expected(route: string, scope: Scope | undefined, isKeyShown = true): 'in' | 401 | 403 {
  const required = REQUIRED[route]
  if (required === 'free' || (required === 'open' && (!isKeyShown || scope !== undefined))) return 'in'
  if (scope === undefined) return 401
  return scope === required || scope === 'admin' ? 'in' : 403
}
const seen = (status: number): 'in' | number => (status === 401 || status === 403 ? status : 'in')

it('every operation is in the table, and nothing else', () =>
  expect(routes.toSorted()).toEqual(Object.keys(REQUIRED).toSorted()))

describe.each(routes)('%s', (route) => {
  it('no key', async () =>
    expect(seen(await call(route, undefined, 'authorization'))).toBe(expected(route, undefined, false)))

  it.each(['nope', 'key-of-admi', labKey('key-of-admin', []).hash, ''])('a wrong key: %j', async (key) =>
    expect(seen(await call(route, key, 'authorization'))).toBe(expected(route, undefined, key !== '')),
  )

  it.each(SCOPES)('an expired key of %s', async (scope) =>
    expect(seen(await call(route, `old-key-of-${scope}`, 'x-api-key'))).toBe(expected(route, undefined)),
  )

  it.each(SCOPES)('a key of %s', async (scope) => {
    for (const header of ['authorization', 'x-api-key'] as const)
      expect(seen(await call(route, `key-of-${scope}`, header))).toBe(expected(route, scope))
  })
})

it.each(routes.filter((route) => route.startsWith('GET ')))('%s: HEAD is let in as GET is', async (route) => {
  const [, path] = route.split(' ')
  for (const key of ['nope', 'old-key-of-admin', ...SCOPES.map((scope) => `key-of-${scope}`)]) {
    const url = REQUIRED[route] === 'free' ? path! : `${path}?no_such_parameter=1`
    const { statusCode } = await app.inject({ method: 'HEAD', url, headers: { 'x-api-key': key } })
    expect([key, seen(statusCode)]).toEqual([key, seen(await call(route, key, 'x-api-key'))])
  }
})
