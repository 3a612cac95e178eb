import { expect, it } from 'vitest'
import { createLogger, masked } from './log.ts'

it.each([
  ['rcpt joe@example.org refused', 'rcpt j***@example.org refused'],
  [
    { email: 'joe@example.org', deep: ['<a@b.example>'] },
    { email: 'j***@example.org', deep: ['<a***@b.example>'] },
  ],
  [
    { n: 1, none: null },
    { n: 1, none: null },
  ],
  [
    { message_id: '<joe@example.org>', to: 'joe@example.org' },
    { message_id: '<joe@example.org>', to: 'j***@example.org' },
  ],
])('masks %j', (value, shown) => expect(masked(value)).toEqual(shown))

it('is linear on hostile text', () => {
  expect(String(masked('a@'.repeat(32_768))).length).toBeGreaterThan(0)
})

it.each(['json', 'pretty'] as const)('writes a line as %s, the address in it masked', (format) => {
  const lines: string[] = []
  const logger = createLogger({ level: 'info', format, addresses: false }, (line) => lines.push(line))
  logger.info({ email: 'joe@example.org' }, 'asked about joe@example.org')
  expect(lines.join('')).toContain('asked about j***@example.org')
  expect(lines.join('')).not.toContain('joe@')
})
