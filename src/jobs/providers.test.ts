import { expect, it } from 'vitest'
import { labDns } from '../../test/lab/dns.ts'
import type { JobKind } from '../store/postgres/schema.ts'
import { findProviderOf, limitsFor } from './providers.ts'

const { resolve } = labDns({
  'a.example': { MX: [[10, 'aspmx.l.google.com']] },
  'aspmx.l.google.com': { A: ['142.250.1.26'] },
  'b.example': {
    MX: [
      [20, 'mx2.other.example'],
      [10, 'mx.host.example'],
    ],
  },
  'mx.host.example': { A: ['192.0.2.1'] },
  'mx2.other.example': { A: ['192.0.2.2'] },
  'c.example': { MX: 'SERVFAIL' },
})

it.each<[JobKind, string, string]>([
  ['verify', 'a.example', 'google'],
  ['verify', 'b.example', 'host.example'], // the best mail host counts
  ['verify', 'c.example', 'none'], // its row has the DNS failure
  ['verify', 'gone.example', 'none'],
  ['verify', '', 'none'],
  ['check', 'a.example', 'dns'],
  ['blacklist', '', 'dns'],
])('%s of %j is at %s', async (kind, domain, id) => {
  const find = findProviderOf({ resolve }, limitsFor(false))
  expect((await find(kind, domain, AbortSignal.timeout(5_000))).id).toBe(id)
})

it.each([
  [false, 'google', 10, 120],
  [false, 'host.example', 20, 120],
  [false, 'dns', 40, Number.POSITIVE_INFINITY],
  [true, 'google', 640, Number.POSITIVE_INFINITY],
])('limits (lifted: %s) toward %s', (lifted, id, concurrent, perMinute) => {
  expect(limitsFor(lifted)(id)).toEqual({ id, concurrent, perMinute })
})
