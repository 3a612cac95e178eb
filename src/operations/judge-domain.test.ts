import { describe, expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../test/lab/app.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { labCtx, labWorld } from '../../test/lab/world.ts'
import type { DnsRecord, Finding } from '../checks/check.ts'
import { presentFinding } from '../checks/present.ts'
import { judgeFacts, lookupFacts, type Outcomes, runChecks } from '../checks/run.ts'
import { spf } from '../checks/spf/index.ts'
import { domain } from '../names/domain.ts'
import { scoreOf } from '../score/score-inputs.ts'
import { check } from './check.ts'
import { repeatable } from './context.ts'
import { judgeDomain, lenderOf, withTriedFixes } from './judge-domain.ts'

const A = domain('a.example')
const ZONE: LabZone = {
  'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all', 'v=spf1 mx ~all'] },
  'm.example': { A: ['45.53.5.1'] },
}
/** Without a fault of weight but the one under test. */
const TIDY: LabZone = {
  ...ZONE,
  '1.5.53.45.in-addr.arpa': { PTR: ['m.example'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a.example'] },
}
const fetch = () => Promise.reject(new Error('nothing is fetched here'))

it.each(['redirect=', 'include:'])('a chain of 39 records by %s has an answer', async (term) => {
  const chain = Array.from({ length: 39 }, (_, i) => [`i${i}.example`, { TXT: [`v=spf1 ${term}i${i + 1}.example`] }])
  const world = labWorld({ ...Object.fromEntries(chain), 'a.example': { TXT: [`v=spf1 ${term}i0.example`] } })
  const { answer } = await labExecutor(world, labDeps(world))(check, { domain: 'a.example' }, {})
  expect(answer).toMatchObject({ spf: { valid: false, lookups: 11 } })
})

describe('fixes are tried before they are offered', () => {
  /** The findings of a check whose findings these are, with the fixes that may be offered. */
  const tried = async (
    zone: LabZone,
    key: 'spf' | 'dmarc',
    findings: readonly Finding[],
  ): Promise<readonly Finding[]> => {
    const ctx = repeatable(labCtx(zone))
    const facts = await lookupFacts(ctx.anew(), A, {})
    const judged = judgeFacts(facts)
    const outcomes: Outcomes = { ...judged.outcomes, [key]: { ...judged.outcomes[key], findings } }
    const kept = await withTriedFixes(ctx, {
      domain: A,
      input: {},
      facts,
      judged: { ...judged, outcomes },
      score: scoreOf(judged),
    })
    return kept[key].findings
  }
  const offered = async (fixes: readonly Finding[]): Promise<(DnsRecord | undefined)[]> =>
    (await tried(TIDY, 'spf', fixes)).map(({ fix }) => fix)
  const several = (value: string, rtype = 'TXT'): Finding => ({
    id: 'spf.many_records',
    fix: { name: 'a.example', rtype, value },
  })

  it.each<[string, string, boolean]>([
    ['one record', 'v=spf1 mx ~all', true],
    ['what is no SPF record: the finding goes, and a worse one comes', 'hello', false],
    ['a record with a fault in it', 'v=spf1 mx a:: ~all', false],
  ])('%s', async (_, value, stays) => {
    expect((await offered([several(value)]))[0] !== undefined).toBe(stays)
  })
  it.each<[string, string, string, boolean]>([
    ['one step', 'v=DMARC1; p=none; rua=mailto:d@a.example', 'v=DMARC1; p=quarantine; rua=mailto:d@a.example', true],
    ['two steps', 'v=DMARC1; p=none; rua=mailto:d@a.example', 'v=DMARC1; p=reject; rua=mailto:d@a.example', false],
    [
      'a share of the mail becomes all of it',
      'v=DMARC1; p=none; pct=20; rua=mailto:d@a.example',
      'v=DMARC1; p=quarantine; rua=mailto:d@a.example',
      false,
    ],
  ])('a DMARC policy: %s', async (_, record, value, stays) => {
    const own = { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all'] } as const
    const finding: Finding = { id: 'dmarc.policy_none', fix: { name: '_dmarc.a.example', rtype: 'TXT', value } }
    const zone = { ...TIDY, 'a.example': own, '_dmarc.a.example': { TXT: [record] } }
    const [kept] = await tried(zone, 'dmarc', [finding])
    expect(kept!.fix !== undefined).toBe(stays)
  })
  it('a record that cannot be published', async () =>
    expect(await offered([several('not an address', 'A')])).toEqual([undefined]))
  // Bound: src/operations/judge-domain.ts MAX_TRIED
  it('at most 10 of them', async () => {
    const many = await offered(Array.from({ length: 12 }, (_, i) => several(`v=spf1 mx ip4:45.53.7.${i} ~all`)))
    expect(many.filter((fix) => fix !== undefined)).toHaveLength(10)
  })
})

describe('what comes now, what comes next, and the gain', () => {
  const ONE: LabZone = { ...TIDY, 'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all'] } }
  const MISSED: LabZone = { ...ONE, 'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx:m.example -all'] } }
  const dmarc = (text: string): LabZone => ({ '_dmarc.a.example': { TXT: [text] } })
  const RUA = 'rua=mailto:dmarc-reports@a.example'
  it.each<[string, LabZone, string, string | undefined, string | undefined, number | undefined]>([
    [
      'without reports they come first',
      { ...ONE, ...dmarc('v=DMARC1; p=none') },
      'dmarc.policy_none',
      `v=DMARC1; p=none; ${RUA}`,
      `v=DMARC1; p=quarantine; ${RUA}`,
      2,
    ],
    [
      'with reports the step is the record',
      { ...ONE, ...dmarc(`v=DMARC1; p=none; ${RUA}`) },
      'dmarc.policy_none',
      `v=DMARC1; p=quarantine; ${RUA}`,
      undefined,
      10,
    ],
    [
      'no step while none of the own mail can pass',
      { ...MISSED, ...dmarc('v=DMARC1; p=none') },
      'dmarc.policy_none',
      undefined,
      undefined,
      undefined,
    ],
    [
      'no record that refuses mail either, where it was meant',
      { ...MISSED, ...dmarc(`v=dmarc1; p=reject; ${RUA}`) },
      'dmarc.malformed',
      `v=DMARC1; p=quarantine; t=y; ${RUA}; pct=0`,
      undefined,
      undefined,
    ],
  ])('%s', async (_, zone, id, fix, next, gain) => {
    const { outcomes } = await judgeDomain(repeatable(labCtx(zone)), A, {})
    const finding = outcomes.dmarc.findings.find((one) => one.id === id)!
    expect([finding.fix?.value, finding.next?.value]).toEqual([fix, next])
    if (gain !== undefined) expect(finding.gain).toBe(gain)
  })
})

