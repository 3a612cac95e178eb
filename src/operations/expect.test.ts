import { describe, expect, it } from 'vitest'
import { labDeps, labExecutor } from '../../test/lab/app.ts'
import { labWorld } from '../../test/lab/world.ts'
import { expectAnswer } from '../answers/what-if.ts'
import { expectRecords } from './expect.ts'

const world = labWorld({
  'a.example': {
    MX: [
      [10, 'MX1.a.example'],
      [20, 'mx2.a.example'],
    ],
    TXT: ['v=spf1 mx -all', 'google-site-verification=x'],
    SOA: [{ mname: 'ns.a.example', rname: 'root.a.example', serial: 7, refresh: 1, retry: 2, expire: 3, minimum: 4 }],
    CAA: [{ critical: false, tag: 'issue', value: 'ca.example' }],
  },
  'www.a.example': { CNAME: ['host.a.example'] },
  'host.a.example': { A: ['45.53.5.1'] },
  'down.a.example': 'SERVFAIL',
})
const ask = async (input: object) => {
  const { answer } = await labExecutor(world, labDeps(world))(expectRecords, { domain: 'a.example', ...input }, {})
  return expectAnswer.parse(answer)
}

/** A zone of one line, what becomes of it, and what is published in its place. */
it.each<[zone: string, status: string, published: readonly string[]]>([
  ['@ MX 20 mx2\n@ MX 10 mx1', 'same', ['10 mx1.a.example.', '20 mx2.a.example.']], // in any order, names in any case
  ['@ MX 10 mx1', 'differs', ['10 mx1.a.example.', '20 mx2.a.example.']], // one more is published
  ['@ MX 10 mx1\n@ MX 30 mx2', 'differs', ['10 mx1.a.example.', '20 mx2.a.example.']],
  [
    '@ TXT "v=spf1 mx -all"\n@ TXT "google-site-verification=x"',
    'same',
    ['google-site-verification=x', 'v=spf1 mx -all'],
  ],
  [
    '@ TXT "V=spf1 mx -all"\n@ TXT "google-site-verification=x"',
    'differs',
    ['google-site-verification=x', 'v=spf1 mx -all'],
  ], // text to the letter
  // every publication raises the serial
  ['@ SOA ns root 99 1 2 3 4', 'same', ['ns.a.example. root.a.example. (serial) 1 2 3 4']],
  ['@ SOA ns root 7 9 2 3 4', 'differs', ['ns.a.example. root.a.example. (serial) 1 2 3 4']],
  ['@ CAA 0 issue "ca.example"', 'same', ['0 issue "ca.example"']],
  ['@ CAA 128 issue "ca.example"', 'differs', ['0 issue "ca.example"']],
  ['www CNAME host', 'same', ['host.a.example.']],
  ['www A 45.53.5.1', 'differs', ['CNAME host.a.example.']], // the address is of another name
  ['host A 45.53.5.1', 'same', ['45.53.5.1']],
  ['nowhere A 45.53.5.1', 'missing', []],
  ['_dmarc TXT "v=DMARC1; p=reject"', 'missing', []],
  ['down A 45.53.5.1', 'unknown', []],
])('%s: %s', async (zone, status, published) => {
  const answer = await ask({ zone })
  expect(answer.sets.map((set) => [set.status, set.published])).toEqual([[status, published]])
  expect(answer.status).toBe({ same: 'pass', differs: 'fail', missing: 'fail', unknown: 'unknown' }[status])
})

it('tells what differs first, and counts', async () => {
  const { status, total, differs, unknown, sets } = await ask({
    zone: 'host A 45.53.5.1\ndown A 45.53.5.1\nnowhere A 45.53.5.1\n@ MX 10 mx1',
  })
  expect([status, total, differs, unknown]).toEqual(['fail', 4, 2, 1])
  expect(sets.map((set) => set.status)).toEqual(['differs', 'missing', 'unknown', 'same'])
})

