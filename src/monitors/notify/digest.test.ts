import { expect, it } from 'vitest'
import type { DigestMonitor } from '../../store/postgres/digests.ts'
import { digestOf } from './digest.ts'
import { digestMailOf } from './templates.ts'

const facts = (score: number, finding = 'spf.no_record') => ({
  ...{ score, grade: 'F', role: 'sends_only', provider: 'other', policy: 'none', phase: 'monitoring' },
  ...{ mta_sts: 'none', dnssec: 'unsigned', findings: [finding], profiles: {} },
  worst: { finding, severity: 'high', title: `No SPF record of ${score}` },
})
const change = (text: string, day = 1) => ({
  at: new Date(Date.UTC(2026, 0, day)).toISOString(),
  changes: [{ id: 'spf.all', area: 'SPF', effect: 'worse', text }],
})
const monitor = (number: number, over: Partial<DigestMonitor> = {}): DigestMonitor => ({
  ...{ number, address: 'ann@a.example', kind: 'report', target: `t${number}.example`, domain: '', state: 'bad' },
  ...{ facts: facts(number), changes: [], ...over },
})
const none = new Set<string>()

it('tells what changed, at most 40 targets and the last 10 lines of each, and the worst five', async () => {
  const lines = Array.from({ length: 12 }, (_, n) => change(`change ${n}`, n + 1))
  const monitors = Array.from({ length: 45 }, (_, n) => monitor(n, { changes: n === 44 ? [] : lines }))
  const data = await digestOf(monitors, none)
  expect([data.targets, data.changed, data.changes.length]).toEqual([45, 44, 40])
  expect(data.changes[0]).toMatchObject({ left_out: 2, now: 'F, 0 of 100' })
  expect(data.changes[0]!.lines).toHaveLength(10)
  expect(data.changes[0]!.lines.at(-1)).toBe('2026-01-12: SPF: change 11')
  expect(data.worst.map(({ target }) => target)).toEqual([
    't0.example',
    't1.example',
    't2.example',
    't3.example',
    't4.example',
  ])
  const { text, subject } = digestMailOf({ token: '', ...data }, 'ann@a.example', { publicUrl: undefined })
  expect(subject).toBe('Mail checks: 44 of your 45 targets changed')
  expect(text).toContain('and 4 more targets')
  expect(text).toContain('  and 2 earlier changes')
})
it('calls no accepted finding the worst', async () => {
  const data = await digestOf([monitor(1), monitor(2)], new Set(['1 spf.no_record', '2 dmarc.policy_none']))
  expect(data.worst.map(({ target }) => target)).toEqual(['t2.example'])
})
it.each<[what: string, over: Partial<DigestMonitor>, changed: number]>([
  ['changes of an earlier version', { changes: [{ at: '2026-01-01T00:00:00Z', changes: ['x'] }, 7] }, 0],
  ['facts of an earlier version', { facts: { grade: 3 }, changes: [change('x')] }, 1],
  ['no facts', { facts: null, changes: [change('x')] }, 1],
])('%s hold up nothing', async (_, over, changed) =>
  expect((await digestOf([monitor(1, over)], none)).changed).toBe(changed),
)
it('has no control character and no sentence of a local part', async () => {
  const over = {
    kind: 'verify',
    facts: null,
    target: '"buy pills"@a.example',
    changes: [change('a\u001b[31m\nBcc: x')],
  }
  const mail = digestMailOf({ token: '', ...(await digestOf([monitor(1, over)], none)) }, 'ann@a.example', {
    publicUrl: undefined,
  })
  expect(mail.subject).toBe('Mail checks: an address at a.example changed')
  expect(mail.text).not.toMatch(/\u001b|^Bcc/m)
  expect(mail.text).not.toContain('pills')
})
