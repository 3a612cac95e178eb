import fc from 'fast-check'
import { expect, it } from 'vitest'
import { corpus } from '../../test/lab/corpora.ts'
import { ip } from '../names/ip.ts'
import { askedZone, expandTargets, MAX_TARGETS, parseListKey, questionName, TEST_POINTS, withoutKeys } from './query.ts'
import { zoneFor } from './zone-type.ts'
import { BUILT_IN_LISTS } from './zones.ts'

const list = (name: string) => BUILT_IN_LISTS.find((row) => row.name === name)!
const NIBBLES = 'b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.8.b.d.0.1.0.0.2'

it.each([
  ['PSBL', '192.0.2.1', '1.2.0.192.psbl.surriel.com'],
  ['PSBL', '::ffff:192.0.2.1', '1.2.0.192.psbl.surriel.com'], // a mapped address is IPv4
  ['DroneBL', '2001:db8:1:2:3:4:567:89ab', `${NIBBLES}.dnsbl.dronebl.org`], // RFC 5782 §2.4
  ['SEM-BLACK', '2001:db8:1:2:3:4:567:89ab', `${NIBBLES}.bl.ipv6.spameatingmonkey.net`],
  ['SEM-BLACK', '192.0.2.1', '1.2.0.192.bl.spameatingmonkey.net'],
])('%s about %s asks %s', (name, address, question) => {
  expect(questionName(list(name), ip(address), {})).toBe(question)
})

it.each([
  ['Spamhaus ZEN', '1.2.0.192.secretkey1.zen.dq.spamhaus.net'],
  ['SpamRATS Dyna', '1.2.0.192.ratskey.dyna.spamrats.com'],
  ['SpamRATS Auth', '1.2.0.192.ratskey.auth.spamrats.com'],
  ['SpamCop', '1.2.0.192.bl.spamcop.net'],
])('%s with keys asks %s, and its shown zone has none', (name, question) => {
  const keys = { dqs: 'secretkey1', spamrats: 'ratskey' }
  expect(questionName(list(name), ip('192.0.2.1'), keys)).toBe(question)
  expect(zoneFor(list(name), 4)).toBe(list(name).zone)
})

it.each([
  ['abc123', true],
  ['ABC-123', true],
  ['', false],
  ['a.b', false], // one label
  ['-a', false],
  ['a b', false],
  ['a'.repeat(64), false],
])('key %j is good: %s', (text, ok) => {
  const key = parseListKey(text, 'dqs-key')
  expect(key.ok).toBe(ok)
  // a key is a secret, even a wrong one
  if (!key.ok && text !== '') expect(JSON.stringify(key.problem)).not.toContain(JSON.stringify(text))
})

it('takes keys out of text from outside, in any case', () => {
  expect(withoutKeys('see https://x.example/SecretKey?k=secretkey', { dqs: 'secretkey' })).toBe(
    'see https://x.example/…?k=…',
  )
})

it('takes any key out, also one that is no key', () => {
  expect(withoutKeys('a(b a.c', { dqs: '(b', spamrats: 'a.c' })).toBe('a… …')
})

it('every zone is in one row, the second one of IPv6 too', () => {
  const zones = BUILT_IN_LISTS.flatMap(({ zone, zoneV6 }) => (zoneV6 === undefined ? [zone] : [zone, zoneV6]))
  expect(new Set(zones).size).toBe(30)
  expect(zones).toContain('bl.ipv6.spameatingmonkey.net')
})

type Point = { id: string; kind: string; ip: string; zone: string; query: string; must_be_listed: boolean }
const cases = (corpus('dns/dnsbl-testpoints.json')?.cases ?? []) as Point[]
const names = cases.filter(({ kind }) => kind === 'query_name')
it.runIf(names.length > 0).each(names)('corpus $id', ({ ip: address, zone, query }) => {
  expect(questionName({ ...list('PSBL'), zone }, ip(address), {})).toBe(query)
})
const points = cases.filter(({ kind }) => kind === 'test_point')
it.runIf(points.length > 0).each(points)('corpus $id', ({ ip: address, query, must_be_listed }) => {
  const family = address.includes(':') ? 6 : 4
  const point = TEST_POINTS[family][must_be_listed ? 'positive' : 'negative']
  expect(`${point}.<zone>`).toBe(query)
})

it('gives names that the DNS can carry, for every address', () => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 })
  fc.assert(
    fc.property(fc.constantFrom(...BUILT_IN_LISTS), bytes, (row, raw) => {
      const text = [...Array(8)].map((_, i) => ((raw[i * 2]! << 8) | raw[i * 2 + 1]!).toString(16)).join(':')
      const keys = { dqs: 'k'.repeat(63), spamrats: 'k'.repeat(63) }
      expect(questionName(row, ip(text), keys).length).toBeLessThanOrEqual(253)
      expect(askedZone(row, 4, {})).toBe(row.zone)
    }),
  )
})

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
