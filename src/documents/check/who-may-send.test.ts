import { expect, it } from 'vitest'
import { manyLookups } from '../../../test/lab/documents.ts'
import { PROVIDERS } from '../../providers/index.ts'
import type { Answer } from './answer.ts'
import { sendersNote, whoSendsBlocks } from './who-may-send.ts'

const nobody: Answer['spf'] = {
  ...manyLookups.spf,
  valid: true,
  passing: { ipv4: 0, ipv6_prefixes: 0, by: [], complete: true },
}
const marksOf = (dkim: Partial<Answer['dkim']>, spf = nobody): readonly string[] =>
  whoSendsBlocks({ ...manyLookups, spf, dkim: { ...manyLookups.dkim, keys: [], ...dkim } }).flatMap((block) =>
    block.kind === 'alignment' ? block.alignment.paths.map(({ state }) => `${state.mark} ${state.text}`) : [],
  )

it.each([
  ['sends', { status: 'fail', discovery: 'proven_absent' }, ['bad no sender can pass', 'bad no usable key']],
  [
    'sends nothing',
    { status: 'not_applicable', discovery: 'proven_absent' },
    ['none no sender passes, as the domain declares', 'none not needed'],
  ],
] as const)('nobody passes at a domain that %s', (_, dkim, marks) => {
  expect(marksOf(dkim)).toEqual(marks)
})

it('says of a name without mail that it has no SPF record', () => {
  expect(marksOf({ status: 'not_applicable' }, { ...nobody, valid: false })[0]).toBe(
    'none no sender passes, as there is no SPF record',
  )
})

it('names the services of includes, and of the aliases of keys', () => {
  const [key] = manyLookups.dkim.keys
  const term = { term: 'include:_spf.google.com', lookups: 1 }
  const spf = { ...nobody, includes: [{ ...manyLookups.spf.includes[0]!, ...term }] }
  const keyAt = (selector: string, cname: readonly string[], usable = true) => ({
    ...key!,
    selector,
    cname: [...cname],
    usable,
    name: `${selector}._domainkey.a.example`,
  })
  const keys = [
    keyAt('k2', ['dkim2.mcsv.net']),
    keyAt('k3', ['dkim3.mcsv.net']),
    keyAt('x', ['dkim.mandrillapp.com'], false),
    keyAt('own', []),
  ]
  expect(sendersNote({ ...manyLookups, spf, dkim: { ...manyLookups.dkim, keys } })).toEqual([
    [
      { link: '#senders', text: 'Who may send' },
      ': ',
      { strong: 'nobody by SPF' },
      '.',
      ' Known services: ',
      { strong: 'Google Workspace' },
      ' (SPF)',
      ', ',
      { strong: 'Mailchimp' },
      ' (DKIM k2, DKIM k3)',
      '.',
    ],
  ])
})

type Passing = NonNullable<Answer['spf']['passing']>
const one: Passing = { ipv4: 1, ipv6_prefixes: 2, by: [{ term: 'mx', ipv4: 1, ipv6_prefixes: 2 }], complete: true }
it.each<[string, Partial<Answer['spf']>, string]>([
  [
    'two kinds of addresses',
    { passing: one },
    '1 IPv4 address and 2 IPv6 networks of /64 by SPF. Known services: none.',
  ],
  ['nobody', {}, 'nobody by SPF.'],
  [
    'a part that could not be read',
    { passing: { ...one, complete: false } },
    '1 IPv4 address and 2 IPv6 networks of /64 by SPF, at least: not everything could be read. Known services: none.',
  ],
  ['everybody', { all: '+', passing: one }, 'everybody, by SPF. Known services: none.'],
  ['a broken record', { valid: false }, 'no host passes, as receivers cannot use the SPF record.'],
  ['no record', { valid: false, records: [] }, 'no host is named, as there is no SPF record.'],
])('who may send, in one line: %s', (_, spf, words) => {
  const answer = { ...manyLookups, findings: [], spf: { ...nobody, includes: [], ...spf } }
  const [line = []] = sendersNote({ ...answer, dkim: { ...manyLookups.dkim, keys: [] } })
  expect(
    line
      .map((one) => (typeof one === 'object' && 'strong' in one ? one.strong : one))
      .slice(2)
      .join(''),
  ).toBe(words)
})

// Bound: src/documents/check/who-may-send.ts MAX_SERVICES
it.each([
  [20, '.'],
  [21, ' and others.'],
] as const)('of %i services 20 are named%s', (count, end) => {
  const known = [
    ...new Map(
      PROVIDERS.flatMap(({ name, includes: [first] }) => (first ? [[name, first.replace(/^\./, 'x.')]] : [])),
    ).values(),
  ]
  const includes = known.slice(0, count).map((name) => ({ ...manyLookups.spf.includes[0]!, term: `include:${name}` }))
  const spf = { ...nobody, includes }
  const [line = []] = sendersNote({ ...manyLookups, spf, dkim: { ...manyLookups.dkim, keys: [] } })
  // Beside the link and who passes.
  expect([line.filter((one) => typeof one === 'object').length - 2, line.at(-1)]).toEqual([20, end])
})

it('forged mail passes where SPF lets everybody pass', () => {
  const [block] = whoSendsBlocks({
    ...manyLookups,
    findings: [],
    spf: { ...nobody, all: '+', passing: { ipv4: 2 ** 32, ipv6_prefixes: 0, by: [], complete: true } },
    dmarc: { ...manyLookups.dmarc, valid: true, effective_policy: 'reject' },
  }).filter(({ kind }) => kind === 'alignment')
  expect(block).toMatchObject({
    alignment: {
      paths: [{ state: { mark: 'bad' } }, {}],
      result: { mark: 'bad', text: 'Forged mail passes by SPF: the policy (reject) does not stop it' },
    },
  })
})

it.each([
  [undefined, 'good Mail that aligns with neither is refused (reject)'],
  [0, 'warn Mail that aligns with neither is refused (reject); older receivers set it aside (pct=0)'],
])('what receivers do with a pct of %s', (pct, said) => {
  const { pct: _, ...own } = manyLookups.dmarc
  const dmarc = { ...own, valid: true, effective_policy: 'reject' as const, ...(pct !== undefined && { pct }) }
  const results = whoSendsBlocks({ ...manyLookups, spf: nobody, dmarc }).flatMap((block) =>
    block.kind === 'alignment' ? [`${block.alignment.result.mark} ${block.alignment.result.text}`] : [],
  )
  expect(results).toEqual([said])
})
