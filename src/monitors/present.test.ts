import { describe, expect, it } from 'vitest'
import type { MonitorAnswer } from '../answers/monitors.ts'
import { badgeOf, badgeSvg } from './present.ts'

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
