import { expect, it } from 'vitest'
import { exampleOf } from '../../../test/lab/answer.ts'
import { manyLookups } from '../../../test/lab/documents.ts'
import type { PoolAddress } from '../../answers/report.ts'
import { report } from '../../operations/report.ts'
import { formatMarkdown } from '../markdown/markdown.ts'
import { formatTerminal } from '../terminal/terminal.ts'
import { briefDocument, checkDocument, poolRow } from './check-document.ts'
import { placeLine } from './hosts.ts'

it.each<[answered: number, verdict: PoolAddress['verdict'], state: string]>([
  [29, 'clean', '✓ on no list'],
  [28, 'incomplete', '? on none of the 28 that answered'],
  [0, 'incomplete', '? not known: no list answered'],
])('a source address of which %i lists answered: %s', (answered, verdict, state) => {
  const source: PoolAddress = { address: '45.53.1.2', listed: false, listings: [], total: 29, answered, verdict }
  const blocks = [poolRow({ ...exampleOf(report), pool: [source] })!]
  const shown = formatTerminal({ title: '', blocks, footer: [] }, { width: 80, colour: false, unicode: true })
  expect(shown).toContain(state)
})

it('what the verdict says of a domain without mail is not said again at its checks', () => {
  const because = 'SPF authorizes no sender, and a null MX'
  const reason = `a domain without mail (parked): ${because}`
  const text = formatMarkdown(
    briefDocument(
      {
        ...manyLookups,
        domain_role: { name: 'parked', because },
        dkim: { ...manyLookups.dkim, status: 'not_applicable', reason, keys: [] },
      },
      '1',
    ),
  )
  expect(text.split(because).length - 1).toBe(1)
})

it('several SPF records have no lookups to count', () => {
  const spf = { ...manyLookups.spf, records: ['v=spf1 -all', 'v=spf1 mx -all'], lookups: 0 }
  expect(formatMarkdown(briefDocument({ ...manyLookups, spf }, '1'))).not.toContain('0 of 10 lookups')
})

it('a check whose lookup failed says why, without the question; the evidence has it', () => {
  const reason = 'a.example TXT at 127.0.0.1:53: the lookup failed (SERVFAIL)'
  const spf = { status: 'unknown' as const, reason, valid: false, records: [], includes: [] }
  const answer = {
    ...manyLookups,
    findings: [],
    spf: { ...manyLookups.spf, ...spf },
    score_min: 0,
    score_max: 100,
    grade: null,
  }
  const look = { width: 80, colour: false, unicode: true }
  const brief = formatTerminal(briefDocument(answer, '1'), look)
  expect(brief).toContain('? the lookup failed (SERVFAIL)')
  expect(brief).toContain('no grade, 0–100 of 100')
  expect(formatTerminal(checkDocument(answer, '1'), look)).toContain(`Reason: ${reason}`)
})

it.each([
  ['listed', 'listed', 1, 0],
  ['clean', 'clean', 0, 1],
] as const)('the row of the blacklists stands by its label: %s', (_, verdict, listed, after) => {
  const answer = exampleOf(report)
  const [first] = answer.blacklists
  const { blocks } = checkDocument({ ...answer, blacklists: [{ ...first!, verdict, listed }] }, '1')
  const rows = blocks.flatMap((one) => (one.kind === 'group' && one.look === 'row' ? [one.blocks[0]] : []))
  const names = rows.flatMap((one) => (one?.kind === 'heading' ? [one.id] : []))
  expect([names.indexOf('blacklists') > 0 ? 1 : 0, names.at(-1) === 'blacklists']).toEqual([after, false])
})

it.each([
  ['none', undefined, 'bad no address'],
  ['not known', 'mx.example A: the lookup failed (SERVFAIL)', 'open the lookup failed (SERVFAIL)'],
] as const)('a mail host whose addresses are %s', (_, reason, shown) => {
  const [one] = manyLookups.mx
  const mx = [{ ...one!, host: 'mx.example', addresses: [], cname: [], ...(reason && { reason }) }]
  const problems = checkDocument({ ...manyLookups, mx }, '1').blocks.flatMap((block) =>
    block.kind === 'map' ? block.map.hosts.map(({ problem }) => `${problem?.mark} ${problem?.text}`) : [],
  )
  expect(problems).toEqual([shown])
})

const NOWHERE = { bogon: null, city: null, country_name: null, asn: null, as_org: null }
it.each<[geo: object | undefined, shown: string]>([
  [undefined, '–'],
  [{ ...NOWHERE, bogon: 'private' }, 'not a public internet address (private)'],
  [NOWHERE, 'location not known'],
  [{ ...NOWHERE, country_name: 'Germany' }, 'Germany'],
  [{ ...NOWHERE, asn: 64_500, as_org: 'Example Net' }, 'AS64500 Example Net'],
  [{ ...NOWHERE, city: 'Bonn', country_name: 'Germany', asn: 64_500 }, 'Bonn, Germany · AS64500'],
])('the place of an address: %j is %s', (geo, shown) =>
  expect(placeLine(geo as Parameters<typeof placeLine>[0])).toEqual([shown]),
)
