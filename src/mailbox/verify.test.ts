import { describe, expect, it } from 'vitest'
import { type LabDial, type LabServer, labDial, timeoutFor } from '../../test/lab/dial.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { email } from '../../test/lab/email.ts'
import { labCtx } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { DnsError } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import { presentVerification } from './present.ts'
import type { Verification, VerifyInput } from './verification.ts'
import { createVerifier, type Verifier, type VerifySettings } from './verify.ts'

const MX1 = '45.53.5.1'
const MX2 = '45.53.6.1'
const S1 = ip('45.53.1.1')
const S2 = ip('45.53.1.2')
const S3 = ip('45.53.1.3')
const S6 = ip('2a01:4f8::11')
const ONE: LabZone = { 'x.example': { MX: [[10, 'mx1.x.example']] }, 'mx1.x.example': { A: [MX1] } }
const TWO: LabZone = {
  'x.example': {
    MX: [
      [10, 'mx1.x.example'],
      [20, 'mx2.x.example'],
    ],
  },
  'mx1.x.example': { A: [MX1] },
  'mx2.x.example': { A: [MX2] },
}
const TAKES: LabServer = { rcpt: { 'a@x.example': '250 2.1.5 Ok' } }
const TAKES_ALL: LabServer = { rcpt: { '*': '250 2.1.5 Ok' } }
const listedBy = (source: string): string =>
  `550 5.7.1 Service unavailable, client host [${source}] blocked using zen.spamhaus.org`

type Lab = {
  readonly verifier: Verifier
  readonly ctx: Ctx
  readonly net: LabDial
  readonly asked: string[]
  readonly timeoutMs: number
}
function lab(
  zone: LabZone,
  servers: Record<string, LabServer>,
  settings: VerifySettings = {},
  world: Partial<Ctx> = {},
): Lab {
  const net = labDial(servers)
  let seed = 1
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
  const ctx = labCtx(zone, { dial: net.dial, random, ...world })
  return {
    verifier: createVerifier(ctx, { helo: domain('us.example'), ...settings }),
    ctx,
    net,
    asked: ctx.asked,
    timeoutMs: timeoutFor(zone, servers),
  }
}
const ask = ({ verifier, ctx, timeoutMs }: Lab, input: Partial<VerifyInput> = {}): Promise<Verification> =>
  verifier.verify(ctx, { email: 'a@x.example', timeoutMs, ...input })
const words = (v: Verification): string => `${v.result} ${v.reason} ${v.deliverability} ${v.catchAll}`
const tries = (v: Verification): string[] =>
  v.attempts.map((one) => `${one.mxServer.split('.')[0]} ${one.stage} ${one.code} ${one.reason}`)

