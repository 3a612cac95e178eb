import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../../test/lab/dns.ts'
import { type OverlayChange, type OverlayRecord, overlay } from './overlay.ts'
import { type Answer, DnsError, type RecordType } from './resolver.ts'

const signal = AbortSignal.timeout(10_000)
const txt = (name: string, data: string): OverlayRecord => ({ name, type: 'TXT', data })
const cname = (name: string, data: string): OverlayRecord => ({ name, type: 'CNAME', data })

describe('judges as if', () => {
  it.each<[string, LabZone, OverlayChange[], string, string, unknown[]]>([
    ['a record is added', {}, [txt('a.example', 'x')], 'a.example', 'found', ['x']],
    ['the name is compared without case and trailing dot', {}, [txt('A.Example.', 'x')], 'a.EXAMPLE.', 'found', ['x']],
    [
      'several records of one name and type stand together',
      {},
      [txt('a.example', 'x'), txt('a.example', 'y')],
      'a.example',
      'found',
      ['x', 'y'],
    ],
    [
      'published ones of that name and type are replaced',
      { 'a.example': { TXT: ['v=spf1 -all'] } },
      [txt('a.example', 'v=spf1 mx -all')],
      'a.example',
      'found',
      ['v=spf1 mx -all'],
    ],
    [
      'of TXT only those of the same kind',
      { 'a.example': { TXT: ['"v=spf1 a" ', 'google-site-verification=x', 'google-site-verification=y'] } },
      [txt('a.example', 'v=spf1 mx -all')],
      'a.example',
      'found',
      ['google-site-verification=x', 'google-site-verification=y', 'v=spf1 mx -all'],
    ],
    [
      'at _dmarc all texts are of one kind',
      { '_dmarc.a.example': { TXT: ['v=spf1 -all', 'p=none'] } },
      [txt('_dmarc.a.example', 'v=DMARC1; p=none')],
      '_dmarc.a.example',
      'found',
      ['v=DMARC1; p=none'],
    ],
    [
      'a removed record is gone, the others stay',
      { 'a.example': { TXT: ['v=spf1 -all', 'x=1'] } },
      [{ name: 'a.example', type: 'TXT', data: 'v=spf1 -all', remove: true }],
      'a.example',
      'found',
      ['x=1'],
    ],
    [
      'a removal without data is of all records of the type',
      { 'a.example': { TXT: ['v=spf1 -all', 'x=1'] } },
      [{ name: 'a.example', type: 'TXT', remove: true }],
      'a.example',
      'nodata',
      [],
    ],
    [
      'nothing is removed where nothing answers',
      { 'a.example': 'SERVFAIL' },
      [{ name: 'a.example', type: 'TXT', remove: true }, txt('a.example', 'x')],
      'a.example',
      'found',
      ['x'],
    ],
    [
      'a fault there is replaced too',
      { 'a.example': 'SERVFAIL' },
      [txt('a.example', 'new')],
      'a.example',
      'found',
      ['new'],
    ],
    [
      'other types of the name stay',
      { 'a.example': { TXT: ['old'] } },
      [{ name: 'a.example', type: 'A', data: '45.53.5.1' as never }],
      'a.example',
      'found',
      ['old'],
    ],
    [
      'a name with another type exists',
      {},
      [{ name: 'a.example', type: 'A', data: '45.53.5.1' as never }],
      'a.example',
      'nodata',
      [],
    ],
    ['names above exist, RFC 8020', {}, [txt('b.a.example', 'x')], 'a.example', 'nodata', []],
    ['names below do not', {}, [txt('a.example', 'x')], 'b.a.example', 'nxdomain', []],
    ['other names are asked', { 'b.example': { TXT: ['b'] } }, [txt('a.example', 'x')], 'b.example', 'found', ['b']],
    [
      'an overlaid CNAME leads to what is published',
      { 'b.example': { TXT: ['b'] } },
      [cname('a.example', 'b.example')],
      'a.example',
      'found',
      ['b'],
    ],
    [
      'an overlaid CNAME takes the place of a text that is removed',
      { 'a.example': { TXT: ['b.example'] }, 'b.example': { TXT: ['x'] } },
      [{ name: 'a.example', type: 'TXT', remove: true, data: 'b.example' }, cname('a.example', 'b.example')],
      'a.example',
      'found',
      ['x'],
    ],
    [
      'an overlaid CNAME stands alone',
      { 'a.example': { TXT: ['old'] } },
      [cname('a.example', 'gone.example')],
      'a.example',
      'nxdomain',
      [],
    ],
    [
      'a published CNAME leads into the overlay',
      { 'a.example': { CNAME: ['b.example'] } },
      [txt('b.example', 'x')],
      'a.example',
      'found',
      ['x'],
    ],
    [
      'a published CNAME leads above an overlaid name',
      { 'a.example': { CNAME: ['b.example'] } },
      [txt('c.b.example', 'x')],
      'a.example',
      'nodata',
      [],
    ],
    [
      'another type takes a published CNAME away',
      { 'a.example': { CNAME: ['b.example'] }, 'b.example': { TXT: ['b'] } },
      [{ name: 'a.example', type: 'A', data: '45.53.5.1' as never }],
      'a.example',
      'nodata',
      [],
    ],
    ['a wildcard answers below', {}, [txt('*.a.example', 'x')], 'c.b.a.example', 'found', ['x']],
    [
      'a wildcard with another type',
      {},
      [{ name: '*.a.example', type: 'A', data: '45.53.5.1' as never }],
      'b.a.example',
      'nodata',
      [],
    ],
    ['a wildcard does not answer for itself above', {}, [txt('*.a.example', 'x')], 'a.example', 'nodata', []],
    [
      'a wildcard does not cover a published name',
      { 'b.a.example': { A: ['45.53.5.1'] } },
      [txt('*.a.example', 'x')],
      'b.a.example',
      'nodata',
      [],
    ],
    [
      'a wildcard does not reach below a published name, RFC 4592 §3.3.1',
      { 'b.a.example': { A: ['45.53.5.1'] } },
      [txt('*.a.example', 'x')],
      'c.b.a.example',
      'nxdomain',
      [],
    ],
    [
      'a wildcard behind a published CNAME',
      { 'x.example': { CNAME: ['b.a.example'] } },
      [txt('*.a.example', 'x')],
      'x.example',
      'found',
      ['x'],
    ],
  ])('%s', async (_why, zone, records, name, kind, expected) => {
    const answer = await overlay(labDns(zone).resolve, records)(name, 'TXT', signal)
    expect([answer.kind, answer.records]).toEqual([kind, expected])
  })

  it('gives the whole chain, and nothing as secure', async () => {
    const { resolve } = labDns({
      'a.example': { CNAME: ['b.example'], AD: true },
      'c.example': { CNAME: ['d.example'], AD: true },
      'd.example': { TXT: ['d'], AD: true },
    })
    const answer = await overlay(resolve, [cname('b.example', 'c.example')])('a.example', 'TXT', signal)
    expect(answer).toMatchObject({ name: 'a.example', cname: ['b.example', 'c.example', 'd.example'], secure: false })
  })

  it.each<[string, LabZone, OverlayRecord[]]>([
    ['within the overlay', {}, [cname('a.example', 'b.example'), cname('b.example', 'a.example')]],
    ['between both', { 'b.example': { CNAME: ['a.example'] } }, [cname('a.example', 'b.example')]],
  ])('ends a loop %s', async (_why, zone, records) => {
    await expect(overlay(labDns(zone).resolve, records)('a.example', 'TXT', signal)).rejects.toMatchObject({
      reason: 'cname_loop',
    })
  })

  it('leaves what cannot be asked unknown', async () => {
    const resolve = overlay(labDns({ 'a.example': 'SERVFAIL' }).resolve, [
      { name: 'a.example', type: 'A', data: '45.53.5.1' as never },
    ])
    await expect(resolve('a.example', 'TXT', signal)).rejects.toBeInstanceOf(DnsError)
  })

  it('asks no more than without it where nothing is laid over', async () => {
    const { resolve, asked } = labDns({ 'b.example': { TXT: ['b'] } })
    await overlay(resolve, [txt('a.example', 'x')])('b.example', 'TXT', signal)
    await overlay(resolve, [txt('_dmarc.a.example', 'x')])('_dmarc.a.example', 'TXT', signal)
    expect(asked).toEqual(['b.example TXT'])
  })
})

