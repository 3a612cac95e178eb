import { expect, it } from 'vitest'
import { manyLookups } from '../../../test/lab/documents.ts'
import type { CheckAnswer, ScoreRow } from '../../answers/check.ts'
import type { FindingAnswer } from '../../answers/finding.ts'
import { WEIGHTS } from '../../answers/weights.ts'
import { htmlBody } from '../html/html.ts'
import { checkDocument } from './check-document.ts'
import { firstThings, type Listing } from './verdict.ts'

const told = (severity: 'medium' | 'high' | 'critical'): CheckAnswer['findings'] => [
  { id: 'mta_sts.mx_tls', severity, title: 'A title', detail: 'A detail.', reference: 'RFC 8461 §4.2' },
]
const bare: CheckAnswer = { ...manyLookups, findings: [], score_breakdown: [] }
const page = (more: Partial<CheckAnswer>): string => htmlBody(checkDocument({ ...bare, ...more }, '1.0.0'))

it.each([
  [92, 'A', told('high'), 'warn', 'Mostly good, but'],
  [80, 'B', told('critical'), 'warn', 'Mostly good, but'],
  [92, 'A', told('medium'), 'good', 'Good, with'],
  [45, 'F', told('high'), 'bad', 'Needs repair: most'],
] as const)('a score of %i (%s) looks no better than the gravest finding', (score, grade, findings, look, words) => {
  const shown = page({ score, grade, findings })
  expect(shown).toContain(`class="score ${look}"`)
  expect(shown).toContain(words)
})

it.each([
  ['sends_only', false],
  ['sends_and_accepts_mail', true],
] as const)('MX of a domain in the role %s has points: %s', (name, hasPoints) => {
  const shown = page({ domain_role: { name, because: 'a test' }, mx_status: 'warn' })
  const bar = /<a href="#mx".*?<a href="#ptr"/s.exec(shown)?.[0] ?? ''
  expect(/\b15\b/.test(bar) && !bar.includes('Does not apply'), bar).toBe(hasPoints)
})

it('names where the points are lost, the most first', () => {
  const row = (component: 'spf' | 'dkim' | 'mx', points: number) =>
    ({ component, points, kind: 'deduction', finding: null }) as const
  const shown = page({ score: 78, grade: 'B', score_breakdown: [row('mx', 1.5), row('spf', 12), row('mx', 8.5)] })
  expect(shown).toContain('Points lost: <a href="#spf">SPF</a> −12, <a href="#mx">MX</a> −10.')
  expect(page({})).not.toContain('Points lost')
})

it('a domain that does not exist has no checks', () => {
  const shown = page({ score: 0, grade: 'F', domain_role: { name: 'no_such_domain', because: 'NXDOMAIN' } })
  expect(shown).toContain('The domain does not exist, so no mail can reach it.')
  expect(shown).not.toMatch(/id="(?:checks|spf|score)"|class="bars"/)
})

it.each([
  ['unknown', [], 'Good as far as it could be determined.', 'DMARC</a> −15 (not determined: half).'],
  ['unknown', told('medium'), 'Sound, but with gaps worth closing.', 'DMARC</a> −15 (not determined: half).'],
  ['deduction', [], 'Sound, but with gaps worth closing.', 'DMARC</a> −15.'],
] as const)('points that are missing for a row of kind %s', (kind, findings, words, lost) => {
  const rows = [{ component: 'dmarc', points: 15, kind, finding: null }] as const
  const range = { complete: false, score_min: 70, score_max: 100 }
  const shown = page({ score: 85, grade: 'B', score_breakdown: rows, findings, ...range })
  expect(shown).toContain(words)
  expect(shown).toContain(lost)
})

it.each([
  [true, 'To fix', ['first', 'optional']],
  [false, 'Also to repair', ['steps', 'first', 'optional']],
] as const)(
  'what is to be repaired stands before what is optional; all steps optional: %s',
  (isOptional, title, order) => {
    const step = {
      title: 'A step',
      findings: [],
      records: [],
      by: 'dns',
      why: '',
      before: [],
      score: 80,
      grade: 'B',
      grade_because: null,
    } as const
    const steps = [...(isOptional ? [] : [step]), { ...step, optional: true as const }]
    const plan = { steps, end: { score: 80, grade: 'B', grade_because: null }, left: [] } as const
    const shown = page({ score: 80, grade: 'B', findings: told('high'), plan })
    expect(shown).toContain(`${title}</h2>`)
    expect([...shown.matchAll(/<h2 id="(steps|first|optional)"/g)].map(([, id]) => id)).toEqual(order)
  },
)

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
  ...(fix ? { fix: { type: 'dns', action: 'add', name: fix[0], rtype: fix[1], value: fix[2] } } : {}),
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