describe('what a mail server does becomes a result', () => {
  it.each<[does: string, server: LabServer, expected: string, attempts: string[]]>([
    [
      'takes it, refuses a made-up one',
      TAKES,
      'accepted mailbox_exists deliverable false',
      ['mx1 rcpt 250 mailbox_exists'],
    ],
    ['takes everything', TAKES_ALL, 'catch_all accept_all risky true', ['mx1 rcpt 250 accept_all']],
    [
      'takes it, cannot say of a made-up one',
      { rcpt: { 'a@x.example': '250 ok', '*': '451 4.3.0 later' } },
      'accepted mailbox_exists deliverable null',
      ['mx1 rcpt 250 mailbox_exists'],
    ],
    [
      'takes it, speaks of bounces at the probe',
      { rcpt: { 'a@x.example': '250 ok', '*': '550 5.7.1 too many recipients for a bounce' } },
      'accepted mailbox_exists deliverable null',
      ['mx1 rcpt 250 mailbox_exists'],
    ],
    [
      'takes it, closes at the probe',
      { rcpt: { 'a@x.example': '250 ok', '*': '!close' } },
      'accepted mailbox_exists deliverable null',
      ['mx1 rcpt 250 mailbox_exists'],
    ],
    [
      'takes it, falls silent at the probe',
      { rcpt: { 'a@x.example': '250 ok', '*': '!silence' } },
      'accepted mailbox_exists deliverable null',
      ['mx1 rcpt 250 mailbox_exists'],
    ],
    ['does not know it', {}, 'rejected mailbox_not_found undeliverable null', ['mx1 rcpt 550 mailbox_not_found']],
    [
      'does not relay',
      { rcpt: { '*': '554 5.7.1 <a@x.example>: Relay access denied' } },
      'rejected relay_denied undeliverable null',
      ['mx1 rcpt 554 relay_denied'],
    ],
    [
      'is full for now',
      { rcpt: { '*': '452 4.2.2 Mailbox full' } },
      'deferred mailbox_full risky null',
      ['mx1 rcpt 452 mailbox_full'],
    ],
    [
      'is full',
      { rcpt: { '*': '552 5.2.2 Mailbox full' } },
      'rejected mailbox_full risky null',
      ['mx1 rcpt 552 mailbox_full'],
    ],
    [
      'greylists',
      {
        rcpt: {
          '*': '450 4.2.0 <a@x.example>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch',
        },
      },
      'deferred greylisted unknown null',
      ['mx1 rcpt 450 greylisted'],
    ],
    [
      'has us listed, said at RCPT',
      { rcpt: { '*': listedBy('45.53.1.99') } },
      'blocked source_blocked unknown null',
      ['mx1 rcpt 550 source_blocked'],
    ],
    [
      'has us listed, said at the banner',
      { banner: `554 5.7.1 ${listedBy('x').slice(10)}` },
      'blocked source_blocked unknown null',
      ['mx1 banner 554 source_blocked'],
    ],
    [
      'refuses the sender, and 503 behind it',
      { mail: '550 5.7.1 Sender rejected', rcpt: { '*': '503 5.5.1 Error: need MAIL command' } },
      'blocked sender_refused unknown null',
      ['mx1 mail 550 sender_refused'],
    ],
    [
      'wants TLS and offers none',
      { mail: '530 5.7.0 Must issue a STARTTLS command first' },
      'blocked tls_required unknown null',
      ['mx1 mail 530 tls_required'],
    ],
    [
      'is too busy',
      { banner: '421 4.3.2 Service not available' },
      'deferred temporary_failure unknown null',
      ['mx1 banner 421 temporary_failure'],
    ],
    [
      'breaks TLS: once more in the clear',
      { ...TAKES, ehlo: ['STARTTLS'], tls: 'fail' },
      'accepted mailbox_exists deliverable false',
      ['mx1 starttls 0 tls_failure', 'mx1 rcpt 250 mailbox_exists'],
    ],
    [
      'refuses the connection',
      { connect: 'refuse' },
      'unreachable connect_refused unknown null',
      ['mx1 connect 0 connect_refused'],
    ],
    [
      'times out',
      { connect: 'timeout' },
      'unreachable connect_timeout unknown null',
      ['mx1 connect 0 connect_timeout'],
    ],
    [
      'is not to be reached',
      { connect: 'unreachable' },
      'unreachable network_unreachable unknown null',
      ['mx1 connect 0 network_unreachable'],
    ],
    [
      'has a private address',
      { connect: 'unsafe' },
      'unreachable unsafe_address unknown null',
      ['mx1 connect 0 unsafe_address'],
    ],
    ['says nothing', { banner: '!silence' }, 'unreachable timeout unknown null', ['mx1 banner 0 timeout']],
    ['drips', { banner: '!drip' }, 'unreachable timeout unknown null', ['mx1 banner 0 timeout']],
    [
      'never ends its reply',
      { ehlo: '!endless' },
      'unreachable protocol_error unknown null',
      ['mx1 ehlo 0 protocol_error'],
    ],
    ['is no SMTP', { banner: '!garbage' }, 'unreachable protocol_error unknown null', ['mx1 banner 0 protocol_error']],
    ...(['299 yes', '300 maybe', '354 go on', '220 hi', '200 ok'] as const).map(
      (rcpt): [string, LabServer, string, string[]] => [
        `says ${rcpt} at RCPT (outside RFC 5321 §4.3.2)`,
        { rcpt: { '*': rcpt } },
        'unreachable protocol_error unknown null',
        [`mx1 rcpt ${rcpt.slice(0, 3)} protocol_error`],
      ],
    ),
    [
      'takes it without verifying (252)',
      { rcpt: { '*': '252 2.1.5 cannot verify, will take it' } },
      'accepted unverifiable_provider unknown null',
      ['mx1 rcpt 252 unverifiable_provider'],
    ],
    [
      'says 299 to the made-up one',
      { rcpt: { 'a@x.example': '250 ok', '*': '299 yes' } },
      'accepted mailbox_exists deliverable null',
      ['mx1 rcpt 250 mailbox_exists'],
    ],
    [
      'slips replies in before TLS',
      { ...TAKES, ehlo: ['STARTTLS'], starttls: '220 go\n250 ok\n250 ok\n250 ok' },
      'unreachable protocol_error unknown null',
      ['mx1 starttls 0 protocol_error'],
    ],
    [
      'greets with 221',
      { banner: '221 bye' },
      'unreachable protocol_error unknown null',
      ['mx1 banner 221 protocol_error'],
    ],
    [
      'resets at RCPT',
      { rcpt: { '*': '!reset' } },
      'unreachable connection_lost unknown null',
      ['mx1 rcpt 0 connection_lost'],
    ],
  ])('%s', async (_, server, expected, attempts) => {
    const one = lab(ONE, { [MX1]: server })
    const v = await ask(one)
    expect([words(v), tries(v), one.net.open()]).toEqual([expected, attempts, 0])
    if (v.code === 0) expect(v.message).not.toBe('')
    if (['connect', 'banner'].includes(v.attempts.at(-1)!.stage) && v.code === 0)
      expect([v.mxServer, v.ipUsed]).toEqual(['', ''])
    else expect([v.mxServer, v.ipUsed]).toEqual(['mx1.x.example', '45.53.1.99'])
  })

  it('has the expected SMTP session, in the clear and over TLS', async () => {
    const one = lab(ONE, { [MX1]: { ...TAKES, ehlo: ['STARTTLS', 'PIPELINING'] } })
    const v = await ask(one)
    expect(
      one.net.received.map((line) =>
        line.replace(/verify-\w+/, 'verify-N').replace(/<[a-z]{12}\.[a-z]{10}\d\d@/, '<MADEUP@'),
      ),
    ).toEqual([
      'EHLO us.example',
      'STARTTLS',
      'EHLO us.example',
      'MAIL FROM:<verify-N@us.example>',
      'RCPT TO:<a@x.example>',
      'RCPT TO:<MADEUP@x.example>',
      'QUIT',
    ])
    expect([v.starttls, v.tls?.trusted, v.confidence, v.enhancedCode]).toEqual([true, true, 97, '2.1.5'])
    expect(v.transcript.some(({ from, text }) => from === 'note' && text.startsWith('TLS: TLSv1.3'))).toBe(true)
  })
  it('gives each recipient its own transaction with the null sender', async () => {
    const one = lab(ONE, { [MX1]: TAKES }, { mailFrom: null })
    expect(words(await ask(one))).toBe('accepted mailbox_exists deliverable false')
    expect(one.net.received.filter((line) => !line.startsWith('RCPT'))).toEqual([
      'EHLO us.example',
      'MAIL FROM:<>',
      'RSET',
      'MAIL FROM:<>',
      'QUIT',
    ])
  })
  it('tells how long a greylisting server wants us to wait', async () => {
    const v = await ask(lab(ONE, { [MX1]: { rcpt: { '*': '450 4.7.1 Greylisted, try again in 00:05:00' } } }))
    expect(v.retryAfterMs).toBe(300_000)
  })
  it.each([
    [{}, 'accepted mailbox_exists deliverable false', 'jürgen@x.example'],
    [{ ehlo: ['PIPELINING'] }, 'rejected smtputf8_required undeliverable null', 'jürgen@x.example'],
  ])('needs SMTPUTF8 for a local part that is not ASCII: %j', async (server, expected, address) => {
    const one = lab(ONE, { [MX1]: { ...server, rcpt: { [address]: '250 ok' } } })
    const v = await ask(one, { email: address })
    expect([words(v), v.smtputf8]).toEqual([expected, true])
  })
})

