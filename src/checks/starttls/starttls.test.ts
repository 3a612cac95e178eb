import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runCheck } from '../../../test/lab/checks.ts'
import { type LabServer, labDial } from '../../../test/lab/dial.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { seenOnce } from '../../base/seen-once.ts'
import { domain } from '../../names/domain.ts'
import { UNKNOWN_CONTEXT } from '../context.ts'
import { tellArgs } from '../finding.ts'
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
const BANNER = '220 mx.example ESMTP'
const TLS: LabServer = { banner: BANNER, ehlo: ['STARTTLS', 'PIPELINING'] }
const PLAIN: LabServer = { banner: BANNER, ehlo: ['PIPELINING'] }
const NAMED: LabServer = { banner: BANNER, ehlo: '250-mx.example greets you\n250 STARTTLS' }
const shows = (tls: LabServer['tls']): LabServer => ({ ...TLS, tls: tls! })
/** A self-signed certificate for mx.example with an RSA key of 1024 bits. */
const SHORT = Buffer.from(
  'MIICCDCCAXGgAwIBAgIUXd6d48Pci+8fwU9Ng/kHFeJot5AwDQYJKoZIhvcNAQELBQAwFTETMBEGA1UEAwwKbXguZXhhbXBsZTAgFw0yNjExMjIwMDAyNTNaGA8yMTI2MTAyOTAwMDI1M1owFTETMBEGA1UEAwwKbXguZXhhbXBsZTCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEArGtXbauI3iuT8gXPVi+O5UN4nke3qvJwZiF5BBEudc8dBLu0x3k0AOnhP08Sb9BJ6xrgQExb3E0ChfROtRpkLQ0txmMDbbCwXR0m9VlySD048p7irdogQgS4gnVlfzBBuVoE5qnC+C7hKY6+/JNKN0VPGcq+CADZW6P4jn6rcHkCAwEAAaNTMFEwHQYDVR0OBBYEFHfbZFvXW/FrchjkKvDcfrHXVtzVMB8GA1UdIwQYMBaAFHfbZFvXW/FrchjkKvDcfrHXVtzVMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADgYEAR82qGiUD2L7rpqYndZoYvA2bRlTi7dXCXdM6EY4BUgHiR9vD01jBxyeiOSXHd73YPc6wNFxTFZTkdPreBlIuYOHiSluVy/NmUYG2xX7q2Fa3nit3finQLo7QUVUPwOhitRvjy6L76XfWCP/jCGAYdx+sJJpDG889uLY5QV54XCY=',
  'base64',
)
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
  [
    'EHLO is not known, so there is no TLS',
    one({ banner: BANNER, ehlo: '502 no', helo: '250 mx.example' }),
    'fail',
    ['starttls.not_offered'],
  ],
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
  ['TLS 1.1 beside better versions', one({ ...TLS, outdated: 'TLSv1.1' }), 'warn', ['starttls.old_accepted']],
  [
    'TLS 1.1 at a provider',
    { '45.53.5.1': { ...TLS, outdated: 'TLSv1.1', tls: { names: ['smtp.google.com'] } } },
    'pass',
    [],
    { 'a.example': { MX: [[1, 'smtp.google.com']] }, 'smtp.google.com': { A: ['45.53.5.1'] } },
  ],
  ['TLS 1.1', one({ ...shows({ protocol: 'TLSv1.1' }), outdated: 'TLSv1.1' }), 'warn', ['starttls.old_protocol']],
  [
    'a greeting without a full host name',
    one({ ...TLS, banner: '220 localhost ESMTP' }),
    'pass',
    ['starttls.greeting'],
  ],
  ['an RSA key of 1024 bits', one(shows({ chain: [SHORT] })), 'warn', ['starttls.short_key']],
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
      expect(findings[id as keyof typeof findings].detail(tellArgs(args))).not.toMatch(/undefined|\[object/)
  })

  it.each<[string, LabServer, readonly string[], string[]]>([
    ['the PTR name', NAMED, ['mx.example'], []],
    [
      'another name than the PTR name',
      { ...NAMED, banner: '220 other.example ESMTP' },
      ['mx.example'],
      ['starttls.greeting_ptr'],
    ],
    [
      'another name at EHLO',
      { ...NAMED, ehlo: '250-other.example\n250 STARTTLS' },
      ['mx.example'],
      ['starttls.greeting_ptr'],
    ],
    ['a name, and the address has none', { ...NAMED, banner: '220 other.example ESMTP' }, [], []],
  ])('greets with %s', async (_why, server, names, ids) => {
    const context = { ...UNKNOWN_CONTEXT, names: { '45.53.5.1': names } }
    const outcome = await runCheck(starttls, world(one(server)), A, { starttls: true }, context)
    expect(outcome.findings.map(({ id }) => id)).toEqual(ids)
  })

  it('shows every finding of the table', () =>
    expect([...new Set([...ROWS.flatMap(([, , , ids]) => ids), 'starttls.greeting_ptr'])].toSorted()).toEqual(
      Object.keys(findings).toSorted(),
    ))

  it('says to whom a refusal may be due', async () => {
    const outcome = await look(one({ banner: '554 5.7.1 listed' }))
    expect(outcome).toMatchObject({
      status: 'unknown',
      reason: { text: 'it answered 554 5.7.1 listed to us (banner)' },
    })
  })
})