it('asks nothing twice, and nothing new for records that name nothing new', async () => {
  const world = labWorld(ZONE, { fetch })
  const ctx = repeatable({ ...world, signal: AbortSignal.timeout(5_000) })
  await runChecks(ctx.anew(), A)
  const once = world.asked.length
  const { outcomes } = await judgeDomain(ctx, A, {})
  expect(Object.values(outcomes).flatMap(({ findings }) => findings.filter(({ fix }) => fix)).length).toBeGreaterThan(2)
  expect(world.asked.slice(once)).toEqual([])
  expect(new Set(world.asked).size).toBe(world.asked.length)
})

const WEB = { A: ['45.53.8.1'] }
const ORG: LabZone = {
  'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all'] },
  'm.example': { A: ['45.53.5.1'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a.example'] },
}

it.each<[string, string, LabZone, string | undefined]>([
  ['a name that only the wildcard has', 'www.a.example', { '*.a.example': WEB }, '*.a.example'],
  ['deeper', 'x.www.a.example', { '*.www.a.example': WEB }, '*.www.a.example'],
  ['a wildcard that is an alias', 'www.a.example', { '*.a.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['an alias', 'www.a.example', { 'www.a.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['an alias at the zone', 'b.example', { 'b.example': { CNAME: ['m.example'] } }, 'm.example'],
  ['records of its own', 'www.a.example', { '*.a.example': WEB, 'www.a.example': { A: ['45.53.8.2'] } }, undefined],
  ['text of its own', 'www.a.example', { '*.a.example': WEB, 'www.a.example': { ...WEB, TXT: ['x'] } }, undefined],
  ['no wildcard', 'www.a.example', { 'www.a.example': WEB }, undefined],
  ['a registrable domain', 'a.example', { '*.a.example': WEB }, undefined],
])('%s', async (_, name, zone, lender) => {
  expect((await lenderOf(labCtx({ ...ORG, ...zone }), domain(name)))?.name).toBe(lender)
})

it.each<[string, LabZone, boolean, string]>([
  ['is offered at a name of its own', { 'www.a.example': WEB }, true, 'Publish the record'],
  ['is put in words where a wildcard would lose the name', { '*.a.example': WEB }, false, 'wildcard *.a.example'],
  [
    'is put in words beside an alias',
    { 'www.a.example': { CNAME: ['m.example'] } },
    false,
    'alias (CNAME) of m.example',
  ],
  ['is not offered while that is not known', { 'www.a.example': WEB, '*.a.example': 'SERVFAIL' }, false, ''],
])('a fix at the domain itself %s', async (_, zone, isOffered, words) => {
  const { outcomes } = await judgeDomain(repeatable(labCtx({ ...ORG, ...zone })), domain('www.a.example'), {})
  const told = outcomes.spf.findings.find(({ id }) => id === 'spf.no_record_web')!
  expect(told.fix !== undefined).toBe(isOffered)
  expect(presentFinding(spf.table, told).repair).toContain(words)
})
