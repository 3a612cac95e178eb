import { describe, expect, it } from 'vitest'
import type { JsonRecord } from '../../base/json.ts'
import { MAX_HELD_MS } from '../../http/loop-watch.ts'
import { withoutMailboxes } from './mask.ts'

const ANSWER: JsonRecord = { email: 'joe.doe@a.example', result: 'rejected' }

describe('a verification for who has no key', () => {
  it.each<[string, string, string, string]>([
    ['the address', 'joe.doe@a.example', '<joe.doe@a.example>: no such user', '<j***@a.example>: no such user'],
    ['in another case', 'joe.doe@a.example', 'JOE.DOE@A.EXAMPLE unknown', 'j***@a.example unknown'],
    ['the local part alone', 'joe.doe@a.example', '550 joe.doe: no such user', '550 j***: no such user'],
    ['not within a word', 'ann@a.example', '550 annual joann ann', '550 annual joann a***'],
    [
      'a short one only within an address',
      'hi@a.example',
      '550 hi there, hi@a.example',
      '550 hi there, h***@a.example',
    ],
    ['of other people', 'joe.doe@a.example', 'ask eve@b.example', 'ask e***@b.example'],
    ['a quoted one', '"joe doe"@a.example', '550 joe doe is not here', '550 j*** is not here'],
    ['with characters that patterns use', 'a.b+c@a.example', 'a.b+c@a.example axb+c', 'a***@a.example axb+c'],
    ['beyond ASCII', 'jürgen@a.example', 'jürgen unbekannt', 'j*** unbekannt'],
  ])('%s', (_, email, text, masked) =>
    expect(withoutMailboxes('verify', { ...ANSWER, email, message: text }).message).toBe(masked),
  )
  it('wherever it stands', () => {
    const deep = {
      ...ANSWER,
      attempts: [{ message: 'joe.doe gone' }],
      transcript: [{ lines: ['RCPT TO:<joe.doe@a.example>'] }],
    }
    expect(JSON.stringify(withoutMailboxes('verify', deep))).not.toContain('joe')
  })
  it('words of ours stay: `role` of role@…', () =>
    expect(withoutMailboxes('verify', { email: 'accepted@a.example', result: 'accepted' })).toEqual({
      email: 'a***@a.example',
      result: 'accepted',
    }))
  it.each(['check', 'report'] as const)('a %s stays as it is: its addresses are published', (kind) => {
    const answer = { dmarc: { record: 'v=DMARC1; rua=mailto:joe@a.example' } }
    expect(withoutMailboxes(kind, answer)).toEqual(answer)
  })
})

it.each([
  ['without an address', 'x'],
  ['of dots', 'a.'],
  ['of escapes', '%40'],
])('a stored message of 1 MiB %s does not hold the event loop', (_, piece) => {
  const texts = Array.from({ length: 256 }, () => piece.repeat(4_096 / piece.length))
  const before = process.threadCpuUsage()
  withoutMailboxes('message', { texts })
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(MAX_HELD_MS)
})
