import { describe, expect, it } from 'vitest'
import type { StoredKind } from '../answers/stored.ts'
import type { JsonRecord } from '../base/json.ts'
import { MAX_HELD_MS } from '../http/overload.ts'
import { withoutMailboxes } from './stored.ts'

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
    expect(withoutMailboxes('verify', { ...ANSWER, email, message: text })).resolves.toMatchObject({ message: masked }),
  )
  it('wherever it stands', async () => {
    const deep = {
      ...ANSWER,
      attempts: [{ message: 'joe.doe gone' }],
      transcript: [{ lines: ['RCPT TO:<joe.doe@a.example>'] }],
    }
    expect(JSON.stringify(await withoutMailboxes('verify', deep))).not.toContain('joe')
  })
  it('words of ours stay: `role` of role@…', () =>
    expect(withoutMailboxes('verify', { email: 'accepted@a.example', result: 'accepted' })).resolves.toEqual({
      email: 'a***@a.example',
      result: 'accepted',
    }))
  it.each(['check', 'report'] as const)('a %s stays as it is: its addresses are published', async (kind) => {
    const answer = { dmarc: { record: 'v=DMARC1; rua=mailto:joe@a.example' } }
    await expect(withoutMailboxes(kind, { ...answer })).resolves.toEqual(answer)
  })
})

describe('the analysis of a message for who has no key', () => {
  const from = { address: 'joe.doe@a.example', name: 'Joe Q. Doe', domain: 'a.example', authors: 1 }
  it.each<[string, string, string, string]>([
    ['the name of the author', 'because', 'added: Joe Q. Doe, Sales', 'added: J***, Sales'],
    ['in another case', 'detail', 'The name "JOE Q. DOE" looks', 'The name "J***" looks'],
    [
      'each word of it in texts of the message',
      'subject',
      'A call for Joe and Mrs. Doe',
      'A call for J*** and Mrs. D***',
    ],
    ['not within a word', 'subject', 'Joeys and Joe', 'Joeys and J***'],
    ['not in sentences of ours', 'detail', 'Joe is a word', 'Joe is a word'],
    ['addresses', 'summary', 'it is from joe.doe@a.example', 'it is from j***@a.example'],
    ['of other people', 'evidence', 'eve@b.example', 'e***@b.example'],
    ['in any field', 'message_id', '<joe.1@a.example>', '<j***@a.example>'],
  ])('%s', async (_, key, text, masked) => {
    const answer = await withoutMailboxes('message', { from: { ...from }, headers: { [key]: text } })
    expect(answer).toEqual({
      from: { address: 'j***@a.example', name: 'J***', domain: 'a.example', authors: 1 },
      headers: { [key]: masked },
    })
  })
  it('of a bounce: names and mailboxes of both sides', async () => {
    const answer = {
      bounce: {
        recipients: [{ address: 'eve@b.example', text: '550 eve: no such user', meaning: 'The mailbox is gone.' }],
        returned: {
          from: 'Joe Doe <joe@a.example>',
          to: '"Eve Adams" <eve@b.example>',
          subject: 'Hello Eve',
          analysis: { from: { address: 'joe@a.example', name: 'Joe Doe' } },
        },
      },
    }
    expect(JSON.stringify(await withoutMailboxes('message', answer))).not.toMatch(/eve|adams|joe|doe/i)
  })
  it.each(['', 'pass', 'x', '***'])('a name %j leaves our own words', async (name) => {
    const answer = { from: { ...from, name }, spf: { result: 'pass' }, headers: { detail: 'x fails' } }
    expect(await withoutMailboxes('message', answer)).toMatchObject({
      spf: { result: 'pass' },
      headers: { detail: 'x fails' },
    })
  })
})

it.each<[string, StoredKind, JsonRecord]>([
  ['1 MiB without an address', 'message', { texts: texts('x') }],
  ['1 MiB of dots', 'message', { texts: texts('a.') }],
  ['1 MiB of escapes', 'message', { texts: texts('%40') }],
  ['20,000 small records', 'verify', { ...ANSWER, attempts: records() }],
])('an answer of %s does not hold the event loop', async (_, kind, answer) => {
  let [lastMs, longestMs, isOver] = [cpuMs(), 0, false]
  const look = (): void => {
    longestMs = Math.max(longestMs, cpuMs() - lastMs)
    lastMs = cpuMs()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await withoutMailboxes(kind, answer)
  isOver = true
  look()
  expect(longestMs).toBeLessThan(MAX_HELD_MS)
})
function texts(piece: string): readonly string[] {
  return Array.from({ length: 256 }, () => piece.repeat(4_096 / piece.length))
}
function records(): readonly JsonRecord[] {
  return Array.from({ length: 20_000 }, (_, n) => ({
    ...{ host: `mx${n}.a.example`, message: `550 joe.doe ${n}`, hint: `ask joe.doe@a.example (${n})` },
    ...{ code: 550, reply: `5.1.1 <joe.doe@a.example>: no such user ${n}` },
  }))
}
/** Processor time of this thread, ms. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
