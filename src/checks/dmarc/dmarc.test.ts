import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runCheck } from '../../../test/lab/checks.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labProblem } from '../../../test/lab/problem.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { tellArgs } from '../finding.ts'
import { presentFinding } from '../present.ts'
import { runInContext } from '../run.ts'
import { publishedPolicyOf } from './facts.ts'
import { findings as table } from './findings.ts'
import { dmarc, presentDmarcLookup } from './index.ts'

const D = domain('a.example')
/** Hosts that take mail. */
const HOSTS: LabZone = { 'h.test': { A: ['45.53.5.1'] }, 'b.example': { MX: [[10, 'h.test']] } }
const run = (zone: LabZone, name = D) => runInContext('dmarc', labCtx({ ...HOSTS, ...zone }), name)
const own = (record: string): LabZone => ({
  'a.example': { MX: [[10, 'h.test']] },
  '_dmarc.a.example': { TXT: [record] },
})
const CLEAN = 'v=DMARC1; p=reject; rua=mailto:r@a.example'
/** A policy that nobody applied until now, one step lower for receivers of both standards. */
/** What nobody applied until now begins at none. */
const BEGIN = 'v=DMARC1; p=none; rua=mailto:r@a.example'
const ALIASED = (record: string): LabZone => ({
  'a.example': { MX: [[10, 'h.test']] },
  '_dmarc.a.example': { CNAME: ['a.dmarc.b.example'] },
  'a.dmarc.b.example': { TXT: [record] },
})
const PARKED: LabZone = { 'a.example': { TXT: ['v=spf1 -all'], MX: [[0, '.']] } }
const external = (record: string): LabZone => ({
  ...own('v=DMARC1; p=reject; rua=mailto:r@b.example'),
  'a.example._report._dmarc.b.example': { TXT: [record] },
})

