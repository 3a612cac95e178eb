import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COMPONENTS, WEIGHTS } from '../answers/weights.ts'
import type { Severity } from '../checks/check.ts'
import type { Barrier, Role } from '../checks/context.ts'
import { gradeBecause, gradeOf, reportScore, score } from './score.ts'
import type {
  DkimScoreInput,
  DmarcScoreInput,
  MxScoreInput,
  PtrScoreInput,
  ScoreInputs,
  SpfScoreInput,
} from './score-types.ts'

type Spf = Extract<SpfScoreInput, { state: 'record' }>
type Dmarc = Extract<DmarcScoreInput, { state: 'record' }>
type Mx = Extract<MxScoreInput, { state: 'explicit' }>
type Address = Extract<PtrScoreInput, { state: 'addresses' }>['addresses'][number]
type Key = Extract<DkimScoreInput, { state: 'found' }>['keys'][number]

const spf = (parts: Partial<Spf> = {}): Spf => ({ state: 'record', all: '-', ...parts })
const dmarc = (parts: Partial<Dmarc> = {}): Dmarc => ({
  state: 'record',
  effective: 'reject',
  rua: true,
  subdomainsWeaker: false,
  ...parts,
})
const dkim = (...keys: Partial<Key>[]): DkimScoreInput => ({
  state: 'found',
  keys: (keys.length > 0 ? keys : [{}]).map((key) => ({ type: 'rsa' as const, bits: 2048, testing: false, ...key })),
})
const mx = (parts: Partial<Mx> = {}): Mx => ({
  state: 'explicit',
  nullBesideOthers: false,
  unresolvable: 0,
  unknown: 0,
  cname: false,
  notPublic: false,
  singleAddress: false,
  barriers: [],
  ...parts,
})
const ptr = (...addresses: Partial<Address>[]): PtrScoreInput => ({
  state: 'addresses',
  addresses: (addresses.length > 0 ? addresses : [{}]).map((one) => ({
    hasPtr: true,
    confirmed: true,
    generic: false,
    names: 1,
    ...one,
  })),
})
/** Addresses of which only the first `certain` are sure to count. */
const more = (certain: number, ...addresses: Partial<Address>[]): PtrScoreInput => {
  const known = ptr(...addresses)
  return known.state === 'addresses' ? { ...known, certain } : known
}
const CLEAN: ScoreInputs = {
  role: 'sends_and_accepts_mail',
  spf: spf(),
  dkim: dkim(),
  dmarc: dmarc(),
  mx: mx(),
  ptr: ptr(),
}
const but = (parts: Partial<ScoreInputs>): ScoreInputs => ({ ...CLEAN, ...parts })
const barrier = (kind: Barrier['kind'], all: boolean): Barrier => ({ kind, finding: 'x', hosts: ['m.example'], all })
const UNKNOWN = { state: 'unknown' } as const
const NONE = { state: 'none', finding: 'x.none' } as const

