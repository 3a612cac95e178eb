import { expect, it } from 'vitest'
import { labDns } from '../../test/lab/dns.ts'
import { labSource } from '../../test/lab/reports.ts'
import { ttlCache } from '../base/ttl-cache.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { askFacts, type FactSources } from './facts.ts'
import { findSenders } from './senders.ts'

const ZONE = {
  'example.org': {
    TXT: ['v=spf1 ip4:192.0.2.9 -all'],
    MX: [
      { preference: 10, exchange: 'mx.example.com' },
      { preference: 20, exchange: 'mx.rzone.de' },
    ],
  },
  'mx.example.com': { A: ['192.0.2.77'] },
  'mx.rzone.de': { A: ['192.0.2.78'] },
  'sendgrid.net': { TXT: ['v=spf1 ip4:198.51.100.0/25 ip4:203.0.113.7 ip6:2001:db8:1::/48 ~all'] },
}
const STEADY = 0b11111
const CACHE = { maxEntries: 100, now: () => 0 }
const nothingKnown = (): FactSources['memory'] => ({
  hosts: ttlCache(CACHE),
  ranges: ttlCache(CACHE),
  listed: ttlCache(CACHE),
})

/** The senders of rows when the lists know some addresses, and the addresses that the lists were asked about. */
async function told(rows: readonly Parameters<typeof labSource>[0][], listed: Readonly<Record<string, boolean>>) {
  const sources = rows.map((row, i) => labSource({ number: i + 1, ...row }))
  const asked: string[] = []
  const facts = await askFacts(
    { resolve: labDns(ZONE).resolve, signal: AbortSignal.timeout(5_000) },
    domain('example.org'),
    { sources, words: [] },
    {
      memory: nothingKnown(),
      networkOf: async () => undefined,
      listedOn: async (address) => {
        asked.push(address)
        return listed[address]
      },
    },
  )
  const senders = await findSenders(sources, facts)
  return { asked, names: senders.map(({ name }) => name), verdicts: senders.map(({ verdict }) => verdict) }
}

it.each([
  ['listed', { recent_days: STEADY }, { '192.0.2.1': true }, ['192.0.2.1'], ['forged']],
  ['not listed', { recent_days: STEADY }, { '192.0.2.1': false }, ['192.0.2.1'], ['unknown']],
  ['no list answers', { recent_days: STEADY }, {}, ['192.0.2.1'], ['unknown']],
  ['seen on few days: nothing is asked', { recent_days: 0b111 }, { '192.0.2.1': true }, [], ['forged']],
  ['its mail passes', { recent_days: STEADY, spf_aligned: true }, { '192.0.2.1': true }, [], ['authorized']],
  ['in the SPF record', { recent_days: STEADY, address: '192.0.2.9' }, { '192.0.2.9': true }, [], ['needs_setup']],
])('an address that fails, %s', async (_, row, listed, asked, verdicts) =>
  expect(await told([row], listed)).toMatchObject({ asked, verdicts }),
)

it.each([
  ['192.0.2.77', 'mx.example.com (your mail host)'],
  ['192.0.2.78', 'unknown senders in 192.0.2.0/24'], // the MX host of a provider is other people's too
])('%s, the address of an MX host, is %s', async (address, name) =>
  expect((await told([{ address }], {})).names).toEqual([name]),
)

it.each([
  ['198.51.100.127', 'SendGrid'],
  ['198.51.100.128', 'unknown senders in 198.51.100.0/24'],
  ['203.0.113.7', 'SendGrid'],
  ['2001:db8:1:ffff::1', 'SendGrid'],
  ['2001:db8:2::1', 'unknown senders in 2001:db8:2::/48'],
])('%s, which nothing else names, is by the published ranges of %s', async (address, name) =>
  expect((await told([{ address }], {})).names).toEqual([name]),
)

it('lists are asked about an address once, and a list without an answer again', async () => {
  const memory = nothingKnown()
  const sources = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address, i) =>
    labSource({ number: i + 1, address, recent_days: STEADY }),
  )
  const asked: string[] = []
  const isListed = async () => {
    const facts = await askFacts(
      { resolve: labDns(ZONE).resolve, signal: AbortSignal.timeout(5_000) },
      domain('example.org'),
      { sources, words: [] },
      {
        memory,
        networkOf: async () => undefined,
        listedOn: async (address) => {
          asked.push(address)
          return { '192.0.2.1': true, '192.0.2.2': false }[address as string]
        },
      },
    )
    return sources.map(({ address }) => facts.isListed(ip(address)))
  }
  expect([await isListed(), await isListed()]).toEqual([
    [true, false, false],
    [true, false, false],
  ])
  expect(asked).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.3'])
})

it.each([
  ['example.org', '192.0.2.9', true],
  ['example.org', '192.0.2.10', false],
  ['mail.example.org', '192.0.2.9', false], // a return path that has no record
])('who passes SPF of %s: %s %s', async (name, address, passes) => {
  const facts = await askFacts(
    { resolve: labDns(ZONE).resolve, signal: AbortSignal.timeout(5_000) },
    domain('example.org'),
    { sources: [labSource({ envelope_from: 'mail.example.org' })], words: [] },
    { memory: nothingKnown(), networkOf: async () => undefined, listedOn: async () => undefined },
  )
  expect(facts.passesOf(name)?.(ip(address))).toBe(passes)
})

it('keys are asked for of the organization alone, and of signatures that verified', async () => {
  const asked: string[] = []
  const { resolve } = labDns(ZONE)
  const signedBy = (dkim_domain: string, dkim_selector: string, dkim_result = 'pass') =>
    labSource({ dkim_domain, dkim_selector, dkim_result })
  await askFacts(
    {
      resolve: ((name, ...more) => {
        if (name.includes('._domainkey.')) asked.push(name)
        return resolve(name, ...more)
      }) as typeof resolve,
      signal: AbortSignal.timeout(5_000),
    },
    domain('example.org'),
    {
      sources: [
        signedBy('example.org', 's1'),
        signedBy('mail.example.org', 's2'),
        signedBy('sendgrid.net', 's3'),
        signedBy('example.org', 's4', 'fail'),
        signedBy('example.org', ''),
      ],
      words: [],
    },
    {
      memory: nothingKnown(),
      networkOf: async () => undefined,
      listedOn: async () => undefined,
    },
  )
  expect(asked.toSorted()).toEqual(['s1._domainkey.example.org', 's2._domainkey.mail.example.org'])
})