describe('findings: a domain that shows each', () => {
  const rows: [string, string, LabZone][] = [
    ['dmarc.no_record', 'fail', { 'a.example': { MX: [[10, 'h.test']] } }],
    ['dmarc.no_record_parked', 'warn', PARKED],
    ['dmarc.misplaced', 'fail', { 'a.example': { TXT: [CLEAN] } }],
    ['dmarc.doubled_name', 'fail', { '_dmarc.a.example.a.example': { TXT: [CLEAN] } }],
    ['dmarc.other_txt', 'fail', own('hello')],
    ['dmarc.several_records', 'fail', { '_dmarc.a.example': { TXT: [CLEAN, 'v=DMARC1; p=none'] } }],
    ['dmarc.malformed', 'fail', own('v=DMARC1 p=reject; rua=mailto:r@a.example')],
    ['dmarc.duplicate_tag', 'fail', own('v=DMARC1; p=reject; p=reject')],
    ['dmarc.unusable_policy', 'fail', own('v=DMARC1; p=block')],
    ['dmarc.invalid_policy', 'warn', own('v=DMARC1; p=block; rua=mailto:r@a.example')],
    ['dmarc.missing_policy', 'warn', own('v=DMARC1; rua=mailto:r@a.example')],
    ['dmarc.policy_none', 'warn', own('v=DMARC1; p=none; rua=mailto:r@a.example')],
    ['dmarc.policy_quarantine', 'pass', own('v=DMARC1; p=quarantine; rua=mailto:r@a.example')],
    ['dmarc.testing', 'warn', own(`${CLEAN}; t=y`)],
    ['dmarc.subdomains_weaker', 'warn', own(`${CLEAN}; sp=none`)],
    ['dmarc.no_rua', 'warn', own('v=DMARC1; p=reject')],
    ['dmarc.syntax', 'warn', own(`${CLEAN}; bogus`)],
    ['dmarc.hidden_character', 'warn', own('v=DMARC1;\u00a0p=reject; rua=mailto:r@a.example')],
    ['dmarc.quotes', 'warn', own('v=DMARC1; p=none; rua="mailto:r@a.example"')],
    [
      'dmarc.separator',
      'warn',
      own('v=DMARC1; p=rejectrua=mailto:r@a.example; ruf=mailto:r@a.example; rua=mailto:r@a.example'),
    ],
    ['dmarc.two_records', 'fail', own('v=DMARC1; p=none; v=DMARC1; p=reject')],
    ['dmarc.tag_case', 'pass', own('v=DMARC1; P=reject; rua=mailto:r@a.example')],
    ['dmarc.alias', 'pass', ALIASED(CLEAN)],
    ['dmarc.rua_unreachable', 'warn', own('v=DMARC1; p=reject; rua=mailto:r@r.a.example')],
    ['dmarc.ignored_value', 'warn', own(`${CLEAN}; adkim=x`)],
    [
      'dmarc.limit',
      'warn',
      own(`v=DMARC1; p=reject; rua=${Array.from({ length: 200 }, (_, i) => `mailto:r${i}@a.example`).join()}`),
    ],
    ['dmarc.unknown_tags', 'pass', own(`${CLEAN}; x=1`)],
    ['dmarc.removed_tags', 'pass', own(`${CLEAN}; pct=100; ri=3600`)],
    ['dmarc.pct_partial', 'warn', own(`${CLEAN}; pct=50`)],
    ['dmarc.size_suffix', 'pass', own(`${CLEAN}!10m`)],
    ['dmarc.fo_without_ruf', 'pass', own(`${CLEAN}; fo=1`)],
    ['dmarc.policy_order', 'pass', own('v=DMARC1; rua=mailto:r@a.example; p=reject')],
    ['dmarc.long_record', 'warn', own(`${CLEAN}; x=${'y'.repeat(1_000)}`)],
    ['dmarc.report_uri', 'warn', own(`${CLEAN},r@b.example`)],
    ['dmarc.report_scheme', 'warn', own(`${CLEAN},https://a.example/dmarc`)],
    ['dmarc.report_unauthorized', 'warn', own(`${CLEAN},mailto:r@b.example`)],
    ['dmarc.report_unauthorized', 'warn', external('v=DMARC1; rua=mailto:r@c.example')],
    [
      'dmarc.report_unknown',
      'unknown',
      { ...own(`${CLEAN},mailto:r@b.example`), 'a.example._report._dmarc.b.example': 'SERVFAIL' },
    ],
    [
      'dmarc.report_limit',
      'warn',
      own(`v=DMARC1; p=reject; rua=${Array.from({ length: 12 }, (_, i) => `mailto:r@b${i}.example`).join()}`),
    ],
    ['dmarc.psd_misused', 'warn', own(`${CLEAN}; psd=y`)],
    ['dmarc.walk_gap', 'pass', { ...own(CLEAN), '_dmarc.example': 'SERVFAIL' }],
    ['dmarc.legacy_differs', 'warn', own(`${CLEAN}; t=y`)],
    ['dmarc.inherited', 'pass', {}],
  ]
  it.each(rows)('%s (%s)', async (id, status, zone) => {
    const inherited = id === 'dmarc.inherited'
    const outcome = await (inherited ? run(own(CLEAN), domain('m.a.example')) : run(zone))
    expect(outcome.findings.map((found) => found.id)).toContain(id)
    expect(outcome.status).toBe(status)
    expect(
      table[id as keyof typeof table].detail(tellArgs(outcome.findings.find((found) => found.id === id)!.args)),
    ).not.toMatch(/undefined|object/)
  })

  it.each([
    ['pct=50', ['dmarc.pct_partial']],
    ['pct=0', ['dmarc.pct_partial']],
    ['pct=0; t=y', ['dmarc.testing', 'dmarc.removed_tags']],
    ['t=y', ['dmarc.testing', 'dmarc.legacy_differs']],
  ])('a share is told once: %s', async (tags, ids) => {
    const { findings } = await run(own(`${CLEAN}; ${tags}`))
    expect(findings.map(({ id }) => id)).toEqual(ids)
  })

  it('covers the whole table', () =>
    expect([...new Set(rows.map(([id]) => id))].sort()).toEqual(Object.keys(table).sort()))

  it.each([
    ['enforced, reports at home', own(CLEAN)],
    [
      'reports to a subdomain of its own',
      { ...own('v=DMARC1; p=reject; rua=mailto:r@r.a.example'), 'r.a.example': { A: ['45.53.5.1'] } },
    ],
    ['reports elsewhere, authorised', external('v=DMARC1')],
    ['reports elsewhere, authorised and sent to another mailbox there', external('v=DMARC1; rua=mailto:x@b.example')],
    [
      'reports elsewhere, authorised for everybody',
      { ...own('v=DMARC1; p=reject; rua=mailto:r@b.example'), '*._report._dmarc.b.example': { TXT: ['v=DMARC1;'] } },
    ],
    ['without mail, refusing, no reports', { ...PARKED, '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] } }],
  ] as [string, LabZone][])('none of them: %s', async (_, zone) => {
    const outcome = await run(zone)
    expect([outcome.status, outcome.findings]).toEqual(['pass', []])
  })
})

describe('fixes: published, the finding is gone', () => {
  it.each([
    [
      'dmarc.no_record',
      { 'a.example': { MX: [[10, 'h.test']] } },
      'v=DMARC1; p=none; rua=mailto:dmarc-reports@a.example',
    ],
    ['dmarc.no_record_parked', PARKED, 'v=DMARC1; p=reject'],
    ['dmarc.misplaced', { 'a.example': { TXT: [CLEAN] } }, BEGIN],
    ['dmarc.doubled_name', { '_dmarc.a.example.a.example': { TXT: [CLEAN] } }, BEGIN],
    [
      'dmarc.several_records',
      { '_dmarc.a.example': { TXT: [CLEAN, 'v=DMARC1; p=none; rua=mailto:s@a.example'] } },
      'v=DMARC1; p=none; rua=mailto:r@a.example,mailto:s@a.example',
    ],
    ['dmarc.malformed', own('v=DMARC1 p=reject; rua=mailto:r@a.example'), BEGIN],
    ['dmarc.malformed', own('v=DMARC1 p=quarantine'), 'v=DMARC1; p=none'],
    ['dmarc.malformed', own('"v=dmarc1; p=reject'), 'v=DMARC1; p=none'],
    ['dmarc.duplicate_tag', own('v=DMARC1; p=reject; p=reject'), 'v=DMARC1; p=none'],
    ['dmarc.unusable_policy', own('v=DMARC1; p=block'), 'v=DMARC1; p=none'],
    [
      'dmarc.invalid_policy',
      own('v=DMARC1; p=block; rua=mailto:r@a.example'),
      'v=DMARC1; p=none; rua=mailto:r@a.example',
    ],
    ['dmarc.missing_policy', own('v=DMARC1; rua=mailto:r@a.example'), 'v=DMARC1; p=none; rua=mailto:r@a.example'],
    ['dmarc.no_rua', own('v=DMARC1; p=reject'), 'v=DMARC1; p=reject; rua=mailto:dmarc-reports@a.example'],
    ['dmarc.syntax', own(`${CLEAN}; bogus`), CLEAN],
    ['dmarc.removed_tags', own(`${CLEAN}; pct=100; rf=afrf`), CLEAN],
    ['dmarc.size_suffix', own(`${CLEAN}!10m`), CLEAN],
    ['dmarc.policy_order', own('v=DMARC1; rua=mailto:r@a.example; p=reject'), CLEAN],
    [
      'dmarc.report_uri',
      own(`${CLEAN},s@a.example,mailto://t@a.example`),
      `${CLEAN},mailto:s@a.example,mailto:t@a.example`,
    ],
    ['dmarc.hidden_character', own('v=DMARC1;\u00a0p=reject; rua=mailto:r@a.example'), BEGIN],
    ['dmarc.hidden_character', own('v=DMARC1;\u00a0p=quarantine'), 'v=DMARC1; p=none'],
    [
      'dmarc.separator',
      own('v=DMARC1; p=quarantinerua=mailto:r@a.example; sp=reject'),
      'v=DMARC1; p=none; sp=none; rua=mailto:r@a.example',
    ],
    [
      'dmarc.two_records',
      own('v=DMARC1; p=none; rua=mailto:r@a.example v=DMARC1; p=reject; rua=mailto:s@a.example'),
      'v=DMARC1; p=none; rua=mailto:r@a.example,mailto:s@a.example',
    ],
    [
      'dmarc.invalid_policy',
      own('v=DMARC1; p=reject; sp=non; rua=mailto:r@a.example'),
      'v=DMARC1; p=none; sp=none; rua=mailto:r@a.example',
    ],
    ['dmarc.report_unauthorized', own(`${CLEAN},mailto:r@b.example`), 'v=DMARC1'],
  ] as [string, LabZone, string][])('%s (%#)', async (id, zone, value) => {
    const fix = (await run(zone)).findings.find((found) => found.id === id)!.fix!
    expect(fix.value).toBe(value)
    const after = await run({ ...zone, [fix.name]: { TXT: [fix.value] } })
    expect(after.findings.map((found) => found.id)).not.toContain(id)
    expect(after.status).not.toBe('fail')
  })
})

describe('the repair says when the record shown requests less than was meant', () => {
  it.each<[string, string, LabZone, 'lower' | 'as meant' | 'none']>([
    [
      'reject, which nobody applied',
      'dmarc.hidden_character',
      own('v=DMARC1;\u00a0p=reject; rua=mailto:r@a.example'),
      'lower',
    ],
    ['quarantine, too', 'dmarc.hidden_character', own('v=DMARC1;\u00a0p=quarantine'), 'lower'],
    ['at the wrong name', 'dmarc.misplaced', { 'a.example': { TXT: [CLEAN] } }, 'lower'],
    ['at the wrong name, none', 'dmarc.misplaced', { 'a.example': { TXT: ['v=DMARC1; p=none'] } }, 'as meant'],
    [
      'an alias: no record is offered',
      'dmarc.hidden_character',
      ALIASED('v=DMARC1;\u00a0p=reject; rua=mailto:r@a.example'),
      'none',
    ],
  ])('%s', async (_, id, zone, expected) => {
    const found = (await run(zone)).findings.find((finding) => finding.id === id)!
    const { repair } = presentFinding(table, found)
    const isLower = /begins with the policy that receivers apply/.test(repair ?? '')
    expect(isLower ? 'lower' : found.fix ? 'as meant' : 'none').toBe(expected)
  })
})

it.each([
  ['takes mail, and the record can be shown', own(`${CLEAN},mailto:r@b.example`), /your own address/],
  ['takes mail', own(`${CLEAN},mailto:r@gone.example`), /your own address/],
  [
    'takes none, and the record can be shown',
    { ...PARKED, '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:r@b.example'] } },
    /publish the record shown, or .* another of your domains/,
  ],
  [
    'takes none',
    { ...PARKED, '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:r@gone.example'] } },
    /^Use an address in another of your domains/,
  ],
] as [string, LabZone, RegExp][])(
  'advice on an agreement that is missing, for a domain that %s',
  async (_, zone, words) => {
    const found = (await run(zone)).findings.find(({ id }) => id === 'dmarc.report_unauthorized')!
    expect(presentFinding(table, found).repair).toMatch(words)
  },
)