describe('the worked examples', () => {
  it.each<[string, ScoreInputs, number, [number, number]?]>([
    ['enforced and clean', CLEAN, 100],
    ['Google starter: ~all, p=none, rua', but({ spf: spf({ all: '~' }), dmarc: dmarc({ effective: 'none' }) }), 82],
    [
      'parked: null MX, -all, reject, no rua',
      but({
        role: 'parked',
        dmarc: dmarc({ rua: false }),
        mx: { state: 'null' },
        dkim: UNKNOWN,
        ptr: { state: 'not_applicable' },
      }),
      96,
    ],
    [
      'abandoned: A only, _domainkey NXDOMAIN',
      {
        role: 'sends_and_accepts_mail',
        spf: NONE,
        dkim: { state: 'absent', finding: 'x' },
        dmarc: NONE,
        mx: { state: 'implicit', notPublic: false, barriers: [] },
        ptr: ptr({ hasPtr: false, confirmed: false }),
      },
      5,
    ],
    [
      '13 lookups, quarantine, rua not authorised',
      but({ spf: { state: 'permerror', finding: 'x' }, dmarc: dmarc({ effective: 'quarantine', rua: false }) }),
      73,
    ],
    [
      '+all, p=none, DKIM unknown',
      but({ spf: spf({ all: '+' }), dmarc: dmarc({ effective: 'none', rua: false }), dkim: UNKNOWN }),
      48,
      [38, 50],
    ],
    ['_dmarc SERVFAIL, else clean', but({ dmarc: UNKNOWN }), 85, [70, 100]],
    [
      'mx ptr ?all, DKIM 1024 t=y, quarantine t=y with rua, MX a CNAME, PTR unconfirmed',
      {
        role: 'sends_and_accepts_mail',
        spf: spf({ all: '?', ptr: 'x' }),
        dkim: dkim({ bits: 1024, testing: true }),
        dmarc: dmarc({ effective: 'none' }),
        mx: mx({ cname: true, singleAddress: true }),
        ptr: ptr({ confirmed: false }),
      },
      55,
    ],
  ])('%s', (_why, inputs, expected, range) => {
    const result = score(inputs)
    expect(result.score).toBe(expected)
    expect(result.complete).toBe(range === undefined)
    if (range) expect([result.scoreMin, result.scoreMax]).toEqual(range)
    else expect(Object.keys(result)).not.toContain('scoreMin')
  })

  it('55 is 40 in a report when its address is on SpamCop', () => expect(reportScore(55, ['A'])).toBe(40))
})

