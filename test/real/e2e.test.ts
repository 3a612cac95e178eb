import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SOURCES } from './addresses.ts'
import { cli, type Program, startProgram } from './program.ts'
import { CLEAN, LISTED, LISTED_ON, LISTS, REFUSING_LIST } from './rbl/lists.ts'
import { DOMAINS, labDomain } from './world.ts'

/** The program on real servers, each question through HTTP and on the command line: both must give the same. */
let program: Program
beforeAll(async () => {
  program = await startProgram()
})
afterAll(async () => void (await program?.stop()))

type Flags = Readonly<Record<string, string>>
type Adapter = readonly [
  name: string,
  ask: (operation: string, place: string, input: string, flags?: Flags) => Promise<unknown>,
]

const adapters: readonly Adapter[] = [
  [
    'HTTP',
    async (operation, place, input, flags = {}) => {
      const got = await program.get(`/v1/${operation}?${new URLSearchParams({ [place]: input, ...flags })}`)
      expect(got.status, JSON.stringify(got.body)).toBe(200)
      return got.body
    },
  ],
  [
    'command line',
    async (operation, _, input, flags = {}) => {
      const switches = Object.entries(flags).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, value])
      const ran = await cli(operation, input, ...switches)
      expect(ran.body, `exit status ${ran.code}: ${ran.stderr}`).toBeTypeOf('object')
      return ran.body
    },
  ],
]