it('no record is offered for an alias, but where it leads to none', async () => {
  for (const record of ['v=DMARC1; p=none', 'v=DMARC1 p=none']) {
    const { findings } = await run(ALIASED(record))
    expect([findings.length > 1, findings.filter(({ fix }) => fix)]).toEqual([true, []])
  }
  const wildcard = { '*.a.example': { CNAME: ['b.example'] }, 'b.example': { A: ['45.53.5.1'] } } as const
  const { findings } = await run({ 'a.example': { MX: [[10, 'h.test']] }, ...wildcard })
  expect(findings.map(({ id, fix }) => [id, fix !== undefined])).toEqual([['dmarc.no_record', true]])
})

it('a pct below 100 stays in a record that is offered', async () => {
  const { findings } = await run(own('v=DMARC1; p=none; pct=20; ri=9; rua=mailto:r@a.example'))
  const fixes = findings.flatMap(({ id, fix }) => (fix ? [[id, fix.value]] : []))
  expect(fixes).toEqual([['dmarc.removed_tags', 'v=DMARC1; p=none; rua=mailto:r@a.example; pct=20']])
})

describe('which policy applies (RFC 9989 §4.10.1)', () => {
  const above = (record: string, sub: LabZone = {}): LabZone => ({ '_dmarc.a.example': { TXT: [record] }, ...sub })
  const exists: LabZone = { 'm.a.example': { A: ['192.0.2.1'] } }
  const all = 'v=DMARC1; p=reject; sp=quarantine; np=none'
  it.each<[string, LabZone, string, string, object]>([
    ['sp: the name exists', above(all, exists), 'quarantine', 'quarantine', { kind: 'policy' }],
    ['np: it does not', above(all), 'none', 'none', { kind: 'policy' }],
    [
      'sp: an empty non-terminal exists (RFC 8020)',
      above(all, { 'x.m.a.example': { A: ['192.0.2.1'] } }),
      'quarantine',
      'quarantine',
      {},
    ],
    [
      'sp: a CNAME to nowhere exists',
      above(all, { 'm.a.example': { CNAME: ['gone.b.example'] } }),
      'quarantine',
      'quarantine',
      {},
    ],
    ['its own p', above(all, { '_dmarc.m.a.example': { TXT: ['v=DMARC1; p=none; sp=reject'] } }), 'none', 'none', {}],
    ['t=y lowers', above('v=DMARC1; p=reject; t=y', exists), 'reject', 'quarantine', {}],
    ['t=y lowers quarantine', above('v=DMARC1; p=quarantine; t=y', exists), 'quarantine', 'none', {}],
    [
      'a name below exists, and so it does (RFC 8020)',
      above(all, { 'm.a.example': 'SERVFAIL', '_dmarc.m.a.example': { TXT: [] } }),
      'quarantine',
      'quarantine',
      {},
    ],
    ['existence unknown', above(all, { 'm.a.example': 'SERVFAIL' }), 'quarantine', 'quarantine', { kind: 'policy' }],
    ['existence not needed', above('v=DMARC1; p=reject', { 'm.a.example': 'SERVFAIL' }), 'reject', 'reject', {}],
    [
      'of the public suffix',
      { '_dmarc.example': { TXT: ['v=DMARC1; p=reject; np=quarantine; psd=y'] } },
      'quarantine',
      'quarantine',
      {},
    ],
    ['nothing', {}, '', '', { kind: 'none' }],
    ['several, nothing else', { '_dmarc.m.a.example': { TXT: [CLEAN, CLEAN] } }, '', '', { kind: 'unusable' }],
    [
      'several, and one above',
      above(CLEAN, { '_dmarc.m.a.example': { TXT: [all, all] } }),
      'reject',
      'reject',
      { kind: 'policy' },
    ],
    [
      'a broken one of its own ends DMARC',
      above(CLEAN, { '_dmarc.m.a.example': { TXT: ['v=DMARC1; p=x'] } }),
      '',
      '',
      { kind: 'unusable' },
    ],
    ['no answer', above(CLEAN, { '_dmarc.m.a.example': 'SERVFAIL' }), '', '', { kind: 'unknown' }],
    ['no answer above', { '_dmarc.a.example': 'TIMEOUT' }, '', '', { kind: 'unknown' }],
  ])('%s', async (_, zone, policy, effective, published) => {
    const outcome = await run(zone, domain('m.a.example'))
    const shown = dmarc.present(outcome)
    // A SERVFAIL for the name itself leaves only `_dmarc`, whose NXDOMAIN says nothing of the name above it.
    const undecided = _ === 'existence unknown'
    expect([shown.policy, shown.effective_policy]).toEqual(undecided ? ['', ''] : [policy, effective])
    expect(publishedPolicyOf(outcome.facts!)).toMatchObject(undecided ? { kind: 'unknown' } : published)
    if (undecided) expect(outcome.status).toBe('unknown')
  })
})

