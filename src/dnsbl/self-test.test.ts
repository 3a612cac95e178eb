import fc from 'fast-check'
import { expect, it } from 'vitest'
import { corpus } from '../../test/lab/corpora.ts'
import { type LabZone, labDns } from '../../test/lab/dns.ts'
import { ip } from '../names/ip.ts'
import { DnsError, type DnsReason } from '../net/dns/resolver.ts'
import { TEST_POINTS } from './query.ts'
import {
  isBarred,
  isDue,
  MAX_HISTORY,
  nextState,
  proofOf,
  readTestPoint,
  type Seen,
  TEST_EVERY_MS,
  type TestState,
  UNTESTED,
} from './self-test.ts'
import type { List } from './zone-type.ts'
import { BUILT_IN_LISTS } from './zones.ts'

const named = (name: string): List => BUILT_IN_LISTS.find((list) => list.name === name)!
const HOUR = 3_600_000

/**
 * Tests an hour apart, each written as what its two points showed: `+` listed, `-` absent, `r` refused, `w` rewritten,
 * `?` unanswered.
 */
function after(tests: string): TestState {
  const seen = { '+': 'listed', '-': 'absent', r: 'refused', w: 'rewritten', '?': 'unanswered' } as const
  return tests.split(' ').reduce<TestState>((state, pair, i) => {
    const [positive, negative] = [...pair].map((mark) => seen[mark as keyof typeof seen])
    return nextState(state, { atMs: i * HOUR, positive: positive as Seen, negative: negative!, codes: [] })
  }, UNTESTED)
}

it.each([
  ['', 'unanswered'],
  ['+-', 'holds'],
  ['+?', 'holds'],
  ['--', 'missing'],
  ['+- --', 'missing'],
  ['-- ??', 'missing'], // silence does not bring the point back
  ['w-', 'missing'],
  ['r-', 'missing'], // answered, and not as a listing
  ['r- ??', 'unanswered'],
  ['??', 'unanswered'],
  ['+- ??', 'holds'], // for three hours
  ['+- ?? ??', 'holds'],
  ['+- ?? ?? ??', 'unanswered'],
  ['-- +-', 'holds'],
] as const)('after the tests "%s" the proof of "not listed" is: %s', (tests, proof) => {
  expect(proofOf(tests === '' ? UNTESTED : after(tests))).toBe(proof)
})

it('a list that holds counts no clean tests', () => {
  expect(after('+-').cleanTests).toBe(0)
  expect(after('--').cleanTests).toBe(0)
  expect(after('++ +-').cleanTests).toBe(1) // in quarantine
})

it.each([
  ['+-', 'healthy', null],
  ['--', 'failing', 'test_point_missing'],
  ['-- -- --', 'failing', 'test_point_missing'], // two hours
  ['-- -- -- --', 'dead', 'test_point_missing'], // three
  ['w- w- w- w-', 'dead', 'test_point_missing'], // parked
  ['-- -- -- -- +-', 'healthy', null], // alive again
  ['-- -- +- -- --', 'failing', 'test_point_missing'], // the three hours count without a break
  ['-- ?- ?- --', 'dead', 'test_point_missing'], // unanswered tests prove neither
  ['-- -- -- -- ??', 'dead', 'test_point_missing'],
  ['??', 'unanswered', 'no_answer'],
  ['?? ?? ?? ?? ??', 'unanswered', 'no_answer'], // silence is not absence
  ['+- ??', 'unanswered', 'no_answer'],
  ['+?', 'unanswered', 'no_answer'],
  ['++', 'quarantined', 'answers_everything'],
  ['-+', 'quarantined', 'answers_everything'],
  ['?+', 'quarantined', 'answers_everything'],
  ['ww', 'quarantined', 'rewritten_or_parked'],
  ['+- +- ++', 'quarantined', 'answers_everything'], // at once
  ['++ +-', 'quarantined', 'answers_everything'], // one clean test is not enough
  ['++ +- ++ +-', 'quarantined', 'answers_everything'], // answers by whim
  ['++ +- +-', 'healthy', null],
  ['++ +- ?? +-', 'healthy', null],
  ['rr', 'refused', 'resolver_refused'],
  ['r-', 'refused', 'resolver_refused'],
  ['rr rr rr rr rr', 'refused', 'resolver_refused'], // never dead: not the list's fault
  ['-- -- rr -- --', 'failing', 'test_point_missing'],
] as const)('%s: %s', (tests, status, reason) => {
  expect(after(tests)).toMatchObject({ status, reason })
})