describe('what the DNS says becomes a result', () => {
  it.each<[LabZone, string]>([
    [{}, 'rejected domain_not_found undeliverable null'],
    [{ 'x.example': { TXT: ['x'] } }, 'rejected no_mail_host undeliverable null'],
    [{ 'x.example': { MX: [[0, '.']] } }, 'rejected null_mx undeliverable null'], // RFC 7505
    [{ 'x.example': { MX: [[10, 'gone.example']] } }, 'rejected no_mail_host undeliverable null'],
    [{ 'x.example': 'SERVFAIL' }, 'unreachable dns_failure unknown null'], // unknown is never absent
    [{ 'x.example': 'TIMEOUT' }, 'unreachable dns_failure unknown null'],
    [
      { 'x.example': { MX: [[10, 'mx1.x.example']] }, 'mx1.x.example': 'SERVFAIL' },
      'unreachable dns_failure unknown null',
    ],
    [{ 'x.example': { A: [MX1] } }, 'accepted mailbox_exists deliverable false'], // implicit MX, RFC 5321 §5.1
  ])('%j', async (zone, expected) => {
    const v = await ask(lab(zone, { [MX1]: TAKES }))
    expect(words(v)).toBe(expected)
    if (v.code === 0) expect([v.mxServer, v.ipUsed, v.attempts]).toEqual(['', '', []])
  })
  it('believes no NXDOMAIN of a resolver that denies everything', async () => {
    const denying: Ctx['resolve'] = async (name, type) => {
      throw new DnsError('resolver_denies_everything', { name, type })
    }
    const v = await ask(lab(ONE, { [MX1]: TAKES }, {}, { resolve: denying }))
    expect([words(v), v.confidence]).toEqual(['unreachable dns_failure unknown null', 0])
    expect(v.message).toMatch(/the resolver denies every name/)
  })
  it.each([
    'a',
    'a@',
    'a@x',
    '@x.example',
    'a@[127.0.0.1]',
    'a\r\nRCPT TO:<b@x.example>@x.example',
    '"a>b"@x.example',
    'a\0@x.example',
    'a'.repeat(10_000),
  ])('%j contacts nobody', async (text) => {
    const one = lab(ONE, { [MX1]: TAKES })
    const v = await ask(one, { email: text })
    expect([words(v), v.confidence, one.asked, one.net.dialled]).toEqual([
      'invalid bad_syntax undeliverable null',
      100,
      [],
      [],
    ])
    expect(v.email).not.toMatch(/[\r\n\0]/)
  })
})