describe('what is asked', () => {
  it('asks the walk, the name and its mail hosts at once, in a fixed order', async () => {
    const ctx = labCtx({ ...HOSTS, ...own(CLEAN) })
    await dmarc.lookup(ctx, D, {})
    const first = ['_dmarc.a.example TXT', '_dmarc.example TXT', 'a.example TXT', 'a.example MX']
    expect(ctx.asked).toEqual([...first, 'h.test A'])
  })

  // Bound: src/checks/dmarc/lookup.ts MAX_MAIL_HOSTS
  it.each([
    [4, false],
    [5, true],
  ])('asks for the addresses of at most 4 mail hosts of report addresses: of %i', async (count, takesMail) => {
    const MX = Array.from({ length: count }, (_, i) => [i, `h${i}.gone.test`] as const)
    const { rua } = await dmarc.lookup(labCtx({ ...own(CLEAN), 'a.example': { MX } }), D, {})
    expect(rua[0]!.takesMail).toBe(takesMail)
  })

  it('asks at most 10 destinations, each once, only of other organizations', async () => {
    const uris = Array.from({ length: 200 }, (_, i) => `mailto:r@d${i % 40}.example`)
    const ctx = labCtx(own(`v=DMARC1; p=none; rua=mailto:r@a.example,${uris.join()}`))
    const outcome = await runCheck(dmarc, ctx, D)
    expect(ctx.asked.filter((question) => question.includes('_report'))).toHaveLength(9)
    expect((dmarc.present(outcome).rua as unknown[]).length).toBe(50)
    expect(outcome.findings.length).toBeLessThan(40)
  })

  it('is bounded on 500 records and on one of 64 KiB', async () => {
    const many = await run({
      '_dmarc.a.example': { TXT: Array.from({ length: 500 }, (_, i) => `v=DMARC1; p=none; x=${i}`) },
    })
    expect(JSON.stringify(presentDmarcLookup(many)).length).toBeLessThan(10_000)
    const long = await run(own(`v=DMARC1; p=none; ${'x;'.repeat(32_000)}`))
    expect(JSON.stringify([presentDmarcLookup(long), long.findings]).length).toBeLessThan(40_000)
    expect(long.findings.map((found) => found.id)).toContain('dmarc.limit')
  })
})

