import { expect, it } from 'vitest'
import type { ScoreRow } from '../../answers/check.ts'
import type { FindingAnswer } from '../../answers/finding.ts'
import { WEIGHTS } from '../../answers/weights.ts'
import { firstThings, type Listing } from './first-things.ts'

const finding = (
  id: string,
  severity: FindingAnswer['severity'],
  fix?: readonly [name: string, rtype: string, value: string],
): FindingAnswer => ({
  id,
  severity,
  title: id,
  detail: '',
  reference: 'RFC 7208',
  ...(fix ? { fix: { type: 'dns', name: fix[0], rtype: fix[1], value: fix[2] } } : {}),
})
const lost = (id: string, points: number, kind: ScoreRow['kind'] = 'deduction'): ScoreRow => ({
  component: 'spf',
  finding: id,
  kind,
  points,
})
const listing = (address: string, list: string, tier: Listing['tier']): Listing => ({
  address,
  list,
  tier,
  delistUrl: `https://${list}.example/`,
})
const apex = ['a.example', 'TXT', 'v=spf1 -all'] as const

it.each<[tiers: Listing['tier'][], detail: string]>([
  [['A'], 'Receivers that use L0 refuse or distrust mail from this address.'],
  [['A', 'B', 'C'], 'Receivers that use L0, L1 or L2 refuse or distrust mail from this address.'],
  [
    ['A', 'D', 'D'],
    'Receivers that use L0 refuse or distrust mail from this address. It is also on L1 and L2, for policy or information, which does not count.',
  ],
])('says which lists of tiers %j count', (tiers, detail) => {
  const listings = tiers.map((tier, i) => listing('192.0.2.1', `L${i}`, tier))
  expect(firstThings([], [], listings).map((thing) => thing.detail)).toEqual([detail])
})

it.each<[addresses: Listing['tier'][][], points: number[]]>([
  [
    [['A'], ['B']],
    [WEIGHTS.listing.A, WEIGHTS.listing.B],
  ],
  [[['B', 'B', 'B', 'B', 'B', 'B', 'B', 'B', 'B', 'B']], [WEIGHTS.listing.at_most]],
  [
    [['A'], ['A', 'A']],
    [2 * WEIGHTS.listing.A, WEIGHTS.listing.at_most - 2 * WEIGHTS.listing.A],
  ],
])('addresses on lists of tiers %j together cost no more than the score allows', (addresses, points) => {
  const listings = addresses.flatMap((tiers, n) => tiers.map((tier, i) => listing(`192.0.2.${n}`, `L${i}`, tier)))
  expect(firstThings([], [], listings).map((thing) => thing.points)).toEqual(points)
})

type Row = readonly [why: string, FindingAnswer[], ScoreRow[], Listing[], titles: string[]]
it.each<Row>([
  ['nothing found', [], [], [], []],
  ['information is no fault', [finding('a', 'info')], [], [], []],
  [
    'the gravest first, whatever it costs',
    [finding('a', 'medium'), finding('b', 'critical')],
    [lost('a', 20)],
    [],
    ['b', 'a'],
  ],
  [
    'of the same gravity what costs more',
    [finding('a', 'high'), finding('b', 'high')],
    [lost('b', 20)],
    [],
    ['b', 'a'],
  ],
  [
    'a cap is a cost',
    [finding('a', 'high'), finding('b', 'high')],
    [lost('a', 5), lost('b', 9, 'cap')],
    [],
    ['b', 'a'],
  ],
  [
    'half of an unknown is no cost that a fix wins back',
    [finding('a', 'low'), finding('b', 'low')],
    [lost('b', 9, 'unknown')],
    [],
    ['a', 'b'],
  ],
  ['then what has a record to publish', [finding('a', 'low'), finding('b', 'low', apex)], [], [], ['b', 'a']],
  ['at most three', ['a', 'b', 'c', 'd'].map((id) => finding(id, 'high')), [], [], ['a', 'b', 'c']],
  [
    'two findings about one record are one thing',
    [finding('a', 'high', apex), finding('b', 'medium', ['A.example', 'TXT', 'v=spf1 ~all'])],
    [],
    [],
    ['a'],
  ],
  ['the same fault twice is one thing', [finding('a', 'high'), finding('a', 'high')], [], [], ['a']],
  [
    'the lists of an address are one thing, as grave as the worst of them',
    [finding('a', 'medium')],
    [lost('a', 20)],
    [listing('192.0.2.1', 'b', 'B'), listing('192.0.2.1', 'a', 'A')],
    ['192.0.2.1 is on 2 blacklists', 'a'],
  ],
  ['a policy listing needs no work', [], [], [listing('192.0.2.1', 'd', 'D')], []],
])('%s', (_, findings, breakdown, listings, titles) => {
  expect(firstThings(findings, breakdown, listings).map(({ title }) => title)).toEqual(titles)
})

it('tells what else is about the record, and where to ask for removal', () => {
  const [spf, address] = firstThings(
    [finding('a', 'critical', apex), finding('b', 'medium', apex)],
    [lost('a', 10), lost('a', 2.5)],
    [listing('192.0.2.1', 'b', 'B'), listing('192.0.2.1', 'd', 'D')],
  )
  expect(spf).toMatchObject({ points: 12.5, fix: { value: 'v=spf1 -all' }, also: ['b'] })
  expect(address).toMatchObject({ severity: 'medium', points: 5, links: [{ url: 'https://b.example/' }] })
})

it('names what follows from a finding with it, once, and adds its points', () => {
  const cause = finding('dkim.broken_key', 'high')
  const follower = { ...finding('dkim.only_revoked', 'high'), follows: cause.id }
  const [first, ...others] = firstThings([cause, follower, follower], [lost(follower.id, 16)], [])
  expect([first, others]).toMatchObject([{ title: cause.id, points: 16, also: [follower.id] }, []])
  expect(firstThings([follower], [], []).map(({ title }) => title)).toEqual([follower.id])
})
