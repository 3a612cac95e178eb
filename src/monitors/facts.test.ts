import { expect, it } from 'vitest'
import { checkAnswer } from '../answers/check.ts'
import example from '../operations/examples/check.json' with { type: 'json' }
import { factsOf, phaseOf } from './facts.ts'
import { knownRun } from './kinds.ts'

const answer = checkAnswer.parse(example)
type Dmarc = Partial<typeof answer.dmarc>
const role = (name: typeof answer.domain_role.name) => ({ name, because: '' })

it.each<[what: string, dmarc: Dmarc, name: typeof answer.domain_role.name, phase: object]>([
  ['no record', { valid: false, policy: '', effective_policy: '' }, 'sends_and_accepts_mail', { phase: 'none' }],
  ['a record that cannot be applied', { valid: false, record: 'v=DMARC1; p=x' }, 'sends_only', { phase: 'none' }],
  ['p=none', { policy: 'none', effective_policy: 'none' }, 'sends_only', { phase: 'monitoring' }],
  [
    'p=quarantine; t=y: nothing for receivers of RFC 9989',
    { policy: 'quarantine', effective_policy: 'none', testing: true },
    'sends_only',
    { phase: 'partial' },
  ],
  [
    'p=quarantine; pct=50',
    { policy: 'quarantine', effective_policy: 'quarantine', pct: 50 },
    'sends_only',
    { phase: 'partial' },
  ],
  [
    'p=quarantine; pct=0',
    { policy: 'quarantine', effective_policy: 'quarantine', pct: 0 },
    'sends_only',
    { phase: 'partial' },
  ],
  ['p=none; pct=0', { policy: 'none', effective_policy: 'none', pct: 0 }, 'sends_only', { phase: 'monitoring' }],
  ['p=quarantine', { policy: 'quarantine', effective_policy: 'quarantine' }, 'sends_only', { phase: 'enforced' }],
  [
    'p=reject; pct=10: the rest is quarantined',
    { policy: 'reject', effective_policy: 'reject', pct: 10 },
    'sends_only',
    { phase: 'enforced' },
  ],
  [
    'p=reject; t=y: quarantine',
    { policy: 'reject', effective_policy: 'quarantine', testing: true },
    'sends_only',
    { phase: 'enforced' },
  ],
  ['a parked domain at none', { policy: 'none', effective_policy: 'none' }, 'parked', { phase: 'parked' }],
  [
    'the record of the organization',
    { policy: 'reject', effective_policy: 'reject', inherited: true },
    'sends_only',
    { phase: 'inherited', inherited_phase: 'enforced' },
  ],
  [
    'sp=none of the organization',
    { policy: 'none', effective_policy: 'none', inherited: true },
    'sends_only',
    { phase: 'inherited', inherited_phase: 'monitoring' },
  ],
  ['no answer', { status: 'unknown', valid: false, policy: '' }, 'sends_only', { phase: 'unknown' }],
])('%s', (_, dmarc, name, phase) => {
  const base = { valid: true, inherited: false, testing: false, status: 'pass' } as const
  const { pct: _pct, ...rest } = answer.dmarc
  expect(phaseOf({ dmarc: { ...rest, ...base, ...dmarc }, domain_role: role(name) })).toEqual(phase)
})

it('says which record governs a domain without one', () => {
  const detail = 'a.example.org has no usable record of its own; the sp of example.org governs it.'
  const findings = [{ ...answer.findings[0]!, id: 'dmarc.inherited', severity: 'info' as const, detail }]
  const dmarc = { ...answer.dmarc, inherited: true }
  expect(factsOf({ ...answer, dmarc, findings })).toMatchObject({ phase: 'inherited', inherited_because: detail })
})

it.each<[what: string, over: Partial<typeof answer>, facts: Partial<ReturnType<typeof factsOf>>]>([
  ['mail hosts that could not be looked up', { mx: [], mx_status: 'unknown' }, { provider: 'unknown' }],
  ['no mail hosts', { mx: [], mx_kind: 'none' }, { provider: 'none' }],
  ['hosts of nobody known', { mx: [{ ...answer.mx[0]!, host: 'mx.a.example' }] }, { provider: 'other' }],
  ['hosts of a provider', { mx: [{ ...answer.mx[0]!, host: 'aspmx.l.google.com' }] }, { provider: 'Google Workspace' }],
  ['a bogus signature', { dnssec: { ...answer.dnssec, bogus: true } }, { dnssec: 'broken' }],
  [
    'a record of MTA-STS without a policy',
    { mta_sts: { ...answer.mta_sts, status: 'fail', record: 'v=STSv1; id=1', policy: undefined } },
    { mta_sts: 'broken' },
  ],
  ['MTA-STS that is unknown', { mta_sts: { ...answer.mta_sts, status: 'unknown' } }, { mta_sts: 'unknown' }],
  [
    'information alone',
    { findings: answer.findings.map((one) => ({ ...one, severity: 'info' as const })) },
    { worst: null, findings: [] },
  ],
])('%s', (_, over, facts) => {
  expect(factsOf({ ...answer, ...over })).toMatchObject(facts)
})

it('the first reading is the baseline, and is not kept while a part of it is open', () => {
  const first = knownRun('check', null).compare(answer)
  expect(first).toMatchObject({ isBaseline: true, before: undefined, changes: [] })
  expect(knownRun('check', first.known ?? null).compare(answer)).toMatchObject({ isBaseline: false, changes: [] })
  const unread = { ...answer, spf: { ...answer.spf, status: 'unknown' as const } }
  expect(knownRun('check', null).compare(unread).known).toBeUndefined()
  expect(knownRun('check', first.known ?? null).compare(unread).known).toBeDefined()
})