describe('the next host (RFC 5321 §5.1)', () => {
  it.each<[first: string, server: LabServer, dialled: string[], expected: string]>([
    ['is refused', { connect: 'refuse' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['times out', { connect: 'timeout' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['greets with 221', { banner: '221 bye' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['greets with 250', { banner: '250 ok' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['is silent', { banner: '!silence' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['is private', { connect: 'unsafe' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['says 421 at the banner', { banner: '421 4.3.2 busy' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['says 4xx at the banner', { banner: '450 4.3.2 busy' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['says 421 at RCPT', { rcpt: { '*': '421 4.3.2 busy' } }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['breaks off', { mail: '!close' }, [MX1, MX2], 'accepted mailbox_exists deliverable false'],
    ['knows no such mailbox: never on', {}, [MX1], 'rejected mailbox_not_found undeliverable null'],
    ['says 450 at RCPT', { rcpt: { '*': '450 4.2.0 Greylisted' } }, [MX1], 'deferred greylisted unknown null'],
    [
      'says 554 at the banner',
      { banner: '554 5.7.1 blocked using a list' },
      [MX1],
      'blocked source_blocked unknown null',
    ],
  ])('when the first one %s', async (_, server, dialled, expected) => {
    const two = lab(TWO, { [MX1]: server, [MX2]: TAKES })
    const v = await ask(two)
    expect([two.net.dialled, words(v), v.mxTried.length]).toEqual([dialled, expected, dialled.length])
  })
  it('a later host that is dead does not cover what the first one said', async () => {
    const v = await ask(
      lab(TWO, { [MX1]: { banner: '421 4.7.0 Too many connections from your IP' }, [MX2]: { connect: 'refuse' } }),
    )
    expect(words(v)).toBe('blocked rate_limited unknown null')
  })
  it('shuffles hosts of one preference', async () => {
    const zone: LabZone = {
      ...TWO,
      'x.example': {
        MX: [
          [10, 'mx1.x.example'],
          [10, 'mx2.x.example'],
        ],
      },
    }
    const firsts = new Set<string | undefined>()
    const shared = lab(zone, { [MX1]: TAKES, [MX2]: TAKES }, { noCourtesy: true })
    for (let i = 0; i < 20; i++) firsts.add((await ask(shared, { maxAgeMs: 0 })).mxTried[0])
    expect(firsts).toEqual(new Set(['mx1.x.example', 'mx2.x.example']))
  })
  it('no route for IPv6 is not the verdict', async () => {
    const zone: LabZone = {
      'x.example': { MX: [[10, 'mx1.x.example']] },
      'mx1.x.example': { A: [MX1], AAAA: ['2a01:4f8::25'] },
    }
    const v = await ask(lab(zone, { [MX1]: { connect: 'timeout' }, '2a01:4f8::25': { connect: 'unreachable' } }))
    expect([words(v), v.attempts.length]).toEqual(['unreachable connect_timeout unknown null', 2])
  })
})

describe('source addresses', () => {
  const POOL = { pool: () => [S1, S2, S3] }
  const refusing = (...sources: string[]): LabServer => ({
    ...TAKES,
    from: Object.fromEntries(sources.map((source) => [source, { rcpt: { '*': listedBy(source) } }])),
  })
  it.each<
    [name: string, server: LabServer, input: Partial<VerifyInput>, dialled: (string | undefined)[], expected: string]
  >([
    ['bind_ip alone', TAKES, { bindIp: S2 }, [S2], 'accepted mailbox_exists deliverable false'],
    ['bind_ip alone has no failover', refusing(S2), { bindIp: S2 }, [S2], 'blocked source_blocked unknown null'],
    [
      'the pool fails over where the address is refused',
      refusing(S1, S2),
      { pool: true },
      [S1, S2, S3],
      'accepted mailbox_exists deliverable false',
    ],
    [
      'refused at the banner',
      { ...TAKES, from: { [S1]: { banner: '554 5.7.1 blocked using a list' } } },
      { pool: true },
      [S1, S2],
      'accepted mailbox_exists deliverable false',
    ],
    ['refused on all', refusing(S1, S2, S3), { pool: true }, [S1, S2, S3], 'blocked source_blocked unknown null'],
    [
      'not bound',
      { ...TAKES, from: { [S1]: { connect: 'not_local' } } },
      { pool: true },
      [S1, S2],
      'accepted mailbox_exists deliverable false',
    ],
    ['never on no such mailbox', {}, { pool: true }, [S1], 'rejected mailbox_not_found undeliverable null'],
    [
      'never on greylisting',
      { rcpt: { '*': '450 4.2.0 Greylisted' } },
      { pool: true },
      [S1],
      'deferred greylisted unknown null',
    ],
    [
      'never on too many failed recipients: the host rests for every source',
      { rcpt: { '*': '550 Too many failed recipients from your host, wait for one hour' } },
      { pool: true },
      [S1],
      'blocked rate_limited unknown null',
    ],
    [
      'bind_ip first, then the pool',
      refusing(S3),
      { pool: true, bindIp: S3 },
      [S3, S1],
      'accepted mailbox_exists deliverable false',
    ],
    [
      'helo refused by a name that all share',
      { ehlo: '550 5.7.1 HELO rejected', helo: '550 5.7.1 HELO rejected' },
      { pool: true },
      [S1],
      'blocked helo_refused unknown null',
    ],
  ])('%s', async (_, server, input, dialled, expected) => {
    const one = lab(ONE, { [MX1]: server }, POOL)
    const v = await ask(one, input)
    expect([one.net.dialled, words(v)]).toEqual([dialled.map((source) => `${MX1} from ${source}`), expected])
    expect(v.ipUsed).toBe(dialled.at(-1))
  })
  it('asks no host that rests, from no source', async () => {
    const one = lab(ONE, { [MX1]: { rcpt: { '*': '550 Too many failed recipients from your host' } } }, POOL)
    await ask(one, { pool: true })
    const v = await ask(one, { pool: true, email: 'b@x.example' })
    expect([words(v), one.net.dialled.length]).toEqual(['blocked rate_limited unknown null', 1])
  })
  it('ties the family to the source address', async () => {
    const zone: LabZone = {
      'x.example': { MX: [[10, 'mx1.x.example']] },
      'mx1.x.example': { A: [MX1], AAAA: ['2a01:4f8::25'] },
    }
    const one = lab(zone, { [MX1]: TAKES, '2a01:4f8::25': TAKES })
    await ask(one, { bindIp: S6 })
    expect(one.net.dialled).toEqual(['2a01:4f8::25 from 2a01:4f8::11'])
    const none = await ask(lab(ONE, { [MX1]: TAKES }), { bindIp: S6 })
    expect([words(none), none.attempts]).toEqual(['unreachable network_unreachable unknown null', []])
  })
  it('tries the other family where one could not be reached (RFC 5321 §5.1), and asks no second address of the family', async () => {
    const zone: LabZone = {
      'x.example': { MX: [[10, 'mx1.x.example']] },
      'mx1.x.example': { A: [MX1], AAAA: ['2a01:4f8::25'] },
    }
    const one = lab(zone, { [MX1]: { connect: 'refuse' }, '2a01:4f8::25': TAKES }, { pool: () => [S1, S2, S6] })
    expect((await ask(one, { pool: true })).result).toBe('accepted')
    expect(one.net.dialled).toEqual([`${MX1} from ${S1}`, '2a01:4f8::25 from 2a01:4f8::11'])
  })
  it('uses the system’s choice for a pool that is not configured', async () => {
    const one = lab(ONE, { [MX1]: TAKES })
    expect((await ask(one, { pool: true })).result).toBe('accepted')
    expect(one.net.dialled).toEqual([MX1])
  })
  it('pauses a refused address, tells so, and says when all are paused', async () => {
    const one = lab(ONE, { [MX1]: refusing(S1, S2) }, { pool: () => [S1, S2] })
    await ask(one, { pool: true })
    const v = await ask(one, { pool: true })
    expect([words(v), v.attempts, v.retryAfterMs, one.net.dialled.length]).toEqual([
      'blocked source_blocked unknown null',
      [],
      600_000,
      2,
    ])
    const [row] = await one.verifier.pool()
    expect(row?.providers[0]).toMatchObject({
      provider: 'x.example',
      breaker: 'open',
      refusals: 1,
      lastRefusal: { reason: 'source_blocked' },
    })
    await one.verifier.reloadPool()
    expect((await ask(one, { pool: true })).attempts).toHaveLength(2)
  })
  it('skips an address that a blacklist names', async () => {
    const one = lab(
      ONE,
      { [MX1]: TAKES },
      { ...POOL, listed: (source) => (source === S1 ? 'listed by a list' : undefined) },
    )
    const v = await ask(one, { pool: true })
    expect(v.skippedSources).toEqual([{ address: S1, why: 'listed by a list' }])
    expect(one.net.dialled).toEqual([`${MX1} from ${S2}`])
  })
  it('remembers over a restart how addresses stand', async () => {
    const one = lab(ONE, { [MX1]: refusing(S1) }, POOL)
    await ask(one, { pool: true })
    await one.verifier.close()
    const again = lab(ONE, { [MX1]: TAKES }, POOL, { store: one.ctx.store })
    await ask(again, { pool: true })
    expect(again.net.dialled).toEqual([`${MX1} from ${S3}`]) // S1 is paused, S2 was used later
  })
  it('keeps the source of a greylisted question', async () => {
    const one = lab(ONE, { [MX1]: { rcpt: { 'a@x.example': ['450 4.2.0 Greylisted', '250 ok'] } } }, POOL)
    await ask(one, { pool: true })
    expect(words(await ask(one, { pool: true }))).toBe('accepted mailbox_exists deliverable false')
    expect(new Set(one.net.dialled).size).toBe(1)
  })
})

describe('the HELO name and the sender', () => {
  it.each<[LabZone, string, string]>([
    [{ '99.1.53.45.in-addr.arpa': { PTR: ['out.us.example'] } }, 'EHLO out.us.example', 'out.us.example>'],
    [{}, 'EHLO [45.53.1.99]', '<>'], // RFC 5321 §4.1.3
    [{ '99.1.53.45.in-addr.arpa': { PTR: ['localhost'] } }, 'EHLO [45.53.1.99]', '<>'],
    [{ '99.1.53.45.in-addr.arpa': 'SERVFAIL' }, 'EHLO [45.53.1.99]', '<>'],
  ])('%j', async (zone, ehlo, sender) => {
    const net = labDial({ [MX1]: TAKES })
    const ctx = labCtx({ ...ONE, ...zone }, { dial: net.dial })
    await createVerifier(ctx).verify(ctx, { email: 'a@x.example', timeoutMs: 400 })
    expect(net.received[0]).toBe(ehlo)
    expect(net.received[1]?.endsWith(sender)).toBe(true)
  })
  it('takes the operator’s sender', async () => {
    const one = lab(ONE, { [MX1]: TAKES }, { mailFrom: email('probe@us.example') })
    await ask(one)
    expect(one.net.received[1]).toBe('MAIL FROM:<probe@us.example>')
  })
})

describe('providers', () => {
  const at = (host: string): LabZone => ({ 'x.example': { MX: [[10, host]] }, [host]: { A: [MX1] } })
  it.each([
    ['mta5.am0.yahoodns.net', 'accepted unverifiable_provider unknown null', 1], // tells nothing
    ['x-example.olc.protection.outlook.com', 'accepted mailbox_exists deliverable null', 1], // a second RCPT hurts
    ['x-example.mail.protection.outlook.com', 'catch_all accept_all risky true', 2], // in two sessions
    ['aspmx.l.google.com', 'catch_all accept_all risky true', 2], // both in one batch
  ])('%s: %s', async (host, expected, recipients) => {
    const one = lab(at(host), { [MX1]: TAKES_ALL })
    expect(words(await ask(one))).toBe(expected)
    expect(one.net.received.filter((line) => line.startsWith('RCPT'))).toHaveLength(recipients)
  })
})

describe('waits: one a segment written, and one each for MX, addresses, connection and banner', () => {
  it.each([
    [{ ehlo: ['PIPELINING'] }, 7], // EHLO · MAIL RCPT · RCPT of the probe
    [{ ehlo: ['PIPELINING', 'STARTTLS'] }, 10], // and STARTTLS · handshake · EHLO
    [{ ehlo: ['SIZE'] }, 8], // without pipelining MAIL and RCPT wait for each other
  ])('%j: %i', async (server, expected) => {
    let segments = 0
    const net = labDial({ [MX1]: { ...TAKES, ...server } })
    const counting: Ctx['dial'] = async (target, signal) => {
      const connection = await net.dial(target, signal)
      return {
        ...connection,
        write: (bytes) => {
          segments += String(bytes).startsWith('QUIT') ? 0 : 1
          return connection.write(bytes)
        },
        startTls: (name) => {
          segments++
          return connection.startTls(name)
        },
      }
    }
    expect((await ask(lab(ONE, {}, {}, { dial: counting }))).result).toBe('accepted')
    expect(4 + segments).toBe(expected)
  })
})

describe('a list (reuse)', () => {
  const names = Array.from({ length: 30 }, (_, i) => `u${i}@x.example`)
  it('asks many addresses over few sessions, and closes them', async () => {
    const one = lab(ONE, { [MX1]: TAKES_ALL }, { noCourtesy: true })
    for (const name of names) expect((await ask(one, { email: name, reuse: true })).result).toBe('catch_all')
    expect([one.net.dialled.length, one.net.open()]).toEqual([1, 1])
    await one.verifier.close()
    expect([one.net.open(), one.net.received.at(-1)]).toEqual([0, 'QUIT'])
  })
  it('hands sessions on while others wait for a place', async () => {
    const one = lab(ONE, { [MX1]: { ...TAKES_ALL, rcpt: { '*': '250 ok' } } })
    const results = await Promise.all(names.map((name) => ask(one, { email: name, reuse: true, timeoutMs: 1_000 })))
    // 20 connections at once to one host: the other questions get a session that is handed on
    expect(results.filter(({ result }) => result === 'catch_all').length).toBe(30)
    expect(one.net.dialled.length).toBeLessThanOrEqual(20)
    await one.verifier.close()
    expect(one.net.open()).toBe(0)
  })
  it('gives each question its own time over a session that is used again', async () => {
    const one = lab(ONE, { [MX1]: { ...TAKES_ALL, delayMs: { rcpt: 30 } } }, { noCourtesy: true })
    for (const name of names.slice(0, 3))
      expect((await ask(one, { email: name, reuse: true })).result).toBe('catch_all')
    expect(one.net.dialled).toHaveLength(1)
    await one.verifier.close()
  })
  it('closes a session after 8 unknown names', async () => {
    const one = lab(ONE, { [MX1]: {} }, { noCourtesy: true })
    for (const name of names.slice(0, 16))
      expect((await ask(one, { email: name, reuse: true })).reason).toBe('mailbox_not_found')
    expect([one.net.dialled.length, one.net.open()]).toEqual([2, 0])
  })
  it('takes a new session unnoticed where the kept one has ended', async () => {
    for (const end of ['!close', '421 4.4.2 idle too long']) {
      const one = lab(ONE, { [MX1]: { rcpt: { '*': '250 ok' }, rset: end } }, { noCourtesy: true })
      for (const name of names.slice(0, 3)) {
        const v = await ask(one, { email: name, reuse: true })
        expect([v.result, v.attempts.length]).toEqual(['catch_all', 1])
      }
      expect(one.net.dialled).toHaveLength(3)
      await one.verifier.close()
      expect(one.net.open()).toBe(0)
    }
  })
})

describe('memory', () => {
  it('answers a firm question again without asking, a temporary one never', async () => {
    const one = lab(ONE, { [MX1]: { rcpt: { 'a@x.example': '250 ok', 'b@x.example': '450 4.3.0 later' } } })
    await ask(one)
    const again = await ask(one, { role: false })
    expect([again.cached, again.observedAtMs, one.net.dialled.length]).toEqual([true, one.ctx.now(), 1])
    expect((await ask(one, { maxAgeMs: 0 })).cached).toBe(false)
    for (let i = 0; i < 2; i++) expect((await ask(one, { email: 'b@x.example' })).cached).toBe(false)
    expect(one.net.dialled).toHaveLength(4)
  })
  it('forgets a mailbox, or a domain with its mailboxes and whether it accepts any', async () => {
    const one = lab(ONE, { [MX1]: TAKES_ALL })
    const names = ['a@x.example', 'b@x.example']
    for (const name of names) await ask(one, { email: name })
    expect(one.verifier.forget({ email: email('a@x.example') })).toEqual({ answers: 1, catch_all: 0 })
    expect((await ask(one, { email: 'b@x.example' })).cached).toBe(true)
    expect(one.verifier.forget({ domain: domain('x.example') })).toEqual({ answers: 1, catch_all: 1 })
    for (const name of names) expect((await ask(one, { email: name })).cached).toBe(false)
  })
  it('asks a made-up mailbox once a domain', async () => {
    const one = lab(ONE, { [MX1]: TAKES_ALL })
    for (const name of ['a', 'b', 'c'])
      expect((await ask(one, { email: `${name}@x.example` })).result).toBe('catch_all')
    expect(one.net.received.filter((line) => line.startsWith('RCPT'))).toHaveLength(4)
  })
  it('asks equal questions in flight once, and a caller that goes away does not end the work of others', async () => {
    const one = lab(ONE, { [MX1]: TAKES })
    const gone = new AbortController()
    const first = one.verifier.verify({ ...one.ctx, signal: gone.signal }, { email: 'a@x.example' })
    const second = ask(one)
    gone.abort()
    expect([(await second).result, one.net.dialled.length]).toEqual(['accepted', 1])
    await first
  })
  it('tells a caller that goes away what is known so far, while others wait', async () => {
    const one = lab(ONE, { [MX1]: { banner: '!silence' } })
    const gone = new AbortController()
    const first = one.verifier.verify({ ...one.ctx, signal: gone.signal }, { email: 'a@x.example' })
    const second = ask(one)
    await expect.poll(() => one.net.dialled.length).toBe(1)
    gone.abort()
    const { mxHosts } = await first
    expect(mxHosts).toEqual(['mx1.x.example'])
    await second
  })
  it('ends the work when nobody waits any more', async () => {
    const one = lab(ONE, { [MX1]: { banner: '!silence' } })
    const gone = new AbortController()
    const first = one.verifier.verify({ ...one.ctx, signal: gone.signal }, { email: 'a@x.example', timeoutMs: 60_000 })
    setTimeout(() => gone.abort(), 20)
    await first
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(one.net.open()).toBe(0)
  })
})

describe('limits toward mail hosts', () => {
  it.each<['refuse' | 'timeout', string]>([
    ['refuse', 'connect_refused'],
    ['timeout', 'connect_timeout'],
  ])('does not dial a dead host again within a minute: %s', async (connect, reason) => {
    const one = lab(ONE, { [MX1]: { connect } })
    await ask(one)
    const v = await ask(one, { email: 'b@x.example' })
    expect([words(v), one.net.dialled.length]).toEqual([`unreachable ${reason} unknown null`, 1])
    expect(v.attempts[0]?.message).toMatch(/^not connected again/)
    const rude = lab(ONE, { [MX1]: { connect } }, { noCourtesy: true })
    await ask(rude)
    await ask(rude)
    expect(rude.net.dialled).toHaveLength(2)
  })
  it.each<[limit: string, server: LabServer, before: number, retryAfterMs: number, message: RegExp]>([
    ['the rate', TAKES, 30, 1_000, /at most \d+ recipients per minute/],
    ['unknown names', {}, 100, 600_000, /paused verification at x.example: more than 30 %/],
  ])('holds a question back by %s: deferred, own_limit', async (_, server, before, retryAfterMs, message) => {
    let steps = 0
    const clock = (): number => Date.UTC(2026, 0, 2) + (before > 30 ? 100 * steps++ : 0)
    const one = lab(ONE, { [MX1]: server }, {}, { now: clock })
    for (let i = 0; i < before; i++) await ask(one, { email: `u${i}@x.example` })
    const dialled = one.net.dialled.length
    const v = await ask(one, { email: 'last@x.example', timeoutMs: 400 })
    expect([words(v), one.net.dialled.length - dialled]).toEqual(['deferred own_limit unknown null', 0])
    expect(v.message).toMatch(message)
    expect(v.retryAfterMs! > 0 && v.retryAfterMs! <= retryAfterMs).toBe(true)
  })
  it('holds a question back when no connection is free before time is up', async () => {
    const one = lab(ONE, { [MX1]: { banner: '!silence' } })
    const busy = Array.from({ length: 20 }, (_, i) => ask(one, { email: `u${i}@x.example`, timeoutMs: 300 }))
    const v = await ask(one, { email: 'last@x.example', timeoutMs: 100 })
    expect([words(v), v.retryAfterMs, one.net.dialled.length]).toEqual(['deferred own_limit unknown null', 30_000, 20])
    await Promise.all(busy)
  })
  it('never asks a denied domain', async () => {
    const one = lab(ONE, { [MX1]: TAKES }, { deny: [domain('x.example')] })
    await expect(ask(one)).rejects.toMatchObject({ code: 'forbidden' })
    expect(one.asked).toEqual([])
  })
  it('tells a closed port 25 from a dead host', async () => {
    const zone: LabZone = Object.fromEntries(
      ['45.53.5.1', '46.53.5.1', '47.53.5.1'].map((a, i) => [`x${i}.example`, { A: [a] }]),
    )
    const dead = Object.fromEntries(
      ['45.53.5.1', '46.53.5.1', '47.53.5.1'].map((a) => [a, { connect: 'timeout' as const }]),
    )
    const one = lab(zone, dead)
    const reasons = []
    for (const i of [0, 1, 2]) reasons.push((await ask(one, { email: `a@x${i}.example` })).reason)
    expect(reasons).toEqual(['connect_timeout', 'connect_timeout', 'port25_blocked'])
  })
})

describe('side data', () => {
  it.each<[string, Partial<VerifyInput>, object]>([
    ['info@x.example', {}, { isRole: false, role: '', checked: [] }], // a flag that is off looks at nothing
    ['info@x.example', { role: true }, { isRole: true, role: 'info', checked: ['role'] }],
    ['a@x.example', { role: true, free: true }, { isRole: false, role: '', free: false, checked: ['free', 'role'] }],
    ['a@gmial.com', { suggestion: true }, { suggestion: 'gmail.com', checked: ['suggestion'] }],
    [
      'a@gmail.com',
      { suggestion: true, free: true, disposable: true },
      { suggestion: '', free: true, disposable: false },
    ],
    ['a@mailinator.com', { disposable: true }, { disposable: true }],
    ['nonsense', { disposable: true, suggestion: true }, { disposable: false, checked: [] }],
  ])('%s %j', async (address, flags, expected) => {
    const one = lab({ ...ONE, 'gmail.com': { MX: [[5, 'mx1.x.example']] } }, { [MX1]: TAKES })
    expect((await ask(one, { email: address, ...flags })).side).toMatchObject(expected)
  })
  it('suggests nothing that takes no mail, or of which that is unknown', async () => {
    for (const zone of [{}, { 'gmail.com': 'SERVFAIL' as const }, { 'gmail.com': { MX: [[0, '.'] as const] } }])
      expect((await ask(lab(zone, {}), { email: 'a@gmial.com', suggestion: true })).side.suggestion).toBe('')
  })
})

it('presents the main fields first, in order', async () => {
  const v = await ask(lab(ONE, { [MX1]: TAKES }))
  const shown = presentVerification(v, { trace: true })
  expect(Object.keys(shown).slice(0, 11)).toEqual([
    'email',
    'result',
    'code',
    'message',
    'mx_server',
    'disposable',
    'free',
    'ip_used',
    'is_role',
    'role',
    'suggestion',
  ])
  expect(shown).toMatchObject({
    email: 'a@x.example',
    result: 'accepted',
    code: 250,
    message: '2.1.5 Ok',
    observed_at: '2026-01-02T03:04:05.000Z',
  })
  const text = JSON.stringify(shown.transcript)
  expect(text).toContain('RCPT TO:<a@x.example>')
  expect(text).toMatch(/RCPT TO:<[a-z]\*\*\*@x\.example>/) // the made-up one is masked
  expect(presentVerification(v).transcript).toBeUndefined()
})