describe('each deduction', () => {
  it.each<[string, Partial<ScoreInputs>, number, [number, number]?]>([
    ['no SPF', { spf: NONE }, 75],
    ['SPF unknown: everybody may pass', { spf: UNKNOWN }, 88, [50, 100]], // 87.5, half up
    ['no all and no redirect while DMARC enforces', { spf: spf({ all: 'none' }) }, 94],
    ['?all while DMARC asks for nothing', { spf: spf({ all: '?' }), dmarc: dmarc({ effective: 'none' }) }, 75],
    ['?all with DMARC unknown', { spf: spf({ all: '?' }), dmarc: UNKNOWN }, 79, [60, 94]],
    ['2^24 addresses and more', { spf: spf({ veryWide: 'x', wide: 'x' }) }, 90],
    ['no SPF at a web name', { role: 'no_mail', spf: NONE }, 82], // 45 of 55
    ['~all while DMARC enforces', { spf: spf({ all: '~' }) }, 100],
    ['~all while DMARC quarantines', { spf: spf({ all: '~' }), dmarc: dmarc({ effective: 'quarantine' }) }, 95],
    ['~all without DMARC', { spf: spf({ all: '~' }), dmarc: NONE }, 67],
    ['~all with DMARC unknown: both readings in the range', { spf: spf({ all: '~' }), dmarc: UNKNOWN }, 85, [67, 100]],
    ['+all with all else clean is capped', { spf: spf({ all: '+' }) }, 50],
    ['SPF ptr, wide, long, untidy', { spf: spf({ ptr: 'x', wide: 'x', long: 'x', untidy: 'x' }) }, 91],
    ['DKIM proven absent', { dkim: { state: 'absent', finding: 'x' } }, 80],
    ['DKIM not found', { dkim: UNKNOWN }, 90, [80, 100]],
    ['only revoked or broken keys', { dkim: { state: 'broken', finding: 'x' } }, 84],
    ['the best RSA key counts', { dkim: dkim({ bits: 1024 }, { bits: 2048 }) }, 100],
    ['RSA 1024', { dkim: dkim({ bits: 1024 }) }, 95],
    ['Ed25519 only', { dkim: dkim({ type: 'ed25519', bits: 256 }) }, 97],
    ['Ed25519 beside RSA', { dkim: dkim({ type: 'ed25519', bits: 256 }, {}) }, 100],
    ['only testing keys', { dkim: dkim({ testing: true }) }, 96],
    ['one testing key of two', { dkim: dkim({ testing: true }, {}) }, 100],
    ['DMARC quarantine', { dmarc: dmarc({ effective: 'quarantine' }) }, 95],
    ['half of the mail', { dmarc: dmarc({ pct: 50 }) }, 97],
    ['pct=0 is none for receivers of RFC 7489', { dmarc: dmarc({ effective: 'quarantine', pct: 0 }) }, 90],
    [
      'takes mail only: DKIM and PTR do not count',
      { role: 'accepts_mail_only', dkim: UNKNOWN, ptr: { state: 'none' } },
      100,
    ],
    ['sends only: MX does not count', { role: 'sends_only', mx: { state: 'none' } }, 100],
    ['DMARC unusable', { dmarc: { state: 'unusable', finding: 'x' } }, 73],
    ['no DMARC', { dmarc: NONE }, 70],
    ['sp weaker than p', { dmarc: dmarc({ subdomainsWeaker: true }) }, 99],
    ['rua could not be asked: both readings in the range', { dmarc: dmarc({ rua: null }) }, 100, [98, 100]],
    ['MX unknown', { mx: UNKNOWN, ptr: UNKNOWN }, 88, [75, 100]], // 87.5
    ['implicit MX', { mx: { state: 'implicit', notPublic: false, barriers: [] } }, 90],
    [
      'implicit MX on a private address goes to 0, not below',
      { mx: { state: 'implicit', notPublic: true, barriers: [] } },
      85,
    ],
    ['no MX and not declared', { mx: { state: 'none' }, ptr: { state: 'none' } }, 75],
    ['null MX of a domain that sends', { mx: { state: 'null' }, ptr: { state: 'not_applicable' } }, 100],
    ['null MX misused', { mx: mx({ nullBesideOthers: true }) }, 92],
    [
      'all hosts of the best preference are IP literals',
      { mx: mx({ deadBest: { finding: 'mx.ip_literal', isOpen: false } }) },
      92,
    ],
    [
      '… or a host that has no answer',
      { mx: mx({ deadBest: { finding: 'mx.ip_literal', isOpen: true } }) },
      100,
      [92, 100],
    ],
    ['one dangling host', { mx: mx({ unresolvable: 1 }) }, 96],
    ['three dangling hosts: at most 8', { mx: mx({ unresolvable: 3 }) }, 92],
    ['no host resolves', { mx: mx({ none: 'mx.none_resolvable', unresolvable: 2 }) }, 85],
    ['a host that could not be asked', { mx: mx({ unknown: 1 }) }, 100, [96, 100]],
    ['dangling and unasked together: at most 8', { mx: mx({ unresolvable: 1, unknown: 2 }) }, 96, [92, 96]],
    ['CNAME, private, single', { mx: mx({ cname: true, notPublic: true, singleAddress: true }) }, 90],
    [
      'everything wrong with MX goes to 0, not below',
      { mx: mx({ nullBesideOthers: true, deadBest: { finding: 'mx.ip_literal', isOpen: false }, cname: true }) },
      85,
    ],
    ['senders that apply MTA-STS refuse some of the hosts', { mx: mx({ barriers: [barrier('mta_sts', false)] }) }, 92],
    ['… and all of them', { mx: mx({ barriers: [barrier('mta_sts', true)] }) }, 85],
    ['senders that apply DANE refuse some of the hosts', { mx: mx({ barriers: [barrier('dane', false)] }) }, 92],
    [
      'MTA-STS and DANE together go to 0, not below',
      { mx: mx({ barriers: [barrier('mta_sts', false), barrier('dane', false)] }) },
      85,
    ],
    ['senders without IPv6 cannot deliver', { mx: mx({ barriers: [barrier('ipv6_only', true)] }) }, 92],
    ['one address of two without PTR', { ptr: ptr({}, { hasPtr: false }) }, 95],
    ['generic and several names', { ptr: ptr({ generic: true, names: 2 }) }, 97],
    ['unconfirmed, generic, several names', { ptr: ptr({ confirmed: false, generic: true, names: 12 }) }, 92],
    ['one address of three without PTR', { ptr: ptr({}, {}, { hasPtr: false }) }, 97], // 96.67
    ['one PTR of two could not be asked', { ptr: ptr({}, { hasPtr: null, confirmed: null }) }, 98, [95, 100]], // 97.5
    ['addresses that are not known, behind one that is', { ptr: more(1, {}) }, 100, [91, 100]],
    ['… before it', { ptr: more(0, {}) }, 100, [90, 100]],
    ['… behind one without PTR', { ptr: more(1, { hasPtr: false }) }, 90, [90, 99]],
    ['… before one without PTR', { ptr: more(0, { hasPtr: false }) }, 90, [90, 100]],
    ['… between two', { ptr: more(1, { hasPtr: false }, {}) }, 95, [90, 99]],
    ['a PTR name could not be followed', { ptr: ptr({ confirmed: null }) }, 100, [95, 100]],
    ['ten addresses are judged', { ptr: ptr(...Array(10).fill({}), { hasPtr: false }) }, 100],
  ])('%s', (_why, parts, expected, range) => {
    const result = score(but(parts))
    expect([result.score, result.scoreMin, result.scoreMax]).toEqual([expected, range?.[0], range?.[1]])
    expect(result.complete).toBe(range === undefined)
  })
})

