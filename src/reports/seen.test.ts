import { expect, it } from 'vitest'
import { type LabZone, labDns } from '../../test/lab/dns.ts'
import { labFacts, labSource } from '../../test/lab/reports.ts'
import { lookupSpf, spfReach } from '../checks/spf/index.ts'
import { domain } from '../names/domain.ts'
import { seenMailOf } from './seen.ts'
import { findSenders } from './senders.ts'

const CHAIN = Object.fromEntries(
  Array.from({ length: 9 }, (_, i) => [`c${i}.example`, { TXT: [`v=spf1 include:c${i + 1}.example -all`] }]),
)
const BELOW: LabZone = {
  ...CHAIN,
  'c9.example': { TXT: ['v=spf1 -all'] },
  'news.example': { TXT: ['v=spf1 ip4:45.53.6.0/24 -all'] },
  'shop.example': { TXT: ['v=spf1 ip4:45.53.7.0/24 -all'] },
}
const reach = async (record: string) => {
  const { resolve } = labDns({ ...BELOW, 'example.org': { TXT: [record] } })
  return spfReach(await lookupSpf({ resolve, signal: AbortSignal.timeout(5_000) }, domain('example.org')))
}
/** Mail of 45.53.6.9 and of a server that only passes because everybody does; a forwarder. */
const own = { envelope_from: 'example.org', spf_aligned: true, spf_result: 'pass' }
const seen = seenMailOf({
  ...{ domain: 'example.org', from: '2026-10-25', to: '2026-11-23', days: 28, passesOf: () => undefined },
  senders: await findSenders(
    [
      labSource({ ...own, number: 1, address: '45.53.6.9' }),
      labSource({ ...own, number: 2, address: '45.99.0.1' }),
      labSource({ ...own, number: 3, address: '45.53.7.1', spf_aligned: false, reason: 'forwarded' }),
    ],
    labFacts({ hostOf: (address) => ({ '45.53.6.9': 'a.news.test', '45.99.0.1': 'b.host.test' })[address] }),
  ),
})

it('names the names below the domain as which mail passes, those with the most first', async () => {
  const of = (number: number, name: string, more: object = {}) =>
    labSource({ number, address: `45.53.6.${number}`, name, messages: number, ...own, ...more })
  const senders = await findSenders(
    [
      of(1, 'a.example.org'),
      of(2, 'news.example.org'),
      of(3, 'forged.example.org', { spf_aligned: false, spf_result: 'fail' }),
      of(4, 'example.org'),
      of(5, 'news.example.org'),
    ],
    labFacts({ hostOf: () => 'a.news.test' }),
  )
  const period = { from: '2026-10-25', to: '2026-11-23', days: 28, passesOf: () => undefined }
  expect(seenMailOf({ domain: 'example.org', ...period, senders }).subdomains).toEqual([
    'news.example.org',
    'a.example.org',
  ])
})

it.each([
  ['the include stays', 'v=spf1 include:news.example ~all', 'v=spf1 include:news.example -all', undefined],
  ['its addresses stay', 'v=spf1 include:news.example ~all', 'v=spf1 ip4:45.53.6.9 -all', undefined],
  ['an include that carried mail goes', 'v=spf1 include:news.example ~all', 'v=spf1 ~all', '45.53.6.9 of news.test.'],
  ['one that carried forwarded mail alone', 'v=spf1 include:shop.example ~all', 'v=spf1 ~all', undefined],
  ['everybody may send: nobody is named', 'v=spf1 +all', 'v=spf1 ip4:45.53.5.1 ~all', undefined],
  ['the one that is named stays', 'v=spf1 include:news.example +all', 'v=spf1 include:news.example ~all', undefined],
  ['the one that is named goes', 'v=spf1 include:news.example +all', 'v=spf1 ~all', '45.53.6.9 of news.test.'],
  [
    'an include beyond the tenth lookup goes',
    'v=spf1 include:c0.example include:news.example -all',
    'v=spf1 include:c0.example -all',
    '45.53.6.9 of news.test.',
  ],
])('SPF, %s: %s → %s', async (_, before, after, words) =>
  expect(seen.lostBySpf(await reach(before), await reach(after))).toBe(words),
)