describe.each(adapters)('verify over %s', (_, ask) => {
  const verify = (email: string, flags?: Flags) => ask('verify', 'email', email, flags)
  const told = (domain: string) =>
    labDomain(domain).mailboxes.map((row) => ({ ...row, email: `${row.local}@${domain}` }))

  it.each(
    [
      'accept',
      'catchall',
      'full',
      'overquota',
      'relay',
      'nullmx',
      'implicit',
      'disabled',
      'tempfail',
      'blocked',
    ].flatMap((name) => told(`${name}.test`)),
  )('$email: $result, $reason', async ({ email, result, reason, code }) => {
    expect(await verify(email)).toMatchObject({ email, result, reason, code })
  })

  it('greylisted, with the time to wait', async () => {
    // A source of its own: postgrey remembers who came before.
    const seen = await verify('user@grey.test', { bind_ip: _ === 'HTTP' ? '45.53.1.81' : '45.53.2.81' })
    expect(seen).toMatchObject({ result: 'deferred', reason: 'greylisted', code: 450 })
  })

  it.each(['banner.test', 'rcpt.test'])('%s refuses one source address and not the other', async (domain) => {
    const from = (bind_ip: string) => verify(`user@${domain}`, { bind_ip })
    const refused = { result: 'blocked', reason: 'source_blocked', code: 554, ip_used: SOURCES.refused }
    expect(await from(SOURCES.refused)).toMatchObject({ ...refused, deliverability: 'unknown' })
    expect(await from(SOURCES.allowed)).toMatchObject({ result: 'accepted', ip_used: SOURCES.allowed })
  })

  it('a dead host, then the second MX', async () => {
    expect(await verify('user@deadfirst.test')).toMatchObject({
      result: 'accepted',
      mx_server: 'mx.deadfirst.test',
      mx_tried: ['first.deadfirst.test', 'mx.deadfirst.test'],
    })
  })

  it.each(['refusedfirst.test', 'busyfirst.test'])('%s: the second MX after the first', async (domain) => {
    expect(await verify(`user@${domain}`)).toMatchObject({ result: 'accepted', mx_server: `mx.${domain}` })
  })

  it('a silent server is ended by timeout=3s', async () => {
    const began = performance.now()
    const seen = await verify('user@silent.test', { timeout: '3s' })
    expect(seen).toMatchObject({ result: 'unreachable', reason: expect.stringMatching(/^(?:connect_)?timeout$/) })
    // The deadline is what is tested: the rest is the start of a process on a busy machine.
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  it.each([
    ['servfail.test', 'dns_failure'],
    ['bogus.test', 'dns_failure'],
  ])('%s: the DNS did not answer, the mailbox is not to blame', async (domain, reason) => {
    expect(await verify(`user@${domain}`)).toMatchObject({ result: 'unreachable', reason, deliverability: 'unknown' })
  })

  it('a domain that does not exist', async () => {
    expect(await verify('user@missing.test')).toMatchObject({ result: 'rejected', reason: 'domain_not_found' })
  })

  it('hosts in private networks are not dialled', async () => {
    expect(await verify('user@loopback.test')).toMatchObject({ result: 'unreachable', reason: 'unsafe_address' })
  })
})

describe.each(adapters)('blacklist over %s', (_, ask) => {
  const results = (listed: readonly string[], address: string) =>
    LISTS.map((list) => ({
      zone: list.zone,
      listed: listed.includes(list.zone),
      status: list.zone === REFUSING_LIST ? 'blocked' : listed.includes(list.zone) ? 'listed' : 'not_listed',
      ...(address === LISTED && LISTED_ON[list.zone] && { txt: expect.stringContaining(`why?ip=${LISTED}`) }),
    }))

  it(`${LISTED} is on some of the 29, one list refuses us`, async () => {
    const on = Object.keys(LISTED_ON)
    expect(await ask('blacklist', 'ip', LISTED)).toMatchObject({
      ip: LISTED,
      total: 29,
      listed: on.length,
      answered: 28,
      verdict: 'listed',
      results: results(on, LISTED),
    })
  })

  it(`${CLEAN} is on none, and a refusal is not a listing`, async () => {
    expect(await ask('blacklist', 'ip', CLEAN)).toMatchObject({
      total: 29,
      listed: 0,
      answered: 28,
      verdict: 'incomplete',
      results: results([], CLEAN),
    })
  })
})

describe.each(adapters)('check over %s', (_, ask) => {
  const check = (domain: string) => ask('check', 'domain', domain)

  it('healthy.test has nothing to lose', async () => {
    expect(await check('healthy.test')).toMatchObject({
      score: 100,
      grade: 'A+',
      spf: { valid: true, record: 'v=spf1 mx -all' },
      dkim: { valid: true },
      dmarc: { valid: true, policy: 'reject' },
      mx: [
        { host: 'mx.danegood.test', priority: 10 },
        { host: 'mx.danesecond.test', priority: 20 },
      ],
      ptr: { valid: true },
    })
  })

  it.each([
    ['parked.test', { score: 96, mx: [], mx_kind: 'null' }], // no rua: -2 of 55
    ['abandoned.test', { score: 5, mx_kind: 'implicit' }],
    ['implicit.test', { mx_kind: 'implicit', mx: [{ host: 'implicit.test', priority: 0 }] }],
    ['neglected.test', { spf: { valid: false, status: 'fail' }, dmarc: { policy: 'none' } }],
    ['wildcard.test', { dkim: { wildcard: true } }],
    ['truncated.test', { spf: { valid: true }, dmarc: { valid: true } }],
  ])('%s', async (domain, facts) => {
    expect(await check(domain)).toMatchObject(facts)
  })

  it.each(['servfail.test', 'bogus.test', 'expired.test', 'lame.test'])('%s is unknown, not absent', async (domain) => {
    expect(await check(domain)).toMatchObject({
      complete: false,
      spf: { valid: false, status: 'unknown', reason: expect.any(String) },
      dmarc: { valid: false, status: 'unknown' },
      dkim: { valid: false, status: 'unknown' },
      mx: [],
      mx_status: 'unknown',
    })
  })
})

describe('policies and signatures, over HTTP', () => {
  const check = async (domain: string) => (await program.get(`/v1/check?domain=${domain}&timeout=8s`)).body

  it.each([
    ['stsgood.test', true, 'pass'],
    ['stsother.test', true, 'fail'], // the policy leaves the MX out
    ['ststesting.test', true, 'warn'],
    ['stswrongname.test', false, 'warn'],
    ['stsexpired.test', false, 'warn'],
    ['stsself.test', false, 'warn'],
    ['stsredirect.test', false, 'warn'], // RFC 8461 §3.3: never followed
    ['stsbig.test', false, 'warn'],
    ['stsbomb.test', false, 'warn'],
    ['stsmissing.test', false, 'warn'],
    ['stsbroken.test', false, 'fail'],
  ])('%s: policy valid %s, %s', async (domain, valid, status) => {
    expect(await check(domain)).toMatchObject({ mta_sts: { valid, status } })
  })

  it.each([
    ['signed.test', { signed: true, validated: true, bogus: false }],
    ['insecure.test', { signed: false, validated: false, bogus: false }],
    ['bogus.test', { validated: false, bogus: true }],
    ['expired.test', { validated: false, bogus: true }],
  ])('%s: %o', async (domain, dnssec) => {
    expect(await check(domain)).toMatchObject({ dnssec })
  })
})

describe('every mail host of the table, over HTTP', () => {
  // These have tests of their own above, or another answer each time they are asked.
  const apart = ['grey.test', 'rate.test']
  const rows = DOMAINS.filter((domain) => !apart.includes(domain.name)).flatMap((domain) =>
    domain.mailboxes.map((mailbox) => ({ ...mailbox, email: `${mailbox.local}@${domain.name}`, shows: domain.shows })),
  )
  // Most of them wait: some at a time.
  it.concurrent.each(rows)('$email ($shows): $result, $reason', async ({ email, result, reason, code }) => {
    const got = await program.get(`/v1/verify?${new URLSearchParams({ email, timeout: '8s' })}`)
    expect(got.body).toMatchObject({ result, reason, code })
  })

  it('a client without a PTR record is refused for that, and only where it is asked for', async () => {
    const from = async (bind_ip: string) =>
      (await program.get(`/v1/verify?${new URLSearchParams({ email: 'user@ptrneeded.test', bind_ip })}`)).body
    expect(await from(SOURCES.nameless)).toMatchObject({ result: 'blocked', reason: 'reverse_dns_required' })
    expect(await from(SOURCES.allowed)).toMatchObject({ result: 'accepted' })
  })

  it('over IPv6, refused by address there too', async () => {
    const from = async (bind_ip: string) =>
      (await program.get(`/v1/verify?${new URLSearchParams({ email: 'user@rcpt.test', bind_ip })}`)).body
    expect(await from(SOURCES.refused6)).toMatchObject({ result: 'blocked', reason: 'source_blocked' })
    expect(await from(SOURCES.allowed6)).toMatchObject({ result: 'accepted', ip_used: SOURCES.allowed6 })
  })
})

describe('faults of the outside are answers, never errors of ours', () => {
  it.concurrent.each(DOMAINS.map((domain) => domain.name))('check %s', async (domain) => {
    expect((await program.get(`/v1/check?domain=${domain}&timeout=6s`)).status).toBe(200)
  })
})