describe('a domain without mail', () => {
  it.each<[string, Partial<ScoreInputs>, number, boolean]>([
    ['-all and null MX', { mx: { state: 'null' } }, 100, true],
    ['-all and nothing at all', { mx: { state: 'none' }, ptr: { state: 'none' } }, 100, true],
    ['-all and an address: it may take mail', { mx: { state: 'implicit', notPublic: false, barriers: [] } }, 90, false],
    ['-all and nothing at all, no DMARC', { mx: { state: 'none' }, dmarc: NONE }, 45, true], // 25 of 55
    ['-all and nothing at all, DMARC unknown', { mx: { state: 'none' }, dmarc: UNKNOWN }, 73, true], // 40 of 55
  ])('%s', (_why, parts, expected, declared) => {
    const inputs = but({ role: declared ? 'parked' : 'sends_and_accepts_mail', dkim: UNKNOWN, ...parts })
    expect(score(declared ? inputs : { ...inputs, dkim: dkim() }).score).toBe(expected)
  })

  it('that does not exist has 0, whatever its parent publishes', () => {
    const result = score(but({ role: 'no_such_domain' }))
    expect([result.score, result.complete, result.breakdown]).toEqual([
      0,
      true,
      [{ component: 'total', finding: 'mx.no_domain', kind: 'deduction', points: 100 }],
    ])
  })
})

it('names the component and the finding of each row', () => {
  expect(
    score(
      but({ spf: spf({ all: '+', allFinding: 'spf.plus_all' }), dkim: UNKNOWN, ptr: ptr({}, {}, { hasPtr: false }) }),
    ).breakdown,
  ).toEqual([
    { component: 'spf', finding: 'spf.plus_all', kind: 'deduction', points: 25 },
    { component: 'dkim', finding: null, kind: 'unknown', points: 10 },
    { component: 'ptr', finding: 'ptr.missing', kind: 'deduction', points: 3.5 },
    { component: 'total', finding: 'spf.plus_all', kind: 'cap', points: 11.5 },
  ])
})

it.each([
  [100, 'A+'],
  [99, 'A'],
  [90, 'A'],
  [89, 'B'],
  [80, 'B'],
  [79, 'C'],
  [65, 'C'],
  [64, 'D'],
  [50, 'D'],
  [49, 'F'],
  [0, 'F'],
])('%i is %s', (value, grade) =>
  expect(gradeOf({ score: value }, [{ severity: 'low' }, { severity: 'info' }])).toBe(grade),
)