it('bars dead and quarantined lists only', () => {
  const barred = ['+-', '--', '??', 'rr', '++', '-- -- -- --'].map((tests) => isBarred(after(tests)))
  expect(barred).toEqual([false, false, false, false, true, true])
})

it.each([
  [0, true], // never tested
  [TEST_EVERY_MS - 1, false],
  [TEST_EVERY_MS, true],
  [-1, true], // the clock stepped back
])('%i ms after a test: due %s', (ms, due) => {
  expect(isDue(ms === 0 ? UNTESTED : after('+-'), ms)).toBe(due)
})

it('keeps the changes, bounded', () => {
  expect(after('+- +- -- -- -- -- +-').history.map(({ status }) => status)).toEqual([
    'healthy',
    'failing',
    'dead',
    'healthy',
  ])
  expect(after(Array(200).fill('+- rr').join(' ')).history).toHaveLength(MAX_HISTORY)
})

it.each([
  ['Spamhaus ZEN', ['127.0.0.2', '127.0.0.4', '127.0.0.10'], 'listed'],
  ['PSBL', [], 'absent'],
  ['PSBL', ['127.0.0.2'], 'listed'],
  ['PSBL', ['127.255.255.254'], 'refused'],
  ['PSBL', ['127.0.0.1'], 'refused'],
  ['PSBL', ['192.0.2.1'], 'rewritten'],
  ['blocklist.de', ['127.0.0.15'], 'listed'], // its own code
  ['DroneBL', ['127.0.0.1'], 'listed'], // any code of 127/8
  ['DroneBL', ['127.0.0.2'], 'listed'],
  ['SpamRATS Dyna', ['127.0.0.36'], 'listed'],
  ['SpamRATS NoPtr', ['127.0.0.38'], 'listed'], // a code of a sister list is an entry all the same
  ['Mailspike BL', ['127.0.0.14'], 'absent'], // reputation, not an entry
] as const)('the test point of %s answering %j is %s', (name, records, seen) => {
  const base = { name: '2.0.0.127.x', type: 'A' as const, ttlSeconds: 1, cname: [], secure: false, ede: [] }
  const kind = records.length > 0 ? ('found' as const) : ('nxdomain' as const)
  expect(readTestPoint(named(name), 'positive', { ...base, kind, records: records.map(ip) }).seen).toBe(seen)
})

it.each([
  ['DroneBL', '127.0.0.1', 'absent'], // its test class for 127.0.0.1 is no listing
  ['DroneBL', '127.0.0.3', 'listed'],
  ['PSBL', '127.0.0.2', 'listed'],
  ['Spamhaus ZEN', '127.0.0.77', 'listed'], // whatever it means, it answers for an address that cannot be listed
  ['PSBL', '127.255.255.254', 'refused'],
] as const)('the negative point of %s answering %s is %s', (name, code, seen) => {
  const base = { name: '1.0.0.127.x', type: 'A' as const, ttlSeconds: 1, cname: [], secure: false, ede: [] }
  expect(readTestPoint(named(name), 'negative', { ...base, kind: 'found', records: [ip(code)] }).seen).toBe(seen)
})

it.each([
  ['timeout', 'unanswered'],
  ['servfail', 'unanswered'],
  ['network', 'unanswered'],
  ['refused', 'refused'],
] as const)('a test point with %s is %s', (reason: DnsReason, seen) => {
  expect(readTestPoint(named('PSBL'), 'positive', new DnsError(reason, { name: 'x', type: 'A' })).seen).toBe(seen)
})

type Health = { id: string; kind: string; zone: string; records: LabZone; healthy: boolean }
const cases = ((corpus('dns/dnsbl-testpoints.json')?.cases ?? []) as Health[]).filter(({ kind }) => kind === 'health')
it.runIf(cases.length > 0).each(cases)('corpus $id', async ({ zone, records, healthy }) => {
  const { resolve } = labDns(records)
  const look = async (point: 'positive' | 'negative') =>
    readTestPoint(
      named('PSBL'),
      point,
      await resolve(`${TEST_POINTS[4][point]}.${zone}`, 'A', AbortSignal.timeout(1_000)),
    )
  const positive = await look('positive')
  const negative = await look('negative')
  const state = nextState(UNTESTED, { atMs: 0, positive: positive.seen, negative: negative.seen, codes: [] })
  expect(state.status === 'healthy').toBe(healthy)
})

it('a list that ever answers everything is barred at that test, whatever came before', () => {
  const pair = fc.constantFrom('+-', '--', '??', 'rr', 'ww', '+s')
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 30 }), (tests) => {
      expect(isBarred(after([...tests, '++'].join(' ')))).toBe(true)
    }),
  )
})
