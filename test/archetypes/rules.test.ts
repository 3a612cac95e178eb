import { expect, it } from 'vitest'
import { dialogues, domains, type Expect, type ShownFinding } from './cases.ts'
import { KNOWN_FAILURES } from './known-failures.ts'
import { broken } from './rules.ts'
import { harmfulFixes } from './senders.ts'

const finding = (id: string, severity: ShownFinding['severity'], over: Partial<ShownFinding> = {}): ShownFinding => ({
  ...{ id, severity, title: 'A title', detail: 'A detail.' },
  ...over,
})
const fixed = (value: string, id = 'dmarc.weak'): ShownFinding =>
  finding(id, 'low', { fix: { name: 'a.example', rtype: 'TXT', value } })

const ANSWER = {
  score: 80,
  spf: { status: 'warn', keys: [{ bits: 1024 }] },
  findings: [
    finding('spf.soft', 'info'),
    finding('ptr.generic', 'medium', { repair: 'Ask the provider.' }),
    finding('dnssec.unsigned', 'medium'),
    fixed('v=DMARC1; p=quarantine; pct=25; rua=mailto:r@a.example'),
  ],
}

it.each<[string, Expect, Expect]>([
  ['a field', { fields: { 'spf.status': 'warn' } }, { fields: { 'spf.status': 'pass' } }],
  ['a field in a list', { fields: { 'spf.keys.0.bits': 1024 } }, { fields: { 'spf.keys.1.bits': 1024 } }],
  ['a field among', { fields: { score: { in: [79, 80] } } }, { fields: { score: { in: [79] } } }],
  ['a field not', { fields: { score: { not: [79] } } }, { fields: { score: { not: [80] } } }],
  ['a finding', { findings: { 'ptr.generic': null } }, { findings: { 'ptr.missing': null } }],
  ['its severity', { findings: { 'ptr.generic': ['low', 'medium'] } }, { findings: { 'ptr.generic': 'low' } }],
  ['forbidden above info', { forbidden: ['spf.soft'] }, { forbidden: ['ptr.generic'] }],
  ['forbidden by its check', { forbidden: ['spf.'] }, { forbidden: ['ptr.'] }],
  ['alarms, those without points aside', { alarms: ['ptr.generic'] }, { alarms: [] }],
  ['alarms named as findings', { alarms: [], findings: { 'ptr.generic': null } }, { alarms: ['ptr.missing'] }],
  ['only these severities', { only: ['medium'] }, { only: ['high'] }],
  ['only these, and all of them', { only: ['medium'] }, { only: ['medium', 'high'] }],
  ['none above', { worst: 'medium' }, { worst: 'low' }],
  [
    'says, in any of its words',
    { says: [{ of: '^ptr', text: 'PROVIDER' }] },
    { says: [{ of: '^spf', text: 'provider' }] },
  ],
  ['says with a severity', { says: [{ severity: ['medium'] }] }, { says: [{ severity: ['high'] }] }],
  ['never says', { never_says: [{ of: '^spf', text: 'provider' }] }, { never_says: [{ text: 'provider' }] }],
  ['the score', { score: [80, 80] }, { score: [81, 90] }],
  ['the score at most', { score: [80, 81] }, { score: [70, 79] }],
  ['a fix that has', { advice: [{ of: '^dmarc', has: ['rua='] }] }, { advice: [{ of: '^dmarc', has: ['ruf='] }] }],
  [
    'a fix that has not',
    { advice: [{ of: '^dmarc', hasnt: ['p=r'] }] },
    { advice: [{ of: '^dmarc', hasnt: ['p=q'] }] },
  ],
  ['a fix that is', { advice: [{ of: '^spf', is: 'x' }] }, { advice: [{ of: '^dmarc', is: 'x' }] }],
  ['a fix that acts on', { advice: [{ of: '^dmarc', at_most: 25 }] }, { advice: [{ of: '^dmarc', at_most: 24 }] }],
  ['a fix that must be', { advice: [{ of: '^dmarc', must: true }] }, { advice: [{ of: '^spf', must: true }] }],
])('%s: holds, and does not', (_, holds, fails) => {
  expect(broken(holds, ANSWER)).toEqual([])
  expect(broken(fails, ANSWER)).toHaveLength(1)
})

it.each([
  ['v=DMARC1; p=none; pct=100', 0],
  ['v=DMARC1; p=reject', 100],
  ['v=DMARC1; p=reject; pct=0', 0],
  ['v=DMARC1; p=quarantine; pct=10; rua=mailto:a@b.example', 10],
])('%s acts on %s %%', (value, percent) => {
  const findings = [fixed(value)]
  expect(broken({ advice: [{ of: '', at_most: percent }] }, { findings })).toEqual([])
  if (percent > 0) expect(broken({ advice: [{ of: '', at_most: percent - 1 }] }, { findings })).toHaveLength(1)
})

it.each([
  ['leaves out a host of the domain', 'v=spf1 mx -all', ['45.53.5.2', '45.53.6.0']],
  ['leaves out a network', 'v=spf1 mx a:out.a.example -all', ['45.53.6.0']],
  [
    'cannot be evaluated',
    'v=spf1 mx ip4:45.53.6.0/24 a:out.a.example nonsense',
    ['45.53.5.1', '45.53.5.2', '45.53.6.0'],
  ],
  ['softens what it leaves out', 'v=spf1 mx ~all', []],
  ['keeps all', 'v=spf1 mx ip4:45.53.6.0/24 a:out.a.example -all', []],
])('an SPF fix that %s', async (_, value, harmed) => {
  const row = {
    ...{ id: 'x', class: 'x', domain: 'a.example', expect: {} },
    zone: {
      'a.example': { MX: [[10, 'mx.a.example']], TXT: ['v=spf1 mx a:out.a.example ip4:45.53.6.0/24 -all'] },
      'mx.a.example': { A: ['45.53.5.1'] },
      'out.a.example': { A: ['45.53.5.2'] },
    },
  }
  const lines = await harmfulFixes(row, { hosts: {}, apex: {} }, [fixed(value, 'spf.x')])
  expect(lines.map((line) => /makes (\S+) /.exec(line)?.[1])).toEqual(harmed)
})

it('knows only failures of cases that there are', () => {
  const ids = [...domains().cases, ...dialogues()].map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(Object.keys(KNOWN_FAILURES).filter((id) => !ids.includes(id))).toEqual([])
})