describe('asks', () => {
  it('each of ten hosts twice, at its first address, and leaves nothing open', async () => {
    const ctx = world(one(shows({ names: ['*.example'] })), MANY)
    await runCheck(starttls, ctx, A, { starttls: true })
    await new Promise(setImmediate)
    expect(ctx.lab.dialled).toEqual(Array(20).fill('45.53.5.1'))
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
        banner_name: 'mx.example',
        ehlo_name: 'lab',
        offered: true,
        protocol: 'TLSv1.3',
        outdated_protocol: null,
        names: ['mx.example'],
        issuer: 'CN=lab',
        expires_at: '2030-01-01T00:00:00.000Z',
        trusted: true,
        name_matches: true,
        key_type: null,
        key_bits: null,
        reason: undefined,
      },
      {
        host: 'my.example',
        address: '45.53.6.1',
        banner_name: 'mx.example',
        ehlo_name: 'lab',
        offered: false,
        protocol: null,
        outdated_protocol: null,
        names: [],
        issuer: null,
        expires_at: null,
        trusted: null,
        name_matches: null,
        key_type: null,
        key_bits: null,
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

describe('hosts that domains share', () => {
  const SHARED = Array.from({ length: 40 }, (_, n) => domain(`d${n}.example`))
  const zone: LabZone = {
    'mx.example': { A: ['45.53.5.1'] },
    'my.example': { A: ['45.53.5.1'] },
    ...Object.fromEntries(
      SHARED.map((name) => [
        name,
        {
          MX: [
            [10, 'mx.example'],
            [20, 'my.example'],
          ] as const,
        },
      ]),
    ),
  }
  it('are contacted once in a run of monitors, one name of an address after the other, and anew in the next run', async () => {
    const ctx = world(one(TLS), zone)
    const seen = seenOnce({ maxEntries: 100, ...ctx })
    const run = () => Promise.all(SHARED.map((name) => runCheck(starttls, { ...ctx, seen }, name, { starttls: true })))
    const outcomes = await run()
    // Each of two names: a session, and a handshake that offers only what is outdated.
    expect(ctx.lab.dialled).toHaveLength(4)
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['pass']))
    await run()
    expect(ctx.lab.dialled).toHaveLength(8)
    expect(starttls.present(outcomes[39]!).hosts[0]).toMatchObject({ host: 'mx.example', seen_at: expect.any(String) })
  })
  it('are contacted for each domain without it', async () => {
    const ctx = world(one(TLS), zone)
    await Promise.all(SHARED.map((name) => runCheck(starttls, ctx, name, { starttls: true })))
    expect(ctx.lab.dialled).toHaveLength(160)
  })
})
