import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LabNode, LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import type { DnsRecord } from '../checks/check.ts'
import { dmarc, publishedPolicyOf } from '../checks/dmarc/index.ts'
import { harmOf } from '../checks/harmless.ts'
import { type CheckKey, judgeFacts, lookupFacts } from '../checks/run.ts'
import { checkHost } from '../checks/spf/index.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { repeatable } from './context.ts'
import { judgeDomain } from './judge-domain.ts'

const A = domain('a.example')
const HOSTS: LabZone = {
  'm.a.example': { A: ['45.53.5.1'] },
  'b.example': { TXT: ['v=spf1 ip4:45.53.8.0/24 ~all'] },
  'c.example': { TXT: ['v=spf1 include:b.example ip4:45.53.9.9 -all'] },
  'loop.example': { TXT: ['v=spf1 include:loop.example -all'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['m.a.example'] },
}
/** Addresses in and beside every network of the zones. */
const ADDRESSES = ['45.53.5.1', '45.53.5.2', '45.53.6.7', '45.53.7.7', '45.53.8.8', '45.53.9.9', '8.8.8.8'].map(ip)

const published = (zone: LabZone, { name, rtype, value }: DnsRecord): LabZone => {
  const [preference, exchange] = value.split(' ')
  const data = rtype === 'MX' ? [Number(preference), exchange!] : value
  return { ...zone, [name]: { ...((zone[name] ?? {}) as LabNode), [rtype]: [data] } as LabNode }
}

async function situation(zone: LabZone) {
  const facts = await lookupFacts(labCtx(zone), A, {})
  return { facts, context: judgeFacts(facts).context }
}

const MX = { MX: [[10, 'm.a.example']] } as const
const NULL_MX = { MX: [[0, '.']] } as const
const txt = (text: string) => ({ TXT: [text] })

describe('a fix that does harm', () => {
  it.each<[string, LabZone, DnsRecord, RegExp | undefined, CheckKey]>([
    [
      'a sender is lost',
      { 'a.example': { ...MX, ...txt('v=spf1 ip4:45.53.7.7 mx -all') } },
      { name: 'a.example', rtype: 'TXT', value: 'v=spf1 mx -all' },
      /refuse mail/,
      'spf',
    ],
    [
      'all senders are kept',
      { 'a.example': { ...MX, ...txt('v=spf1 ip4:45.53.7.7 mx ?all') } },
      { name: 'a.example', rtype: 'TXT', value: 'v=spf1 ip4:45.53.7.7 mx ~all' },
      undefined,
      'spf',
    ],
    [
      'two steps at once',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') }, '_dmarc.a.example': txt('v=DMARC1; p=none') },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=reject' },
      /refuse mail/,
      'dmarc',
    ],
    [
      'one step',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') }, '_dmarc.a.example': txt('v=DMARC1; p=none') },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=quarantine' },
      undefined,
      'dmarc',
    ],
    [
      'a share of the mail becomes all of it',
      { 'a.example': MX, '_dmarc.a.example': txt('v=DMARC1; p=quarantine; pct=10') },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=quarantine' },
      /refuse mail/,
      'dmarc',
    ],
    [
      'a parked domain may refuse all at once',
      { 'a.example': { ...NULL_MX, ...txt('v=spf1 -all') } },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=reject' },
      undefined,
      'dmarc',
    ],
    [
      'mail no longer arrives',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') } },
      { name: 'a.example', rtype: 'MX', value: '0 .' },
      /arrive/,
      'mx',
    ],
    [
      'nothing arrives today either',
      { 'a.example': txt('v=spf1 ip4:45.53.7.7 -all') },
      { name: 'a.example', rtype: 'MX', value: '0 .' },
      undefined,
      'mx',
    ],
    [
      'reports to a domain that takes no mail',
      {
        'a.example': { ...NULL_MX, ...txt('v=spf1 ip4:45.53.7.7 -all') },
        '_dmarc.a.example': txt('v=DMARC1; p=reject'),
      },
      { name: '_dmarc.a.example', rtype: 'TXT', value: 'v=DMARC1; p=reject; rua=mailto:d@a.example' },
      /reports/,
      'dmarc',
    ],
    [
      'the PTR record of an MX host of one’s own',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') } },
      { name: '1.5.53.45.in-addr.arpa', rtype: 'PTR', value: 'm.a.example.' },
      undefined,
      'ptr',
    ],
    [
      'the PTR record of an address that no MX host has',
      { 'a.example': { ...MX, ...txt('v=spf1 mx -all') } },
      { name: '9.9.53.45.in-addr.arpa', rtype: 'PTR', value: 'm.a.example.' },
      /PTR/,
      'ptr',
    ],
    [
      'the PTR record of a provider',
      { 'a.example': { MX: [[10, 'smtp.google.com']] }, 'smtp.google.com': { A: ['45.53.5.1'] } },
      { name: '1.5.53.45.in-addr.arpa', rtype: 'PTR', value: 'smtp.google.com.' },
      /PTR/,
      'ptr',
    ],
  ])('%s', async (_why, zone, fix, harm, key) => {
    const before = await situation({ ...HOSTS, ...zone })
    const after = await situation(published({ ...HOSTS, ...zone }, fix))
    const found = harmOf({ key, fix, before, after })
    if (harm) expect(found).toMatch(harm)
    else expect(found).toBe(undefined)
  })
})

