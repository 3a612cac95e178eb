import { describe, expect, it } from 'vitest'
import { createBlacklists } from '../../src/dnsbl/blacklists.ts'
import { DOMAIN_SET } from '../../src/dnsbl/domain-zones.ts'
import { TEST_POINTS } from '../../src/dnsbl/query.ts'
import { BUILT_IN_LISTS } from '../../src/dnsbl/zones.ts'
import { mergeGeo } from '../../src/geo/record.ts'
import { identity } from '../../src/mailbox/source/helo.ts'
import { createVerifier } from '../../src/mailbox/verify.ts'
import { verifiedSelectors } from '../../src/message/selectors.ts'
import { domain } from '../../src/names/domain.ts'
import { ip, reversed } from '../../src/names/ip.ts'
import { type AskServer, DnsError, type Resolve } from '../../src/net/dns/resolver.ts'
import type { Fetch } from '../../src/net/fetch.ts'
import { checkDomain } from '../../src/operations/check.ts'
import type { Deps } from '../../src/operations/deps.ts'
import { report } from '../../src/operations/report.ts'
import { answerTo } from '../lab/answer.ts'
import { type LabServer, labDial } from '../lab/dial.ts'
import { type LabZone, labDns } from '../lab/dns.ts'
import { askServerInWaves, dialInWaves, fetchInWaves, inWaves, waves } from '../lab/waves.ts'
import { labCtx } from '../lab/world.ts'

/**
 * How many round trips each question costs, counted and not timed (contributing/benchmarks.md has them on the clock).
 */
const MX1 = '45.53.5.1'
const LISTED = '45.53.5.9'
const KEY = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const SOA = {
  mname: 'ns1.rich.example',
  rname: 'h.rich.example',
  serial: 1,
  refresh: 14_400,
  retry: 3_600,
  expire: 1_209_600,
  minimum: 3_600,
}

const ZONE: LabZone = {
  example: { NS: ['ns.example'], SOA: [SOA] },
  'rich.example': {
    MX: [
      [10, 'mx.rich.example'],
      [20, 'mx2.rich.example'],
    ],
    A: ['45.53.5.80'],
    TXT: ['v=spf1 include:one.example mx -all'],
    NS: ['ns1.rich.example', 'ns2.rich.example'],
    SOA: [SOA],
    CAA: [{ critical: false, tag: 'issue', value: 'ca.example' }],
  },
  'mx.rich.example': { A: [MX1] },
  'mx2.rich.example': { A: ['45.53.5.2'], AAAA: ['2a00:1450::2'] },
  'ns1.rich.example': { A: ['45.53.6.1'] },
  'ns2.rich.example': { A: ['45.54.6.2'] },
  'one.example': { TXT: ['v=spf1 include:two.example ~all'] },
  'two.example': { TXT: ['v=spf1 ip4:45.53.5.0/24 a:host.example ~all'] },
  'host.example': { A: ['45.53.5.7'] },
  '_dmarc.rich.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:dmarc@reports.example'] },
  'rich.example._report._dmarc.reports.example': { TXT: ['v=DMARC1'] },
  'reports.example': { MX: [[10, 'mx.rich.example']] },
  's1._domainkey.rich.example': { TXT: [KEY] },
  '_mta-sts.rich.example': { TXT: ['v=STSv1; id=1'] },
  'mta-sts.rich.example': { A: ['45.53.5.90'] },
  '_smtp._tls.rich.example': { TXT: ['v=TLSRPTv1; rua=mailto:tls@rich.example'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['mx.rich.example'] },
  '2.5.53.45.in-addr.arpa': { PTR: ['mx2.rich.example'] },
  '99.1.53.45.in-addr.arpa': { PTR: ['out.sonde.example'] },
  'out.sonde.example': { A: ['45.53.1.99'] },
  'plain.example': { MX: [[10, 'mx.rich.example']], TXT: ['v=spf1 mx -all'], SOA: [SOA] },
  '_dmarc.plain.example': { TXT: ['v=DMARC1; p=reject'] },
  'bare.example': { A: ['45.53.5.80'] },
}
const POLICY = 'version: STSv1\nmode: enforce\nmx: *.rich.example\nmx: mx.rich.example\nmax_age: 1209600\n'
const fetch: Fetch = async (url) => ({ status: 200, contentType: 'text/plain', body: Buffer.from(POLICY), url })

/** All lists alive by their test points, and one address on two of them. */
const LISTS: LabZone = Object.fromEntries(
  BUILT_IN_LISTS.flatMap((list, n) => {
    const code = list.codes[0]!.code.replace(/-\d+$/, '')
    const positive = [`${TEST_POINTS[4].positive}.${list.zone}`, { A: [code] }] as const
    const listed = [`${reversed(ip(LISTED))}.${list.zone}`, { A: [code], TXT: ['for the test'] }] as const
    return n < 2 ? [positive, listed] : [positive]
  }),
)

const PLAIN: LabServer = { ehlo: ['PIPELINING'], rcpt: { 'user@rich.example': '250 2.1.5 Ok' } }
const SECURED: LabServer = { ...PLAIN, ehlo: ['PIPELINING', 'STARTTLS'] }

