import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { corpus } from '../../test/lab/corpora.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { DnsError } from '../net/dns/resolver.ts'
import { lookupMailHosts, type MailHosts, orderMailHosts } from './mailhosts.ts'

const find = (zone: LabZone): Promise<MailHosts> => lookupMailHosts(labCtx(zone), 'a.example')
const brief = ({ kind, exists, hosts }: MailHosts) => [
  kind,
  exists,
  ...hosts.map((host) => `${host.preference} ${host.exchange} ${host.addresses.join(' ')}`.trim()),
]
const MX = { A: ['45.53.5.1'] }

describe('where the mail goes', () => {
  it.each<[string, LabZone, unknown[]]>([
    [
      'one host',
      { 'a.example': { MX: [[10, 'mx.a.example']] }, 'mx.a.example': MX },
      ['explicit', true, '10 mx.a.example 45.53.5.1'],
    ],
    [
      'by preference, not by order of the answer',
      {
        'a.example': {
          MX: [
            [20, 'b.example'],
            [5, 'mx.a.example'],
          ],
        },
        'mx.a.example': MX,
        'b.example': {},
      },
      ['explicit', true, '5 mx.a.example 45.53.5.1', '20 b.example'],
    ],
    [
      'IPv4 and IPv6',
      { 'a.example': { MX: [[0, 'mx.a.example']] }, 'mx.a.example': { ...MX, AAAA: ['2001:db8::1'] } },
      ['explicit', true, '0 mx.a.example 45.53.5.1 2001:db8::1'],
    ],
    ['null MX, RFC 7505 §3', { 'a.example': { MX: [[0, '.']], ...MX } }, ['null', true]],
    ['null MX with another preference is meant so too', { 'a.example': { MX: [[10, '.']] } }, ['null', true]],
    [
      'null MX beside others means nothing, RFC 7505 §3',
      {
        'a.example': {
          MX: [
            [0, '.'],
            [10, 'mx.a.example'],
          ],
        },
        'mx.a.example': MX,
      },
      ['explicit', true, '10 mx.a.example 45.53.5.1'],
    ],
    ['implicit MX, RFC 5321 §5.1', { 'a.example': MX }, ['implicit', true, '0 a.example 45.53.5.1']],
    [
      'implicit MX over IPv6',
      { 'a.example': { AAAA: ['2001:db8::1'] } },
      ['implicit', true, '0 a.example 2001:db8::1'],
    ],
    [
      'implicit MX though one family is silent',
      { 'a.example': { ...MX, AAAA: 'TIMEOUT' } },
      ['implicit', true, '0 a.example 45.53.5.1'],
    ],
    [
      'an MX without address is no reason for an implicit MX, RFC 5321 §5.1',
      { 'a.example': { ...MX, MX: [[10, 'gone.example']] } },
      ['explicit', true, '10 gone.example'],
    ],
    ['a name without anything', { 'a.example': { TXT: ['x'] } }, ['none', true]],
    ['an empty non-terminal exists', { 'b.a.example': { TXT: ['x'] } }, ['none', true]],
    ['no such domain', {}, ['none', false]],
    [
      'a CNAME that leads nowhere exists itself, RFC 6604 §3',
      { 'a.example': { CNAME: ['gone.example'] } },
      ['none', true],
    ],
    [
      'the domain is a CNAME',
      { 'a.example': { CNAME: ['b.example'] }, 'b.example': { MX: [[1, 'mx.b.example']] }, 'mx.b.example': MX },
      ['explicit', true, '1 mx.b.example 45.53.5.1'],
    ],
    [
      'one host twice counts once, with its best preference',
      {
        'a.example': {
          MX: [
            [20, 'mx.a.example'],
            [10, 'MX.a.example.'],
          ],
        },
        'mx.a.example': MX,
      },
      ['explicit', true, '10 mx.a.example 45.53.5.1'],
    ],
  ])('%s', async (_why, zone, expected) => expect(brief(await find(zone))).toEqual(expected))

  it('tells what a host answered, family by family', async () => {
    const { hosts } = await find({
      'a.example': {
        MX: [
          [1, 'silent.example'],
          [2, 'gone.example'],
          [3, 'alias.example'],
          [4, '45.53.5.9'],
          [5, 'v4.example'],
        ],
      },
      'silent.example': { A: 'SERVFAIL', AAAA: ['2001:db8::1'] },
      'alias.example': { CNAME: ['v4.example'] },
      'v4.example': MX,
    })
    expect(
      hosts.map(({ answers, cname, literal, errors }) => [
        answers.A,
        answers.AAAA,
        cname[0],
        literal,
        errors.A?.reason,
      ]),
    ).toEqual([
      ['unknown', 'found', undefined, undefined, 'servfail'],
      ['nxdomain', 'nxdomain', undefined, undefined, undefined],
      ['found', 'nodata', 'v4.example', undefined, undefined],
      ['not_asked', 'not_asked', undefined, '45.53.5.9', undefined],
      ['found', 'nodata', undefined, undefined, undefined],
    ])
  })

  it('names duplicates and a null MX beside others', async () => {
    const found = await find({
      'a.example': {
        MX: [
          [0, '.'],
          [1, 'm.example'],
          [2, 'm.example'],
          [3, 'n.example'],
        ],
      },
    })
    expect([found.nullBesideOthers, found.duplicates, found.records.length]).toEqual([true, ['m.example'], 4])
  })
})