/** The fake and the overlay read the same zone alike: a zone laid over nothing answers as the zone itself does. */
it('answers as a zone of the same records does', () =>
  fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        fc.constantFrom('a.t', 'b.t', 'x.a.t', '*.a.t', 'y.x.b.t', '*.t'),
        fc.oneof(
          fc.record({ TXT: fc.constantFrom(['1'], ['2', '3']) }),
          fc.record({ CNAME: fc.constantFrom(['a.t'], ['b.t'], ['q.a.t']) }),
        ),
      ),
      fc.constantFrom('a.t', 'b.t', 'x.a.t', 'q.a.t', 'q.x.a.t', 'x.b.t', 'q.b.t', 't', 'q.t'),
      async (zone, name) => {
        const records = Object.entries(zone).flatMap(([owner, node]) =>
          Object.entries(node).flatMap(([type, all]) =>
            all.map((data: string) => ({ name: owner, type: type as RecordType, data }) as OverlayRecord),
          ),
        )
        const told = (ask: Promise<Answer>): Promise<unknown> =>
          ask.then(
            ({ kind, records: found, cname: chain }) => [kind, found, chain],
            (error: DnsError) => error.reason,
          )
        const mine = await told(overlay(labDns({}).resolve, records)(name, 'TXT', signal))
        expect(mine).toEqual(await told(labDns(zone as LabZone).resolve(name, 'TXT', signal)))
      },
    ),
    { numRuns: 500 },
  ))
