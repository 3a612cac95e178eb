import { describe, expect, it } from 'vitest'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { DnsError, type RecordData } from '../../net/dns/resolver.ts'
import { tellArgs } from '../finding.ts'
import { findings } from './findings.ts'
import { contactOf, judgeSoa, lookupSoa, soa } from './index.ts'

const GOOD: RecordData['SOA'] = {
  mname: 'ns1.a.example',
  rname: 'hostmaster.a.example',
  serial: 2026010101,
  refresh: 14_400,
  retry: 3_600,
  expire: 1_209_600,
  minimum: 3_600,
}
const zone = (parts: Partial<RecordData['SOA']> = {}): LabZone => ({ 'a.example': { SOA: [{ ...GOOD, ...parts }] } })
const look = async (world: LabZone, name = 'a.example') => judgeSoa(await lookupSoa(labCtx(world), domain(name)))

const ROWS: [why: string, world: LabZone, status: string, ids: string[]][] = [
  ['good', zone(), 'pass', []],
  ['no zone', { 'a.example': { A: ['45.53.5.1'] } }, 'fail', ['soa.none']],
  ['no such domain, which the MX check says', {}, 'not_applicable', []],
  ['a primary that is no host', zone({ mname: '' }), 'warn', ['soa.primary']],
  ['an address as primary is no host name', zone({ mname: 'ns' }), 'warn', ['soa.primary']],
  ['a contact that is no mailbox', zone({ rname: '' }), 'warn', ['soa.contact']],
  ['a contact with an at sign', zone({ rname: 'x@a.example' }), 'warn', ['soa.contact']],
  ['retry over refresh', zone({ retry: 14_400 }), 'warn', ['soa.retry']],
  ['expire under a week', zone({ expire: 604_799 }), 'warn', ['soa.expire']],
  ['expire of a week', zone({ expire: 604_800 }), 'pass', []],
  ['negative answers over a day', zone({ minimum: 86_401 }), 'warn', ['soa.minimum']],
  [
    'the SOA behind a CNAME is of another zone',
    { 'a.example': { CNAME: ['b.example'] }, 'b.example': { SOA: [GOOD] } },
    'fail',
    ['soa.none'],
  ],
]

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, world, status, ids) => {
    const outcome = await look(world)
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
    for (const { id, args } of outcome.findings)
      expect(findings[id as keyof typeof findings].detail(tellArgs(args))).not.toMatch(/undefined|\[object/)
  })

  it('shows every finding of the table', () =>
    expect([...new Set(ROWS.flatMap(([, , , ids]) => ids))].toSorted()).toEqual(Object.keys(findings).toSorted()))

  it('finds the zone above a name', async () => {
    const outcome = await look({ ...zone(), 'b.a.example': { TXT: ['x'] } }, 'b.a.example')
    expect(outcome.facts?.zone).toBe('a.example')
  })

  it('does not guess past a name that could not be asked', () =>
    expect(look({ ...zone(), 'b.a.example': 'SERVFAIL' }, 'b.a.example')).rejects.toBeInstanceOf(DnsError))

  it('asks at most 4 names', async () => {
    const ctx = labCtx({})
    await lookupSoa(ctx, domain('a.b.c.d.e.f.a.example'))
    expect(ctx.asked).toEqual(['a.b.c.d.e.f.a.example SOA', 'e.f.a.example SOA', 'f.a.example SOA', 'a.example SOA'])
  })
})

it.each([
  ['hostmaster.a.example', 'hostmaster@a.example'],
  ['john\\.doe.a.example', 'john.doe@a.example'], // RFC 1035 §8
  ['nodots', undefined],
  ['.', undefined],
  ['', undefined],
])('the mailbox of %j is %s', (rname, mailbox) => expect(contactOf(rname)).toBe(mailbox))

it('presents', async () =>
  expect(soa.present(await look(zone()))).toMatchObject({
    primary: 'ns1.a.example',
    contact: 'hostmaster@a.example',
    serial: 2026010101,
  }))