it.each<[Severity, number, string]>([
  ['medium', 100, 'A'],
  ['medium', 92, 'A'],
  ['medium', 85, 'B'],
  ['high', 100, 'B'],
  ['critical', 95, 'B'],
  ['high', 70, 'C'],
])('with a finding of %s severity, %i is %s', (severity, value, grade) =>
  expect(gradeOf({ score: value }, [{ severity: 'low' }, { severity }])).toBe(grade),
)

it.each([
  [70, 45, 95, 'C'],
  [70, 44, 95, null],
  [50, 0, 100, null],
])('%i between %i and %i is %s', (value, least, most, grade) =>
  expect(gradeOf({ score: value, least, most }, [])).toBe(grade),
)

it.each<[all: readonly [id: string, severity: Severity, cost: number][], because: string | undefined]>([
  [
    [
      ['a', 'medium', 9],
      ['b', 'critical', 1],
      ['c', 'high', 5],
    ],
    'b',
  ],
  [
    [
      ['a', 'high', 2],
      ['b', 'high', 7],
    ],
    'b',
  ],
  [[['a', 'low', 9]], undefined],
])('of %j the grade is kept down by %s', (all, because) => {
  const findings = all.map(([id, severity]) => ({ id, severity }))
  const rows = all.map(([finding, , points]) => ({ component: 'spf', finding, kind: 'deduction', points }))
  const breakdown = rows as unknown as Parameters<typeof gradeBecause>[2]
  expect(gradeBecause({ score: 100, grade: 'C' }, findings, breakdown)?.finding).toBe(because)
})

it.each<[number, ('A' | 'B' | 'C' | 'D')[], number]>([
  [100, [], 100],
  [100, ['A'], 85],
  [100, ['B', 'C'], 94],
  [100, ['D', 'D'], 100],
  [100, ['A', 'A', 'A'], 60],
  [10, ['A'], 0],
])('a report of %i with listings %j has %i', (value, tiers, expected) =>
  expect(reportScore(value, tiers)).toBe(expected),
)

const id = fc.option(fc.constantFrom('x.a', 'x.b'), { nil: undefined })
const faults = fc
  .record({ ptr: id, veryWide: id, wide: id, long: id, untidy: id })
  .map((found) => Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)))
