import { describe, expect, it } from 'vitest'
import type { MonitorAnswer } from '../answers/monitors.ts'
import { badgeOf, badgeSvg } from './present.ts'
import { stepLines } from './run.ts'

type Shown = Pick<MonitorAnswer, 'kind' | 'target' | 'state' | 'last'>
const last = (score: number | null, listed: number | null): MonitorAnswer['last'] => ({
  ...{ time: '2026-01-02T03:04:05.000Z', status: 'pass', score, listed },
})

describe('a badge', () => {
  it.each<[Shown, string, string, string]>([
    [
      { kind: 'check', target: 'a.example', state: 'ok', last: last(91, null) },
      'mail a.example',
      '91/100',
      'brightgreen',
    ],
    [{ kind: 'report', target: 'a.example', state: 'bad', last: last(0, 2) }, 'mail a.example', '0/100', 'red'],
    [
      { kind: 'report', target: 'a.example', state: 'unknown', last: last(91, 0) },
      'mail a.example',
      'unknown',
      'lightgrey',
    ],
    [{ kind: 'check', target: 'a.example', state: 'unknown', last: null }, 'mail a.example', 'unknown', 'lightgrey'],
    [
      { kind: 'check', target: 'a.example', state: 'ok', last: last(null, null) },
      'mail a.example',
      'ok',
      'brightgreen',
    ],
    [
      { kind: 'blacklist', target: '192.0.2.1', state: 'ok', last: last(null, 0) },
      'blacklists',
      'on no list',
      'brightgreen',
    ],
    [{ kind: 'blacklist', target: '192.0.2.1', state: 'bad', last: last(null, 3) }, 'blacklists', 'on 3', 'red'],
    [{ kind: 'verify', target: 'joe@a.example', state: 'ok', last: last(null, null) }, 'mailbox', 'ok', 'brightgreen'],
  ])('%o', (shown, label, message, color) =>
    expect(badgeOf(shown)).toEqual({ schemaVersion: 1, label, message, color }),
  )
  it('is an image with nothing of the target but its letters', () => {
    const svg = badgeSvg({ schemaVersion: 1, label: `mail "<script>&'`, message: '91/100', color: 'no such' })
    expect(svg).not.toMatch(/<script|href|url\(|javascript/i)
    expect(svg).toContain('mail &quot;&lt;script&gt;&amp;')
    expect(svg.match(/<svg /g)).toHaveLength(1)
  })
})

it('a message has the steps of the plan that need not wait, each with its records', () => {
  const step = { by: 'dns', findings: [], why: '', before: [], score: 70, grade: 'C', grade_because: null }
  const record = { action: 'replace', name: 'a.example', type: 'TXT', ttl: 3_600, value: 'v=spf1 mx ~all', was: [] }
  const steps = [
    { ...step, title: 'Correct the SPF record', before: ['Name every sender.'], records: [record] },
    { ...step, title: 'Sign with DKIM', by: 'mail provider', records: [] },
    { ...step, title: 'DMARC: quarantine', wait: 'A month.', records: [{ ...record, name: '_dmarc.a.example' }] },
  ]
  expect(stepLines({ plan: { steps } })).toEqual([
    'Step 1: Correct the SPF record, then C (70)',
    '  First: Name every sender.',
    '  Publish a.example TXT v=spf1 mx ~all',
    'Step 2: Sign with DKIM (by the mail provider), then C (70)',
  ])
  expect(stepLines({ score: 3 })).toEqual([])
})