it.each<[why: string, input: object, problem: string]>([
  ['a name of another domain', { zone: 'b.example. A 192.0.2.1' }, 'b.example is not below a.example'],
  ['nothing', {}, 'give `records` or `zone`'],
  ['no zone', { zone: '(((' }, 'zone: line 1'],
  ['too many names', { zone: Array.from({ length: 1_001 }, (_, i) => `n${i} A 192.0.2.1`).join('\n') }, 'at most 1000'],
])('%s is refused', async (_, input, problem) => expect(ask(input)).rejects.toThrow(problem))

const { flag } = expectRecords.params.zone
it.each<[text: string, fields: unknown]>([
  ['@ A 192.0.2.1', { ok: true, value: { zone: '@ A 192.0.2.1' } }],
  ['{"domain":"x","records":[{"name":"@"}]}', { ok: true, value: { records: [{ name: '@' }] } }], // a body of what-if
  [' [{"name":"@"}]', { ok: true, value: { records: [{ name: '@' }] } }],
  ['{"records"', { ok: false, problem: { text: expect.stringMatching(/begins like JSON/) } }],
  ['{"zone":"x"}', { ok: false, problem: { text: 'the JSON has no "records" list' } }],
])('the file %j', (text, fields) => expect(flag.fields(text)).toMatchObject(Object(fields)))

// Bound: src/operations/expect.ts MAX_SETS
it('takes 1,000 names and types, and not one more', async () => {
  const zone = (n: number): string => Array.from({ length: n }, (_, i) => `n${i} A 45.53.5.1`).join('\n')
  expect((await ask({ zone: zone(1_000) })).total).toBe(1_000)
  await expect(ask({ zone: zone(1_001) })).rejects.toMatchObject({ code: 'payload_too_large' })
})

describe('what is accepted', () => {
  const published = (policy: string) =>
    labWorld({
      'a.example': { TXT: ['v=spf1 mx -all'], MX: [[10, 'mx1.a.example']] },
      'mx1.a.example': { A: ['45.53.5.1'] },
      '_dmarc.a.example': { TXT: [policy] },
    })
  const zone = '_dmarc TXT "v=DMARC1; p=reject; rua=mailto:d@a.example"\n@ TXT "v=spf1 mx -all"'
  const accept = (...findings: readonly string[]) =>
    JSON.stringify(
      findings.map((finding) => ({ finding, domain: 'a.example', reason: 'a pilot', until: '2026-06-30' })),
    )
  it.each<[what: string, policy: string, accept: string, told: readonly unknown[]]>([
    [
      'the finding',
      'v=DMARC1; p=quarantine; rua=mailto:d@a.example',
      accept('dmarc.policy_quarantine'),
      ['pass', 0, 1],
    ],
    ['another one', 'v=DMARC1; p=quarantine; rua=mailto:d@a.example', accept('dmarc.no_rua'), ['fail', 1, 0]],
    ['one of two', 'v=DMARC1; p=none', accept('dmarc.no_rua'), ['fail', 1, 0]],
    ['both', 'v=DMARC1; p=none', accept('dmarc.no_rua', 'dmarc.policy_none'), ['pass', 0, 2]],
    ['nothing that differs', 'v=DMARC1; p=reject; rua=mailto:d@a.example', accept('dmarc.policy_none'), ['pass', 0, 0]],
    [
      'a difference without a finding',
      'v=DMARC1; p=reject; rua=mailto:e@a.example',
      accept('dmarc.policy_none'),
      ['fail', 1, 0],
    ],
  ])('%s', async (_, policy, given, told) => {
    const lab = published(policy)
    const input = { domain: 'a.example', zone, accept: given }
    const { answer } = await labExecutor(lab, labDeps(lab))(expectRecords, input, {})
    const { status, differs, sets } = expectAnswer.parse(answer)
    expect([status, differs, sets.flatMap(({ accepted = [] }) => accepted).length]).toEqual(told)
  })
})
