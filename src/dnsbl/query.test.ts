import fc from 'fast-check'
import { expect, it } from 'vitest'
import { corpus } from '../../test/lab/corpora.ts'
import { ip } from '../names/ip.ts'
import { askedZone, parseListKey, questionName, TEST_POINTS, withoutKeys } from './query.ts'
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
  if (!key.ok && text !== '') expect(JSON.stringify(key.problem)).not.toContain(JSON.stringify(text)) // a key is a secret, even a wrong one
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
