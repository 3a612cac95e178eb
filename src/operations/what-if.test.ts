import { describe, expect, it } from 'vitest'
import { answerTo, exampleOf } from '../../test/lab/answer.ts'
import type { LabZone } from '../../test/lab/dns.ts'
import { NO_REPORTS } from '../../test/lab/reports.ts'
import { labCtx } from '../../test/lab/world.ts'
import { formatMarkdown } from '../documents/markdown/markdown.ts'
import { whatIfDocument } from '../documents/what-if.ts'
import { check } from './check.ts'
import { whatIf } from './what-if.ts'

const ZONE: LabZone = {
  'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx -all'] },
  'm.example': { A: ['45.53.5.1'] },
  '1.5.53.45.in-addr.arpa': { PTR: ['m.example'] },
}
const DEPS = {
  smtpPort: 25,
  heloName: async () => 'sonde.example',
  reportsHere: NO_REPORTS,
  acceptedHere: async () => new Map(),
  ownProfiles: [],
  verifiedSelectors: { of: () => [], remember: () => {} },
}
const ask = (body: object, zone = ZONE) => answerTo(whatIf, labCtx(zone), DEPS, { domain: 'a.example', ...body })
const DMARC = { name: '_dmarc', type: 'TXT', value: 'v=DMARC1; p=reject; rua=mailto:d@a.example' }

it('has the whole check as if, and how the domain stands before and after', async () => {
  const answer = await ask({ records: [DMARC] })
  const now = await answerTo(check, labCtx(ZONE), DEPS, { domain: 'a.example' })
  expect(answer).toMatchObject({
    dmarc: { record: DMARC.value, policy: 'reject' },
    score: 79, // DMARC 30, SPF 25, MX 14, PTR 10; DKIM is proven absent
    before: {
      score: now.score,
      grade: now.grade,
      status: now.status,
      findings: expect.arrayContaining(['dmarc.no_record']),
    },
    after: { score: answer.score, findings: expect.not.arrayContaining(['dmarc.no_record']) },
    as_if: [{ name: '_dmarc.a.example', type: 'TXT', data: DMARC.value }],
  })
  expect(answer.before.score).toBe(answer.score - 30)
})

it('reads a zone; a single record stands in place of those of the zone', async () => {
  const zone = '$TTL 300\n_dmarc TXT "v=DMARC1; p=none"\n@ MX 10 m2\nm2 A 45.53.5.1\n_sip._tcp SRV 0 0 1 x'
  const answer = await ask({ zone, records: [DMARC] })
  expect(answer).toMatchObject({
    dmarc: { policy: 'reject' },
    mx: [{ host: 'm2.a.example', addresses: [{ address: '45.53.5.1' }] }],
    skipped: { SRV: 1 },
  })
})

it('finds the key that a record publishes, whatever its selector', async () => {
  const answer = await ask({ records: [{ name: 'oct26._domainkey', type: 'TXT', value: 'v=DKIM1; p=' }] })
  expect(answer.dkim.keys).toMatchObject([{ selector: 'oct26', revoked: true }])
})

it('asks what is the same only once', async () => {
  const ctx = labCtx(ZONE)
  await answerTo(whatIf, ctx, DEPS, { domain: 'a.example', records: [DMARC] })
  expect(new Set(ctx.asked).size).toBe(ctx.asked.length)
})

const SMALL = { name: '@', type: 'A', value: '192.0.2.1' }

it('takes 5,000 records', async () => {
  const records = Array.from({ length: 5_000 }, (_, i) => ({ ...SMALL, name: `n${i}` }))
  expect((await ask({ records })).as_if).toHaveLength(100)
})

describe('refuses', () => {
  it.each<[string, object, RegExp]>([
    ['nothing', {}, /nothing to overlay/],
    ['an empty list', { records: [] }, /nothing to overlay/],
    ['5,001 records', { records: Array(5_001).fill(SMALL) }, /at most 5000/],
    [
      '5,000 records and one of a zone',
      { records: Array(5_000).fill(SMALL), zone: '@ A 192.0.2.1' },
      /5001 records; at most 5000/,
    ],
    [
      'more than 512 kB of records',
      { records: Array(9).fill({ ...SMALL, value: 'x'.repeat(60_000) }) },
      /540018 bytes; at most 512000/,
    ],
    [
      'a record that cannot stand',
      { records: [DMARC, { name: '@', type: 'A', value: 'x' }] },
      /records\.1: "x" is not an IP/,
    ],
    ['a property that is not known', { records: [{ ...DMARC, weight: 1 }] }, /records\.0/],
    ['a zone with a fault', { zone: '@ A 192.0.2.1\n@ MX mail' }, /zone: line 2: MX data/],
    ['a zone of more than 512 kB', { zone: ';'.repeat(512_001) }, /512001 bytes; at most 512000/],
  ])('%s', async (_, body, words) => await expect(ask(body)).rejects.toThrow(words))
})

it.each([
  [['v=DMARC1; p=reject'], 'As if 1 record was published. Without it: grade F, 43 of 100.'],
  [['v=DMARC1; p=reject', 'v=spf1 -all'], 'As if 2 records were published. Without them: grade F, 43 of 100.'],
])('says in its headline that it is a what-if, and gives the present score', (data, note) => {
  const as_if = data.map((text) => ({ name: 'neglected.test', type: 'TXT', data: text }))
  const text = formatMarkdown(whatIfDocument({ ...exampleOf(whatIf), as_if }, '1.0.0'))
  expect(text.split('\n').filter((line) => /^# |^As if/.test(line))).toEqual([
    '# What if: neglected.test: grade D, 60 of 100',
    note,
  ])
})

it('takes the records of a plan as they stand', async () => {
  const zone: LabZone = {
    ...ZONE,
    'a.example': { MX: [[10, 'm.example']], TXT: ['v=spf1 mx a:gone.example -all', 'v=spf1 mx -all', 'site=1'] },
    '_dmarc.a.example': { TXT: ['v=DMARC1; p=none'] },
  }
  const { plan } = await answerTo(check, labCtx(zone), DEPS, { domain: 'a.example' })
  const records = plan!.steps.flatMap(({ records: some, by }) => (by === 'dns' ? some : []))
  expect(records.map(({ action }) => action)).toEqual(expect.arrayContaining(['replace']))
  const answer = await ask({ records }, zone)
  expect(answer.findings.map(({ id }) => id)).not.toContain('spf.several_records')
  expect(answer.spf.records).toEqual(['v=spf1 mx ~all'])
  const removed = await ask({ records: [{ ...records[0]!, action: 'remove', value: 'v=spf1 mx -all' }] }, zone)
  expect(removed.spf.records).toEqual(['v=spf1 mx a:gone.example -all'])
})