/** A network on which every answer takes one wait, cached by nobody. */
function network(servers: Readonly<Record<string, LabServer>> = {}) {
  const on = waves()
  const zone = labDns({ ...ZONE, ...LISTS })
  const askServer: AskServer = async (_, name, type, signal) => ({
    ...(await zone.resolve(name, type, signal)),
    authoritative: true,
  })
  const ctx = labCtx(
    {},
    {
      resolve: inWaves(zone.resolve, on).resolve,
      askServer: askServerInWaves(askServer, on),
      fetch: fetchInWaves(fetch, on),
      dial: dialInWaves(labDial(servers).dial, on),
    },
  )
  const deps = {
    blacklists: createBlacklists({ now: ctx.now, noCourtesy: true }),
    domainLists: createBlacklists({ now: ctx.now, noCourtesy: true, set: DOMAIN_SET }),
    verifiedSelectors: verifiedSelectors(),
    geo: async (address) => mergeGeo(address, []),
    heloName: identity(ctx, {}).heloName,
    sourcePool: { isConfigured: false },
    smtpPort: 25,
  } as Partial<Deps> as Deps
  Object.assign(deps, { acceptedHere: async () => new Map() })
  return { ctx, deps, waits: on.waits }
}

describe('check', () => {
  it.each([
    ['bare.example', 5], // the climb of DMARC to the top (RFC 9989 §4.10) beside the rest
    ['plain.example', 5],
    ['rich.example', 6], // the policy over HTTPS is five of them: TXT, address, connection, TLS, answer
  ])('%s waits at most %i times', async (name, most) => {
    const { ctx, deps, waits } = network()
    const answer = await checkDomain(ctx, deps, domain(name), { selectors: ['s1'] })
    expect(answer.complete).toBe(true)
    expect(waits()).toBeLessThanOrEqual(most)
  })
})

it('a check waits once for a resolver that does not answer, and says nothing firm', async () => {
  const { ctx, deps, waits } = network()
  const resolve: Resolve = async (name, type, signal) => {
    await ctx.resolve(name, type, signal)
    throw new DnsError('timeout', { name, type }, { server: '127.0.0.53:53' })
  }
  const answer = await checkDomain({ ...ctx, resolve }, deps, domain('rich.example'), { plan: true })
  expect(waits()).toBe(1)
  expect(answer).toMatchObject({ grade: null, status: 'unknown', plan: { steps: [] } })
  expect(answer.findings.map(({ severity }) => severity)).toEqual(['info'])
  expect(answer.dmarc.reason).toContain('127.0.0.53:53')
})

describe('blacklists', () => {
  it.each([
    ['45.53.5.10', 1, 'no list has it'],
    [LISTED, 2, 'the text of a listing is asked for when the listing is there'],
  ])('29 lists about %s: %i (%s)', async (address, expected) => {
    const { ctx, deps, waits } = network()
    await deps.blacklists.test(ctx)
    const before = waits()
    await deps.blacklists.lookup(ctx, ip(address))
    expect(waits() - before).toBe(expected)
  })

  it('the self-tests of the first question ever stand beside it', async () => {
    const { ctx, deps, waits } = network()
    await deps.blacklists.lookup(ctx, ip('45.53.5.10'))
    expect(waits()).toBe(1)
  })
})

describe('report', () => {
  it.each([
    ['rich.example', { [MX1]: PLAIN, '45.53.5.2': PLAIN, '2a00:1450::2': PLAIN }, 8],
    ['rich.example', { [MX1]: SECURED, '45.53.5.2': SECURED, '2a00:1450::2': SECURED }, 9], // the plan asks once more: whether a wildcard answers for a record that it changes
  ])('%s, mail hosts %j: at most %i', async (name, servers, most) => {
    const { ctx, deps, waits } = network(servers)
    await answerTo(report, ctx, deps, { domain: name })
    expect(waits()).toBeLessThanOrEqual(most)
  })
})

describe('verify', () => {
  it.each([
    ['without TLS', PLAIN, 'user', 7], // MX, address, connection, greeting, EHLO, MAIL and RCPT, RCPT of a made-up name
    ['without TLS, no such mailbox', PLAIN, 'nobody', 6], // nothing is made up behind a refusal
    ['with TLS 1.3', SECURED, 'user', 10], // STARTTLS, handshake, EHLO
    ['without pipelining', { ...PLAIN, ehlo: [] }, 'user', 8], // MAIL and RCPT are two (RFC 2920)
  ])('%s: %s', async (_, server, local, expected) => {
    const { ctx, waits } = network({ [MX1]: server, '45.53.5.2': server })
    const verifier = createVerifier(ctx, { noCourtesy: true })
    const { reason } = await verifier.verify(ctx, { email: `${local}@rich.example` })
    expect(reason).toBe(local === 'user' ? 'mailbox_exists' : 'mailbox_not_found')
    expect(waits()).toBe(expected)
    await verifier.close()
  })
})
