import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { DnsError, type RecordData } from '../../net/dns/resolver.ts'
import { tellArgs } from '../finding.ts'
import { runInContext } from '../run.ts'
import { findings } from './findings.ts'
import { caa, lookupCaa, parseIssuer } from './index.ts'

const record = (tag: string, value: string, critical = false): RecordData['CAA'] => ({ tag, value, critical })
const look = (zone: LabZone, name = 'a.example') => runInContext('caa', labCtx(zone), domain(name))
const own = (...records: RecordData['CAA'][]): LabZone => ({ 'a.example': { CAA: records } })

const ROWS: [why: string, zone: LabZone, status: string, ids: string[]][] = [
  ['an authority is named', own(record('issue', 'ca.example')), 'pass', []],
  ['none', { 'a.example': { MX: [[10, 'm.example']] } }, 'warn', ['caa.none']],
  ['none, and mail goes to the domain itself', { 'a.example': { A: ['45.53.5.1'] } }, 'warn', ['caa.none']],
  ['none, and where mail goes could not be asked', { 'a.example': { MX: 'SERVFAIL' } }, 'unknown', []],
  ['none, null MX', { 'a.example': { MX: [[0, '.']], A: ['45.53.5.1'] } }, 'not_applicable', ['caa.no_mail']],
  ['none, no mail host', { 'a.example': {} }, 'not_applicable', ['caa.no_mail']],
  ['no such domain', {}, 'not_applicable', []],
  ['iodef alone', own(record('iodef', 'mailto:x@a.example')), 'warn', ['caa.no_issue']],
  ['nobody', own(record('issue', ';')), 'pass', ['caa.nobody']],
  ['of the name above', { example: { CAA: [record('issue', 'ca.example')] } }, 'pass', ['caa.inherited']],
  [
    'a critical tag that nobody knows',
    own(record('issue', 'ca.example'), record('tbs', 'x', true)),
    'warn',
    ['caa.unknown_critical'],
  ],
  ['the same, not critical', own(record('issue', 'ca.example'), record('tbs', 'x')), 'pass', []],
  ['known tags in capitals, RFC 8659 §4.1', own(record('ISSUE', 'ca.example', true)), 'pass', []],
  ['broken, and so permits nobody', own(record('issue', '%%%')), 'warn', ['caa.syntax', 'caa.nobody']],
]

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, zone, status, ids) => {
    const outcome = await look(zone)
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
    for (const { id, args } of outcome.findings)
      expect(findings[id as keyof typeof findings].detail(tellArgs(args))).not.toMatch(/undefined|\[object/)
  })

  it('shows every finding of the table', () =>
    expect([...new Set(ROWS.flatMap(([, , , ids]) => ids))].toSorted()).toEqual(Object.keys(findings).toSorted()))
})

describe('climbs', () => {
  const above: LabZone = { 'a.example': { CAA: [record('issue', 'ca.example')] } }
  it('to the closest name, RFC 8659 §3', async () =>
    expect(
      (await look({ ...above, 'b.a.example': { CAA: [record('issue', 'own.example')] } }, 'c.b.a.example')).facts
        ?.foundAt,
    ).toBe('b.a.example'))

  it('not past a name that could not be asked', () =>
    expect(lookupCaa(labCtx({ ...above, 'b.a.example': 'SERVFAIL' }), domain('b.a.example'))).rejects.toBeInstanceOf(
      DnsError,
    ))

  it('without care for what is above the name that decides', async () =>
    expect((await look({ ...above, example: 'SERVFAIL' })).status).toBe('pass'))

  // Bound: src/checks/caa/index.ts MAX_NAMES
  it('asks at most 8 names', async () => {
    const ctx = labCtx({})
    await lookupCaa(ctx, domain('a.b.c.d.e.f.g.h.i.example'))
    expect(ctx.asked.filter((question) => question.endsWith(' CAA')).length).toBe(8)
  })
})

it('presents', async () =>
  expect(caa.present(await look(own(record('issue', 'ca.example'))))).toEqual({
    domain: 'a.example',
    records: [{ critical: false, tag: 'issue', value: 'ca.example' }],
  }))

it.each<[string, unknown]>([
  ['ca.example', { issuer: 'ca.example', parameters: {} }],
  [
    ' CA.example ; account=230123 ; policy = ev',
    { issuer: 'ca.example', parameters: { account: '230123', policy: 'ev' } },
  ], // RFC 8659 §4.2
  [';', { issuer: '', parameters: {} }],
  ['', { issuer: '', parameters: {} }],
  ['ca.example;', { issuer: 'ca.example', parameters: {} }],
  ['ca.example; x', 'not a parameter'],
  // Bound: src/checks/caa/index.ts MAX_LENGTH
  [';'.repeat(4_096), { issuer: '', parameters: {} }],
  [';'.repeat(4_097), 'longer than 4096 characters'],
  ['ca..example', 'not the domain'],
  ['-ca.example', 'not the domain'],
])('reads %j', (text, expected) => {
  const read = parseIssuer(text)
  if (typeof expected === 'string') return expect(read.ok ? '' : read.problem.text).toContain(expected)
  return expect(read.ok && { ...read.value, parameters: { ...read.value.parameters } }).toEqual(expected)
})

it('never throws', () => fc.assert(fc.property(fc.string(), (text) => void parseIssuer(text))))
