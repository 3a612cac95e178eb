import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LabServer, labDial } from '../../../test/lab/dial.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { runCheck } from '../run.ts'
import { findings } from './findings.ts'
import { nameMatches, starttls } from './index.ts'

const A = domain('a.example')
const ONE: LabZone = { 'a.example': { MX: [[10, 'mx.example']] }, 'mx.example': { A: ['45.53.5.1', '45.53.5.9'] } }
const TWO: LabZone = {
  ...ONE,
  'a.example': {
    MX: [
      [10, 'mx.example'],
      [20, 'my.example'],
    ],
  },
  'my.example': { A: ['45.53.6.1'] },
}
const TLS: LabServer = { ehlo: ['STARTTLS', 'PIPELINING'] }
const PLAIN: LabServer = { ehlo: ['PIPELINING'] }
const shows = (tls: LabServer['tls']): LabServer => ({ ...TLS, tls: tls! })
const at = (day: number) => Date.UTC(2026, 0, day)

function world(servers: Record<string, LabServer>, zone: LabZone = ONE) {
  const lab = labDial(servers)
  return { ...labCtx(zone, { dial: lab.dial }), lab }
}
const look = (servers: Record<string, LabServer>, zone?: LabZone) =>
  runCheck(starttls, world(servers, zone), A, { starttls: true })
const one = (server: LabServer) => ({ '45.53.5.1': server })
const FIFTEEN = Array.from({ length: 15 }, (_, i) => `m${i}.example`)
const MANY: LabZone = {
  'a.example': { MX: FIFTEEN.map((name, i) => [i, name] as const) },
  ...Object.fromEntries(FIFTEEN.map((name) => [name, { A: ['45.53.5.1'] }])),
}

type Row = [why: string, servers: Record<string, LabServer>, status: string, ids: string[], zone?: LabZone]
const ROWS: Row[] = [
  ['TLS with a good certificate', one(TLS), 'pass', []],
  ['none offered', one(PLAIN), 'fail', ['starttls.not_offered']],
  ['one of two offers none', { ...one(TLS), '45.53.6.1': PLAIN }, 'fail', ['starttls.not_offered'], TWO],
  ['EHLO is not known, so there is no TLS', one({ ehlo: '502 no', helo: '250 hi' }), 'fail', ['starttls.not_offered']],
  ['the handshake fails', one(shows('fail')), 'fail', ['starttls.broken']],
  ['announced and then refused', one({ ...TLS, starttls: '454 4.7.0 TLS not available' }), 'fail', ['starttls.broken']],
  ['the server closes at STARTTLS', one({ ...TLS, starttls: '!close' }), 'fail', ['starttls.broken']],
  [
    'expired',
    one(shows({ expiresAtMs: at(1), trusted: false, trustError: 'CERT_HAS_EXPIRED' })),
    'warn',
    ['starttls.expired'],
  ],
  ['expires in 13 days', one(shows({ expiresAtMs: at(15) })), 'warn', ['starttls.expires_soon']],
  ['expires in 15 days', one(shows({ expiresAtMs: at(18) })), 'pass', []],
  [
    'signed by itself',
    one(shows({ trusted: false, trustError: 'DEPTH_ZERO_SELF_SIGNED_CERT' })),
    'pass',
    ['starttls.untrusted'],
  ],
  ['for another name', one(shows({ names: ['b.example'] })), 'pass', ['starttls.name']],
  ['for a wildcard', one(shows({ names: ['*.example'] })), 'pass', []],
  ['TLS 1.1', one(shows({ protocol: 'TLSv1.1' })), 'warn', ['starttls.old_protocol']],
  ['TLS 1.2', one(shows({ protocol: 'TLSv1.2' })), 'pass', []],
  ['refuses the connection', one({ connect: 'refuse' }), 'unknown', ['starttls.not_heard']],
  ['turns us away at the banner', one({ banner: '554 5.7.1 listed' }), 'unknown', ['starttls.not_heard']],
  ['asks for patience at STARTTLS', one({ ...TLS, starttls: '421 4.7.0 busy' }), 'unknown', ['starttls.not_heard']],
  ['refuses STARTTLS for good', one({ ...TLS, starttls: '554 5.7.1 no' }), 'fail', ['starttls.broken']],
  ['speaks no SMTP', one({ banner: '!garbage' }), 'unknown', ['starttls.not_heard']],
  [
    'one of two is not reached',
    { ...one(TLS), '45.53.6.1': { connect: 'timeout' } },
    'pass',
    ['starttls.not_heard'],
    TWO,
  ],
  ['no address', {}, 'unknown', ['starttls.not_heard'], { 'a.example': { MX: [[10, 'mx.example']] } }],
  ['addresses not answered', {}, 'unknown', ['starttls.not_heard'], { ...ONE, 'mx.example': 'SERVFAIL' }],
  ['null MX', {}, 'not_applicable', [], { 'a.example': { MX: [[0, '.']] } }],
  ['no mail host', {}, 'not_applicable', [], { 'a.example': {} }],
  ['MX not answered', {}, 'unknown', [], { 'a.example': 'SERVFAIL' }],
  ['fifteen hosts: ten are asked', one(shows({ names: ['*.example'] })), 'pass', ['starttls.left_out'], MANY],
]

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, servers, status, ids, zone) => {
    // The second host of two has a certificate for its own name.
    const named = servers['45.53.6.1']
      ? { ...servers, '45.53.6.1': { ...servers['45.53.6.1'], tls: { names: ['my.example'] } } }
      : servers
    const outcome = await look(named, zone)
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
    for (const { id, args } of outcome.findings)
      expect(findings[id as keyof typeof findings].detail(args ?? {})).not.toMatch(/undefined|\[object/)
  })

  it('shows every finding of the table', () =>
    expect([...new Set(ROWS.flatMap(([, , , ids]) => ids))].toSorted()).toEqual(Object.keys(findings).toSorted()))

  it('says to whom a refusal may be due', async () => {
    const outcome = await look(one({ banner: '554 5.7.1 listed' }))
    expect(outcome).toMatchObject({ status: 'unknown', reason: 'it answered 554 5.7.1 listed to us (banner)' })
  })
})