const TERMS = [
  'ip4:45.53.5.1',
  'ip4:45.53.6.0/24',
  'a',
  'mx',
  'ptr',
  'include:b.example',
  'include:c.example',
  'include:gone.example',
  'include:loop.example',
  'exists:%{i}.x.example',
  'ip4:0.0.0.0/1',
  'ip4:128.0.0.0/1',
  '-ip4:45.53.8.8',
  'ipv4:45.53.7.7',
]
const spfText = fc
  .tuple(
    fc.shuffledSubarray(TERMS, { maxLength: 5 }),
    fc.constantFrom('-all', '~all', '?all', '+all', 'redirect=c.example', ''),
  )
  .chain(([terms, end]) =>
    fc.constantFrom(' ', '  ', '\t', '\u00a0').map((space) => ['v=spf1', ...terms, end].filter(Boolean).join(space)),
  )
const dmarcText = fc
  .record({
    p: fc.constantFrom('p=none', 'p=quarantine', 'p=reject', 'p=block', ''),
    sp: fc.constantFrom('', 'sp=none', 'sp=reject'),
    pct: fc.constantFrom('', 'pct=0', 'pct=10', 'pct=100'),
    t: fc.constantFrom('', 't=y'),
    rua: fc.constantFrom('', 'rua=mailto:d@a.example', 'rua=d@a.example', 'rua=mailto:d@b.test'),
    space: fc.constantFrom('; ', ';', ';\u00a0', ';; '),
  })
  .map(({ space, ...tags }) => ['v=DMARC1', ...Object.values(tags).filter(Boolean)].join(space))
const anyZone: fc.Arbitrary<LabZone> = fc
  .record({
    spf: fc.array(spfText, { maxLength: 2 }),
    dmarc: fc.array(dmarcText, { maxLength: 2 }),
    mail: fc.constantFrom<LabNode>(MX, NULL_MX, { A: ['45.53.7.7'] }, {}, { MX: [[10, 'gone.example']] }),
  })
  .map(({ spf, dmarc: texts, mail }) => ({
    ...HOSTS,
    'a.example': { ...mail, TXT: spf },
    ...(texts.length > 0 ? { '_dmarc.a.example': { TXT: texts } } : {}),
  }))

const RANK = { none: 0, quarantine: 1, reject: 2 } as const
const passersIn = async (zone: LabZone) => {
  const results = await Promise.all(
    ADDRESSES.map((address) => checkHost(labCtx(zone), { ip: address, sender: 'x@a.example', helo: 'x.example' })),
  )
  return ADDRESSES.filter((_, i) => results[i]!.result === 'pass')
}
const policyIn = async (zone: LabZone): Promise<keyof typeof RANK> => {
  const published = publishedPolicyOf(await dmarc.lookup(labCtx(zone), A, {}))
  return published.kind === 'policy' ? published.effective : 'none'
}

it('no fix that is offered does harm', () =>
  fc.assert(
    fc.asyncProperty(anyZone, async (zone) => {
      const { outcomes, context, score } = await judgeDomain(repeatable(labCtx(zone)), A, {})
      const everybody = outcomes.spf.facts?.reading?.extent.everybody === true
      for (const { fix, gain } of Object.values(outcomes).flatMap(({ findings }) => findings)) {
        if (!fix) continue
        const then = published(zone, fix)
        const after = await judgeDomain(repeatable(labCtx(then)), A, {})
        expect([fix.value, after.score.score - score.score]).toEqual([fix.value, gain])
        if (!everybody) expect(await passersIn(then)).toEqual(expect.arrayContaining(await passersIn(zone)))
        const [was, is] = [RANK[await policyIn(zone)], RANK[await policyIn(then)]]
        if (context.role !== 'parked') expect(is).toBeLessThanOrEqual(Math.max(was, RANK.quarantine))
        if (context.takes === false && !JSON.stringify(zone).includes('@a.example'))
          expect(fix.value).not.toContain('@a.example')
      }
    }),
    { numRuns: 150 },
  ))
