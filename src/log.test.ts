import { expect, it } from 'vitest'
import { masked } from './log.ts'

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
])('masks %j', (value, shown) => expect(masked(value)).toEqual(shown))

it('is linear on hostile text', () => {
  expect(String(masked('a@'.repeat(32_768))).length).toBeGreaterThan(0)
})
