import fc from 'fast-check'
import { expect, it } from 'vitest'
import { expandTargets, MAX_TARGETS } from './targets.ts'

const many = (n: number): string[] => Array.from({ length: n }, (_, i) => `45.53.${i >> 8}.${i & 255}`)

it.each([
  [['45.53.5.1'], 1],
  [[' 45.53.5.1 ', '45.53.5.1'], 1], // each once
  [['::ffff:45.53.5.1', '45.53.5.1'], 1],
  [['2001:db8::1', '45.53.5.1'], 2],
  [['45.53.5.0/24'], 256],
  [['45.53.5.77/24'], 256], // the bits beyond the prefix mean nothing
  [['45.53.5.0/25', '45.53.5.128/25'], 256],
  [['45.53.5.4/30'], 4],
  [['45.53.5.4/32'], 1],
  [many(256), 256],
])('%.40s: %i addresses', (texts, count) => {
  const targets = expandTargets(texts)
  expect(targets.ok && targets.value.length).toBe(count)
})

it('walks a network in order', () => {
  expect(expandTargets(['45.53.5.77/30'])).toEqual({
    ok: true,
    value: ['45.53.5.76', '45.53.5.77', '45.53.5.78', '45.53.5.79'],
  })
})

it.each([
  [[], /no address/],
  [many(257), /more than 256/],
  [['45.53.5.0/24', '45.53.6.1'], /more than 256/],
  [['45.53.0.0/23'], /address 1: .*too large/],
  [['0.0.0.0/0'], /too large/],
  [['45.53.5.1', 'x'], /address 2: /],
  [['2001:db8::/64'], /IPv6 network/],
  [['45.53.5.1/'], /prefix length/],
  [['45.53.5.1/24/24'], /not a network/],
  [['010.1.2.3'], /not an IP address/],
  [['3232235777'], /not an IP address/],
])('%.40s is refused', (texts, problem) => {
  const targets = expandTargets(texts)
  expect(targets.ok ? 'taken' : targets.problem.text).toMatch(problem)
})

it('never throws, and never gives more than it may', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string(),
          fc.ipV4Extended(),
          fc.ipV6(),
          fc.ipV4().map((ip) => `${ip}/25`),
        ),
      ),
      (texts) => {
        const targets = expandTargets(texts)
        if (targets.ok) expect(targets.value.length).toBeLessThanOrEqual(MAX_TARGETS)
      },
    ),
  )
})