describe('asks', () => {
  it('each of ten hosts once, at its first address, and leaves nothing open', async () => {
    const ctx = world(one(shows({ names: ['*.example'] })), MANY)
    await runCheck(starttls, ctx, A, { starttls: true })
    await new Promise(setImmediate)
    expect(ctx.lab.dialled).toEqual(Array(10).fill('45.53.5.1'))
    expect(ctx.lab.received.filter((line) => /^(?:MAIL|RCPT|DATA)/.test(line))).toEqual([])
    expect(ctx.lab.received.filter((line) => line === 'QUIT').length).toBe(10)
    expect(ctx.lab.open()).toBe(0)
  })

  it.each<[string, (() => Promise<string>) | undefined, string]>([
    ['its address literal', undefined, 'EHLO [45.53.1.99]'],
    ['the name that is handed in', async () => 'sonde.example', 'EHLO sonde.example'],
  ])('greets with %s', async (_why, helo, greeting) => {
    const ctx = world(one(TLS))
    await runCheck(starttls, ctx, A, { starttls: true, ...(helo ? { helo } : {}) })
    expect(ctx.lab.received[0]).toBe(greeting)
  })

  it('runs only where it is wanted', () =>
    expect([{}, { starttls: false }, { starttls: true }].map(starttls.when)).toEqual([false, false, true]))
})

it('presents what was seen', async () => {
  expect(starttls.present(await look({ ...one(TLS), '45.53.6.1': PLAIN }, TWO))).toEqual({
    hosts: [
      {
        host: 'mx.example',
        address: '45.53.5.1',
        offered: true,
        protocol: 'TLSv1.3',
        names: ['mx.example'],
        issuer: 'CN=lab',
        expires_at: '2030-01-01T00:00:00.000Z',
        trusted: true,
        name_matches: true,
        reason: undefined,
      },
      {
        host: 'my.example',
        address: '45.53.6.1',
        offered: false,
        protocol: null,
        names: [],
        issuer: null,
        expires_at: null,
        trusted: null,
        name_matches: null,
        reason: undefined,
      },
    ],
  })
})

describe('names', () => {
  it.each<[string, string[], boolean]>([
    ['mx.example', ['MX.example'], true],
    ['mx.example.', ['mx.example'], true],
    ['mx.a.example', ['*.a.example'], true],
    ['mx.b.a.example', ['*.a.example'], false], // one label only, RFC 9525 §6.3
    ['a.example', ['*.a.example'], false],
    ['mx.a.example', ['m*.a.example'], false],
    ['mx.a.example', ['*'], false],
    ['mx.a.example', [], false],
    ['localhost', ['*.localhost'], false],
  ])('%s in %j: %s', (host, names, matches) => expect(nameMatches(host, names)).toBe(matches))

  it('takes any text', () =>
    fc.assert(fc.property(fc.string(), fc.array(fc.string()), (host, names) => void nameMatches(host, names))))
})