const anything: fc.Arbitrary<ScoreInputs> = fc.record({
  role: fc.constantFrom<Role>(
    'no_such_domain',
    'sends_and_accepts_mail',
    'accepts_mail_only',
    'sends_only',
    'parked',
    'no_mail',
  ),
  spf: fc.oneof(
    fc.constantFrom<SpfScoreInput>(UNKNOWN, NONE, { state: 'permerror', finding: 'x' }),
    fc
      .tuple(fc.constantFrom('+', '-', '~', '?', 'none'), fc.boolean(), faults)
      .map(([all, sendsNoMail, found]) =>
        spf({ all, sendsNoMail: sendsNoMail && all === '-', ...found } as Partial<Spf>),
      ),
  ),
  dkim: fc.oneof(
    fc.constantFrom<DkimScoreInput>(UNKNOWN, { state: 'absent', finding: 'x' }, { state: 'broken', finding: 'x' }),
    fc
      .array(
        fc.record({
          type: fc.constantFrom('rsa' as const, 'ed25519' as const),
          bits: fc.constantFrom(1024, 2048),
          testing: fc.boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      )
      .map((keys) => dkim(...keys)),
  ),
  dmarc: fc.oneof(
    fc.constantFrom<DmarcScoreInput>(UNKNOWN, NONE, { state: 'unusable', finding: 'x' }),
    fc
      .record({
        effective: fc.constantFrom('none', 'quarantine', 'reject'),
        pct: fc.constantFrom(undefined, 0, 50),
        rua: fc.constantFrom(true, false, null),
        subdomainsWeaker: fc.boolean(),
      })
      .map((parts) => dmarc(parts as Partial<Dmarc>)),
  ),
  mx: fc.oneof(
    fc.constantFrom<MxScoreInput>(
      UNKNOWN,
      { state: 'none' },
      { state: 'null' },
      { state: 'implicit', notPublic: true, barriers: [] },
    ),
    fc
      .record({
        noneResolvable: fc.boolean(),
        nullBesideOthers: fc.boolean(),
        ipLiteral: fc.boolean(),
        unresolvable: fc.nat(4),
        unknown: fc.nat(4),
        cname: fc.boolean(),
        notPublic: fc.boolean(),
        singleAddress: fc.boolean(),
        barriers: fc.array(
          fc.record({
            kind: fc.constantFrom('mta_sts', 'dane', 'ipv6_only'),
            finding: fc.constant('x.barrier'),
            hosts: fc.constant(['m.example']),
            all: fc.boolean(),
          }),
          { maxLength: 3 },
        ),
      })
      .map(mx),
  ),
  ptr: fc.oneof(
    fc.constantFrom<PtrScoreInput>(UNKNOWN, { state: 'none' }, { state: 'not_applicable' }),
    fc
      .array(
        fc.record({
          hasPtr: fc.constantFrom(true, false, null),
          confirmed: fc.constantFrom(true, false, null),
          generic: fc.boolean(),
          names: fc.nat(12),
        }),
        { minLength: 1, maxLength: 12 },
      )
      .chain((all) =>
        fc
          .option(fc.nat(Math.min(9, all.length)), { nil: undefined })
          .map((certain) => (certain === undefined ? ptr(...all) : more(certain, ...all))),
      ),
  ),
})

it('adds up to exactly 100 without dust, stays in its bounds and keeps the range around the score', () =>
  fc.assert(
    fc.property(anything, (inputs) => {
      const result = score(inputs)
      expect(result.breakdown.reduce((sum, row) => sum + row.points, result.score)).toBe(100)
      for (const { points } of result.breakdown) expect(Number.isInteger(points * 2) && points !== 0).toBe(true)
      expect(Number.isInteger(result.score) && result.score >= 0 && result.score <= 100).toBe(true)
      const { scoreMin = result.score, scoreMax = result.score } = result
      expect(scoreMin <= result.score && result.score <= scoreMax).toBe(true)
      for (const component of Object.keys(COMPONENTS)) {
        const rows = result.breakdown.filter((row) => row.component === component)
        expect(rows.reduce((sum, row) => sum + row.points, 0)).toBeLessThanOrEqual(COMPONENTS[component as 'spf'])
      }
    }),
    { numRuns: 2_000 },
  ))

const address = fc.record({
  hasPtr: fc.boolean(),
  confirmed: fc.boolean(),
  generic: fc.boolean(),
  names: fc.integer({ min: 1, max: 2 }),
})
it('holds, with some addresses not known, the score that all of them give', () =>
  fc.assert(
    fc.property(
      fc.array(address, { minLength: 1, maxLength: 10 }),
      fc.array(address, { maxLength: 10 }),
      fc.nat(9),
      (known, others, at) => {
        const certain = Math.min(at, known.length)
        const all = [...known.slice(0, certain), ...others, ...known.slice(certain)]
        const { scoreMin = 0, scoreMax = 0 } = score(but({ ptr: more(certain, ...known) }))
        const truth = score(but({ ptr: ptr(...all) })).score
        expect(scoreMin <= truth && truth <= scoreMax).toBe(true)
      },
    ),
    { numRuns: 1_000 },
  ))

it('has the weights of test/golden/weights.json: a change of them is a change of the score version', () => {
  const path = `${import.meta.dirname}/../../test/golden/weights.json`
  expect(JSON.parse(JSON.stringify(WEIGHTS))).toEqual(JSON.parse(readFileSync(path, 'utf8')))
  expect(Object.values(COMPONENTS).reduce((sum, worth) => sum + worth, 0)).toBe(100)
})