describe('the two objects of the API', () => {
  it('is exactly this for a check', async () => {
    expect(dmarc.present(await run(external('v=DMARC1')))).toEqual({
      valid: true,
      record: 'v=DMARC1; p=reject; rua=mailto:r@b.example',
      policy: 'reject',
      domain: 'a.example',
      inherited: false,
      subdomain_policy: 'reject',
      np: 'reject',
      effective_policy: 'reject',
      testing: false,
      psd: 'u',
      pct: undefined,
      rua: [{ uri: 'mailto:r@b.example', authorized: true, reason: undefined }],
      ruf: [],
    })
  })

  it('shows steps and the older reading', async () => {
    const zone = { ...own('v=DMARC1; p=reject; np=none; t=y'), '_dmarc.m.a.example': { TXT: [CLEAN, CLEAN] } }
    expect(presentDmarcLookup(await run(zone, domain('m.a.example')))).toMatchObject({
      domain: 'm.a.example',
      policy: 'reject',
      effective_policy: 'quarantine',
      found_at: 'a.example',
      organizational_domain: 'a.example',
      steps: [
        { name: '_dmarc.m.a.example', answer: 'found', records: [CLEAN, CLEAN], decision: 'discarded_several' },
        { name: '_dmarc.a.example', answer: 'found', decision: 'record' },
        { name: '_dmarc.example', answer: 'nxdomain', records: [], decision: 'no_record' },
      ],
      legacy: { found_at: '', organizational_domain: 'a.example', policy: '' },
    })
  })

  it('a wrong record is shown, a missing one is not', async () => {
    expect(dmarc.present(await run(own('v=DMARC1 p=reject')))).toMatchObject({
      valid: false,
      record: 'v=DMARC1 p=reject',
      policy: '',
    })
    expect(dmarc.present(await run({})).record).toBeUndefined()
    expect(dmarc.present({ status: 'unknown', reason: labProblem('x'), findings: [] })).toMatchObject({
      valid: false,
      policy: '',
    })
  })
})