describe('what could not be asked', () => {
  it.each<[string, LabZone]>([
    ['MX itself', { 'a.example': { MX: 'SERVFAIL', A: ['45.53.5.1'] } }],
    ['no MX, and the addresses stay unanswered', { 'a.example': { A: 'TIMEOUT' } }],
    ['no MX, one family empty and one unanswered', { 'a.example': { AAAA: 'SERVFAIL' } }],
  ])('rejects: %s', async (_why, zone) => {
    await expect(find(zone)).rejects.toBeInstanceOf(DnsError)
  })
})

describe('bounds', () => {
  it('asks about 20 of 100 hosts, and keeps 20 of 30 addresses', async () => {
    const many = Array.from({ length: 100 }, (_, i) => [i, `m${i}.example`] as const)
    const ctx = labCtx({
      'a.example': { MX: many },
      'm0.example': { A: Array.from({ length: 30 }, (_, i) => `45.53.5.${i}`) },
    })
    const found = await lookupMailHosts(ctx, 'a.example')
    expect([found.hosts.length, found.truncated, ctx.asked.length]).toEqual([20, 80, 41])
    expect([found.hosts[0]!.addresses.length, found.hosts[0]!.addressesLeftOut]).toEqual([20, 10])
  })

  it('asks nothing more about a null MX or a domain that does not exist', async () => {
    const ctx = labCtx({ 'a.example': { MX: [[0, '.']] } })
    await lookupMailHosts(ctx, 'a.example')
    await lookupMailHosts(ctx, 'b.example')
    expect(ctx.asked).toEqual(['a.example MX', 'b.example MX'])
  })
})

describe('order for delivery', () => {
  it('is by preference, and holds every host once', () =>
    fc.assert(
      fc.property(
        fc.array(fc.nat(3)),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1 }),
        (preferences, chances) => {
          const hosts = preferences.map((preference, id) => ({ preference, id }))
          let at = 0
          const ordered = orderMailHosts(hosts, () => chances[at++ % chances.length]!)
          expect(ordered.map((host) => host.preference)).toEqual(preferences.toSorted((a, b) => a - b))
          expect(new Set(ordered).size).toBe(hosts.length)
        },
      ),
    ))

  it('shuffles equal ones, RFC 5321 §5.1', () => {
    const hosts = ['a', 'b', 'c'].map((id) => ({ id, preference: 1 }))
    const orders = [0, 0.5, 0.99].map((chance) =>
      orderMailHosts(hosts, () => chance)
        .map((host) => host.id)
        .join(''),
    )
    expect(new Set(orders).size).toBe(3)
  })
})

type Case = {
  domain: string
  zone: LabZone
  hosts: [number, string][] | null
  effective_domain: string | null
  id: string
}
/** The source only gathers names; here an address is looked for, so a name that leads nowhere has no host. */
const NO_HOST: Record<string, string> = {
  'mox-mx/danglingcname.example':
    'the CNAME target does not exist: there is no address for an implicit MX, RFC 5321 §5.1',
  'mox-mx/cnamelimit1.example': 'a chain of exactly 16 links is still followed here; its end does not exist',
}
describe.runIf(corpus('dns/mx-lookup.json'))('corpus dns/mx-lookup', () => {
  it.each((corpus('dns/mx-lookup.json')?.cases ?? []) as Case[])('$domain', async (row) => {
    const found = await lookupMailHosts(labCtx(row.zone), row.domain)
    if (NO_HOST[row.id]) return expect([found.kind, found.hosts]).toEqual(['none', []])
    const implicit = found.kind === 'implicit'
    expect(found.hosts.map((host) => [implicit ? -1 : host.preference, host.exchange])).toEqual(row.hosts)
    expect(found.cname.at(-1) ?? row.domain).toBe(row.effective_domain)
  })
})
