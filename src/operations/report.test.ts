import { expect, it } from 'vitest'
import { answerTo } from '../../test/lab/answer.ts'
import { labDeps, labPool } from '../../test/lab/app.ts'
import type { LabNode, LabZone } from '../../test/lab/dns.ts'
import { LIVE_LISTS } from '../../test/lab/lists.ts'
import { labProblem } from '../../test/lab/problem.ts'
import { labCtx } from '../../test/lab/world.ts'
import type { ReportAnswer } from '../answers/report.ts'
import { checkDocument } from '../documents/check/check-document.ts'
import { formatHtml } from '../documents/html/html.ts'
import { formatMarkdown } from '../documents/markdown/markdown.ts'
import type { Ip } from '../names/ip.ts'
import { ip } from '../names/ip.ts'
import { DialError } from '../net/smtp/dial.ts'
import { report } from './report.ts'

const WHOLE = {
  'a.example': { MX: [[10, 'mx.a.example']], TXT: ['v=spf1 mx -all'], A: ['45.53.5.1'] },
  'mx.a.example': { A: ['45.53.5.1'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['mx.a.example'] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@a.example'] },
} satisfies LabZone
const TWO = [
  [10, 'mx.a.example'],
  [20, 'mx2.a.example'],
] as const
const LISTED: LabNode = { A: ['127.0.0.2'], TXT: ['seen sending spam'] }
const zen = (address: string) => `${address.split('.').reverse().join('.')}.zen.spamhaus.org`

async function reportOf(zone: LabZone, pool: readonly Ip[] = []): Promise<ReportAnswer> {
  const ctx = labCtx(
    { ...LIVE_LISTS, ...zone },
    {
      dial: async (host) => {
        throw new DialError('timeout', labProblem(String(host)))
      },
      fetch: async () => {
        throw new Error('no policy is fetched here')
      },
    },
  )
  const deps = labDeps(ctx)
  const sourcePool = labPool(ctx, deps.blacklists, pool)
  return answerTo(report, ctx, { ...deps, sourcePool }, { domain: 'a.example' })
}

type Row = readonly [part: string, zone: LabZone, seen: object]
it.each<Row>([
  [
    'nothing',
    WHOLE,
    { mx_status: 'pass', spf: { status: 'pass' }, blacklist_summary: { addresses: 1, unanswered: 0, left_out: 0 } },
  ],
  [
    'the MX',
    { ...WHOLE, 'a.example': { ...WHOLE['a.example'], MX: 'TIMEOUT' } },
    // Whether its reports arrive is not known either.
    { mx_status: 'unknown', dmarc: { status: 'unknown' }, blacklists: [], complete: false },
  ],
  [
    'the SPF record',
    { ...WHOLE, 'a.example': { ...WHOLE['a.example'], TXT: 'SERVFAIL' } },
    { spf: { status: 'unknown' }, mx_status: 'pass', complete: false, blacklist_summary: { addresses: 1 } },
  ],
  [
    'the address of the MX host',
    { ...WHOLE, 'mx.a.example': 'TIMEOUT' },
    { ptr: { status: 'unknown' }, blacklists: [], dmarc: { status: 'unknown' }, complete: false },
  ],
  [
    'one family of the MX host',
    { ...WHOLE, 'mx.a.example': { A: ['45.53.5.1'], AAAA: 'SERVFAIL' } },
    {
      mx: [{ host: 'mx.a.example', reason: expect.stringContaining('AAAA') }],
      ptr: { status: 'unknown', valid: false, reason: expect.stringContaining('AAAA') },
      complete: false,
      score: 80,
      score_min: 64,
      score_max: 80,
      report_score: 80,
      blacklist_summary: { addresses: 1, unanswered: 0, unknown_hosts: ['mx.a.example'] },
    },
  ],
  [
    'one family of a lesser MX host',
    { ...WHOLE, 'a.example': { ...WHOLE['a.example'], MX: TWO }, 'mx2.a.example': { AAAA: 'SERVFAIL' } },
    { complete: false, blacklist_summary: { addresses: 1, unknown_hosts: ['mx2.a.example'] } },
  ],
  ['the PTR', { ...WHOLE, '1.5.53.45.in-addr.arpa': 'TIMEOUT' }, { ptr: { status: 'unknown' }, complete: false }],
  [
    'one list',
    { ...WHOLE, [zen('45.53.5.1')]: 'TIMEOUT' },
    {
      complete: false,
      ...{ score: 79, score_min: 79, score_max: 79, report_score: 79 },
      blacklist_summary: { unanswered: 1, worst_tier: null },
    },
  ],
  [
    'everything',
    { 'a.example': 'TIMEOUT', '_dmarc.a.example': 'TIMEOUT', example: 'TIMEOUT' },
    {
      ...{ spf: { status: 'unknown' }, mx_status: 'unknown', blacklists: [], complete: false },
      blacklist_summary: { addresses: 0, unknown_hosts: ['a.example'] }, // not "no addresses"
    },
  ],
])('%s without an answer: the rest stands', async (_, zone, seen) => {
  const answer = await reportOf(zone)
  expect(answer).toMatchObject(seen)
  for (const render of [formatHtml, formatMarkdown])
    expect(render(checkDocument(answer, '0'))).toMatch(/Not known|STARTTLS not known|Without an answer/)
})

it('listings by tier, and what they take', async () => {
  const answer = await reportOf({ ...WHOLE, [zen('45.53.5.1')]: LISTED, '1.5.53.45.dnsbl-2.uceprotect.net': LISTED })
  expect(answer).toMatchObject({
    report_score: answer.score - 15,
    blacklist_summary: { listed_addresses: 1, listings: 2, worst_tier: 'A', tiers: { A: 1, B: 0, C: 0, D: 1 } },
  })
  expect(answer.pool).toBeUndefined()
})

it('the removal of listings is a step of the plan, before what has to wait, and steps of findings count it', async () => {
  const dmarc = { '_dmarc.a.example': { TXT: ['v=DMARC1; p=none; rua=mailto:d@a.example'] } }
  const zone = { ...WHOLE, ...dmarc }
  const [clean, answer] = await Promise.all([
    reportOf(zone),
    reportOf({ ...zone, [zen('45.53.5.1')]: LISTED, 'a.example.dbl.spamhaus.org': { A: ['127.0.1.4'] } }),
  ])
  const cost = answer.score - answer.report_score
  const { steps = [] } = clean.plan ?? {}
  const at = steps.findIndex(({ wait, optional }) => wait !== undefined || optional)
  expect([cost, at > 0, steps.length > at + 1]).toEqual([30, true, true])
  expect(answer.plan?.steps.map(({ title, score }) => [title, score])).toEqual([
    ...steps.slice(0, at).map(({ title, score }) => [title, score - cost]),
    ['Removal from the blacklists', steps[at - 1]!.score],
    ...steps.slice(at).map(({ title, score }) => [title, score]),
  ])
  expect(answer.plan?.steps[at]).toMatchObject({
    by: 'address owner',
    why: '45.53.5.1 is on 1 list, a.example is on 1 list: receivers refuse or distrust its mail',
    instructions: expect.stringContaining('removal from Spamhaus ZEN, Spamhaus DBL: each listing says'),
  })
  const numbers = ({ findings }: ReportAnswer) =>
    findings.flatMap(({ id, steps: own = [] }) => own.map((number) => [id, number]))
  expect(numbers(answer)).toEqual(
    numbers(clean).map(([id, number]) => [id, Number(number) + (Number(number) > at ? 1 : 0)]),
  )
  expect(answer.findings).toContainEqual(expect.objectContaining({ id: 'dmarc.policy_none', steps: [at + 2] }))
})

it('a listing of the domain counts like one of an address of the same tier', async () => {
  const clean = await reportOf(WHOLE)
  expect(clean.domain_blacklists).toMatchObject({ domain: 'a.example', verdict: 'clean', total: 6, answered: 6 })
  const answer = await reportOf({
    ...WHOLE,
    'a.example.dbl.spamhaus.org': { A: ['127.0.1.4'] },
    'a.example.multi.surbl.org': { A: ['127.0.0.4'] }, // of tier D
  })
  expect(answer).toMatchObject({
    report_score: clean.report_score - 15,
    domain_blacklists: { verdict: 'listed', worst_tier: 'A', listed: 2 },
    blacklist_summary: { listings: 0 },
  })
  const text = formatMarkdown(checkDocument(answer, '0'))
  expect(text).toMatch(/Blacklists ✕ Broken a\.example is on 2/)
  expect(text).toMatch(/Spamhaus DBL \(tier A\)/)
})

it('a list of domains without an answer makes the report incomplete and costs nothing', async () => {
  const answer = await reportOf({ ...WHOLE, 'a.example.multi.uribl.com': { A: ['127.0.0.1'] } })
  expect(answer).toMatchObject({ complete: false, report_score: answer.score, domain_blacklists: { answered: 5 } })
  expect(formatMarkdown(checkDocument(answer, '0'))).toMatch(/URIBL multi/)
})

it('the listings of a configured pool are told and costs the domain nothing', async () => {
  const pool = [ip('45.53.1.9'), ip('45.53.1.8')]
  const answer = await reportOf({ ...WHOLE, [zen('45.53.1.9')]: LISTED }, pool)
  expect(answer).toMatchObject({
    report_score: answer.score,
    pool: [
      { address: '45.53.1.9', listed: true, verdict: 'listed', listings: [{ blacklist: 'Spamhaus ZEN', tier: 'A' }] },
      { address: '45.53.1.8', listed: false, verdict: 'clean', listings: [] },
    ],
  })
})