describe('any zone', () => {
  const piece = fc.constantFrom(
    ...[
      'p=none',
      'p=reject',
      'p=x',
      'sp=none',
      'sp=x',
      'np=reject',
      't=y',
      'psd=y',
      'psd=n',
      'pct=50',
      'pct=0',
      '\u00a0p=reject',
      'P=quarantine',
      'p=rejectrua=mailto:r@a.example',
      'bogus',
      '',
      'fo=1',
      'ri=1',
    ],
    ...[
      'rua=mailto:r@b.example',
      'rua=mailto:r@x.a.example',
      'ruf=r@a.example',
      'rua=https://c.example/',
      'aspf=s',
      'adkim=?',
    ],
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((pieces) => ['v=DMARC1', ...pieces].join('; ')),
    fc.constantFrom('v=dmarc1; p=none', 'v=DMARC1 p=none', 'hello', '"v=DMARC1'),
    fc.string(),
  )
  const node = fc.oneof(
    { weight: 5, arbitrary: fc.array(text, { maxLength: 3 }).map((TXT) => ({ TXT })) },
    { weight: 1, arbitrary: fc.constantFrom('SERVFAIL' as const, 'TIMEOUT' as const) },
  )
  const names = [
    '_dmarc.m.a.example',
    '_dmarc.a.example',
    '_dmarc.example',
    'm.a.example',
    'a.example._report._dmarc.b.example',
  ]
  const zones = fc
    .array(fc.tuple(fc.constantFrom(...names), node), { maxLength: 5 })
    .map((nodes) => Object.fromEntries(nodes) as LabZone)

  it('ends in a result, with words for each finding, and fixes that neither lower the policy nor raise it by more than a step', async () => {
    await fc.assert(
      fc.asyncProperty(zones, async (zone) => {
        const outcome = await run(zone, domain('m.a.example'))
        JSON.stringify([presentDmarcLookup(outcome), dmarc.present(outcome)])
        const before = publishedPolicyOf(outcome.facts!)
        if (before.kind === 'unknown') expect(outcome.status).toBe('unknown')
        for (const { id, args, fix } of outcome.findings) {
          expect(table[id as keyof typeof table].detail(tellArgs(args))).not.toMatch(/undefined|\[object/)
          if (!fix || before.kind === 'unknown') continue
          const after = publishedPolicyOf(
            (await run({ ...zone, [fix.name]: { TXT: [fix.value] } }, domain('m.a.example'))).facts!,
          )
          const [from, to] = [before, after].map((one) => (one.kind === 'policy' ? STEPS.indexOf(one.effective) : 0))
          // In place of several records or a broken one the weakest of what was written stands, whatever a record above
          // says.
          const isRaisedOnly = before.kind !== 'policy' || id === 'dmarc.several_records' || id === 'dmarc.malformed'
          // Below an organization a first record is offered to a name that sends nothing alone.
          const isSilent = id === 'dmarc.no_record'
          expect([id, fix.value, to! >= from! || isRaisedOnly, to! <= from! || to === 1 || isSilent]).toEqual([
            id,
            fix.value,
            true,
            true,
          ])
          if (before.kind === 'policy' && after.kind === 'policy' && before.share < 100 && to! > 0)
            expect([id, after.share <= before.share || isRaisedOnly]).toEqual([id, true])
        }
      }),
      { numRuns: 300 },
    )
  })
  const STEPS = ['none', 'quarantine', 'reject']
})
