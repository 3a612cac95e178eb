import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { email } from '../../../test/lab/email.ts'
import { domain } from '../../names/domain.ts'
import { parseEmail } from '../../names/email.ts'
import { ip } from '../../names/ip.ts'
import { addressLiteral, ehlo, mailFrom, parseCapabilities, rcptTo } from './commands.ts'
import { maskTranscript, transcript } from './transcript.ts'

describe('commands', () => {
  it.each([
    [mailFrom(undefined, { smtputf8: false }), 'MAIL FROM:<>'],
    [mailFrom(email('a@x.example'), { smtputf8: true }), 'MAIL FROM:<a@x.example> SMTPUTF8'],
    [rcptTo(email('"a b"@x.example')), 'RCPT TO:<"a b"@x.example>'],
    [rcptTo(email('"ab"@x.example')), 'RCPT TO:<ab@x.example>'], // printed anew
    [ehlo('us.example'), 'EHLO us.example'],
    [ehlo(addressLiteral(ip('45.53.1.1'))), 'EHLO [45.53.1.1]'],
    [ehlo(addressLiteral(ip('2a01:4f8::1'))), 'EHLO [IPv6:2a01:4f8::1]'], // RFC 5321 §4.1.3
  ])('%s', (command, expected) => expect(command).toBe(expected))

  it.each(['us.example\r\nRCPT TO:<x>', 'a b', '', 'a\0b', '-', 'a'.repeat(300)])('does not greet as %j', (name) =>
    expect(() => ehlo(name)).toThrow(TypeError),
  )

  it.each(['a\r\nDATA', 'a\0', 'a>b', 'a\nb'])(
    'never writes the local part %j, even where it was not parsed',
    (local) => expect(() => rcptTo({ local, domain: domain('x.example'), smtputf8: false })).toThrow(TypeError),
  )

  it('is one line for whatever parses', () =>
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab."\\ <>@\r\n\0:;,é', 'x.example') }), (text) => {
        const parsed = parseEmail(text)
        if (!parsed.ok) return
        const command = rcptTo(parsed.value)
        expect(command).not.toMatch(/[\r\n\0]|>.*>/)
      }),
    ))
})

it('reads capabilities', () => {
  const rows = [
    'mx.example greets you',
    'SIZE 1000',
    'pipelining',
    'AUTH=LOGIN',
    '8BITMIME ',
    '',
    '\0',
    'X'.repeat(500),
  ]
  expect([...parseCapabilities(rows)].slice(0, 4)).toEqual([
    ['SIZE', '1000'],
    ['PIPELINING', ''],
    ['AUTH', 'LOGIN'],
    ['8BITMIME', ''],
  ])
})

describe('the transcript', () => {
  it('is bounded and printable', () => {
    const log = transcript(() => 0)
    for (let i = 0; i < 1_000; i++) log.add('server', `a\r\n${'x'.repeat(1_000)}`)
    expect(log.lines()).toHaveLength(301)
    expect(log.lines().at(-1)).toEqual({ atMs: 0, from: 'note', text: 'further lines are omitted' })
    expect(log.lines()[0]?.text).toMatch(/^a {2}x{508}…$/)
  })
  it('masks other people’s addresses', () => {
    const lines = [
      { atMs: 0, from: 'server' as const, text: '550 <a@x.example> is now bob@y.example, ask "postmaster@x.example"' },
    ]
    expect(maskTranscript(lines, ['a@x.example'])[0]?.text).toBe(
      '550 <a@x.example> is now b***@y.example, ask "p***@x.example"',
    )
  })
})
