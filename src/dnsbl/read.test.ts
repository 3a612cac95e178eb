import fc from 'fast-check'
import { expect, it } from 'vitest'
import { corpus } from '../../test/lab/corpora.ts'
import { type LabZone, labDns } from '../../test/lab/dns.ts'
import { ip, reversed } from '../names/ip.ts'
import { type Answer, DnsError, type DnsReason } from '../net/dns/resolver.ts'
import { readAnswer } from './read.ts'
import type { List } from './zone-type.ts'
import { BUILT_IN_LISTS } from './zones.ts'

const named = (name: string): List => BUILT_IN_LISTS.find((list) => list.name === name)!
const answered = (...records: string[]): Answer<'A'> => ({
  kind: records.length > 0 ? 'found' : 'nxdomain',
  name: '1.2.0.192.list.example',
  type: 'A',
  records: records.map(ip),
  ttlSeconds: 300,
  cname: [],
  secure: false,
  ede: [],
})
const failed = (reason: DnsReason): DnsError => new DnsError(reason, { name: '1.2.0.192.list.example', type: 'A' })

it.each([
  // Spamhaus ZEN: strict
  ['Spamhaus ZEN', ['127.0.0.2'], 'listed A ip'],
  ['Spamhaus ZEN', ['127.0.0.3'], 'listed A ip'],
  ['Spamhaus ZEN', ['127.0.0.4'], 'listed A ip'],
  ['Spamhaus ZEN', ['127.0.0.5'], 'listed A ip'],
  ['Spamhaus ZEN', ['127.0.0.7'], 'listed A ip'],
  ['Spamhaus ZEN', ['127.0.0.9'], 'listed A ip'],
  ['Spamhaus ZEN', ['127.0.0.10'], 'listed D policy'], // PBL is the owner's policy
  ['Spamhaus ZEN', ['127.0.0.11'], 'listed D policy'],
  ['Spamhaus ZEN', ['127.0.0.10', '127.0.0.4'], 'listed A ip'], // every record counts, the gravest gives the tier
  ['Spamhaus ZEN', ['127.0.0.4', '127.0.0.11'], 'listed A ip'],
  ['Spamhaus ZEN', ['127.0.0.8'], 'error unknown_code'],
  ['Spamhaus ZEN', ['127.0.0.12'], 'error unknown_code'],
  ['Spamhaus ZEN', ['127.0.0.8', '127.0.0.2'], 'listed A ip'], // a known listing stands beside an unknown code
  ['Spamhaus ZEN', ['127.255.255.252'], 'blocked typing_error'],
  ['Spamhaus ZEN', ['127.255.255.254'], 'blocked public_resolver'],
  ['Spamhaus ZEN', ['127.255.255.255'], 'blocked too_many_queries'],
  ['Spamhaus ZEN', ['127.255.255.1'], 'blocked refused'], // the whole /24 is refusals
  ['Spamhaus ZEN', ['127.0.0.2', '127.255.255.254'], 'blocked public_resolver'], // a refusal in the answer spoils it
  ['Spamhaus ZEN', ['127.0.0.1'], 'blocked refused'],
  // Barracuda
  ['Barracuda BRBL', ['127.0.0.2'], 'listed A ip'],
  ['Barracuda BRBL', ['127.0.0.3'], 'listed A ip'], // not strict: any other code is a listing
  ['Barracuda BRBL', ['127.0.0.1'], 'blocked refused'],
  ['Barracuda BRBL', ['127.255.255.254'], 'blocked public_resolver'],
  ['Barracuda BRBL', ['198.51.100.7'], 'error rewritten_or_parked'],
  ['SpamCop', ['127.0.0.2'], 'listed A ip'],
  ['SpamCop', ['192.0.2.80'], 'error rewritten_or_parked'],
  ['SpamCop', ['127.0.0.2', '192.0.2.80'], 'error rewritten_or_parked'], // one address outside is enough
  ['SpamCop', ['10.0.0.1'], 'error rewritten_or_parked'],
  ['SpamCop', ['0.0.0.0'], 'error rewritten_or_parked'], // a filtering resolver
  ['SpamCop', ['128.0.0.2'], 'error rewritten_or_parked'],
  ['PSBL', ['127.0.0.2'], 'listed B ip'],
  // Mailspike: reputation is no listing
  ['Mailspike BL', ['127.0.0.2'], 'listed B ip'],
  ['Mailspike BL', ['127.0.0.10'], 'listed B ip'],
  ['Mailspike BL', ['127.0.0.11'], 'listed B ip'],
  ['Mailspike BL', ['127.0.0.12'], 'listed B ip'],
  ['Mailspike BL', ['127.0.0.13'], 'not_listed'],
  ['Mailspike BL', ['127.0.0.14'], 'not_listed'],
  ['Mailspike BL', ['127.0.0.17'], 'not_listed'],
  ['Mailspike BL', ['127.0.0.20'], 'not_listed'],
  ['Mailspike BL', ['127.0.0.21'], 'error unknown_code'],
  ['Mailspike BL', ['127.0.0.14', '127.0.0.21'], 'error unknown_code'],
  ['UCEPROTECT Level 1', ['127.0.0.2'], 'listed B ip'],
  ['UCEPROTECT Level 2', ['127.0.0.2'], 'listed D range'],
  ['UCEPROTECT Level 3', ['127.0.0.2'], 'listed D asn'],
  ['Backscatterer', ['127.0.0.2'], 'listed D ip'],
  // DroneBL: test classes and information
  ['DroneBL', ['127.0.0.1'], 'not_listed'], // mapped by the list, so no refusal
  ['DroneBL', ['127.0.0.2'], 'not_listed'],
  ['DroneBL', ['127.0.0.12'], 'not_listed'],
  ['DroneBL', ['127.0.0.18'], 'not_listed'],
  ['DroneBL', ['127.0.0.3'], 'listed B ip'],
  ['DroneBL', ['127.0.0.5'], 'listed B ip'],
  ['DroneBL', ['127.0.0.11'], 'listed B ip'],
  ['DroneBL', ['127.0.0.13'], 'listed B ip'],
  ['DroneBL', ['127.0.0.14'], 'listed B ip'],
  ['DroneBL', ['127.0.0.15'], 'listed B ip'],
  ['DroneBL', ['127.0.0.16'], 'listed B ip'],
  ['DroneBL', ['127.0.0.17'], 'listed B ip'],
  ['DroneBL', ['127.0.0.19'], 'listed B ip'],
  ['DroneBL', ['127.0.0.255'], 'listed B ip'],
  ['DroneBL', ['127.0.0.2', '127.0.0.17'], 'listed B ip'],
  ['blocklist.de', ['127.0.0.2'], 'listed B ip'],
  ['blocklist.de', ['127.0.0.15'], 'listed B ip'],
  ['blocklist.de', ['127.0.0.22'], 'listed B ip'],
  ['blocklist.de', ['127.0.0.23'], 'listed B ip'],
  ['SEM-BLACK', ['127.0.0.2'], 'listed B ip'],
  ['SEM-BACKSCATTER', ['127.0.0.2'], 'listed D ip'],
  // SpamRATS: each list its own code
  ['SpamRATS Dyna', ['127.0.0.36'], 'listed D policy'],
  ['SpamRATS Dyna', ['127.0.0.38'], 'error unknown_code'],
  ['SpamRATS NoPtr', ['127.0.0.37'], 'listed D policy'],
  ['SpamRATS NoPtr', ['127.0.0.2'], 'error unknown_code'],
  ['SpamRATS Spam', ['127.0.0.38'], 'listed B ip'],
  ['SpamRATS Spam', ['127.0.0.1'], 'blocked refused'],
  ['SpamRATS Auth', ['127.0.0.43'], 'listed C ip'],
  ['VirusFree BIP', ['127.0.0.2'], 'listed B ip'],
  ['NordSpam', ['127.0.0.2'], 'listed C ip'],
  ['Suomispam BL', ['127.0.0.2'], 'listed C ip'],
  ['Suomispam BL', ['127.0.0.9'], 'listed C ip'],
  ['Suomispam BL', ['127.0.0.1'], 'blocked refused'],
  ['Suomispam GL', ['127.0.0.255'], 'listed D ip'],
  ['InterServer', ['127.0.0.2'], 'listed C ip'],
  // Hostkarma: colours
  ['Hostkarma Black', ['127.0.0.1'], 'not_listed'], // white
  ['Hostkarma Black', ['127.0.0.2'], 'listed B ip'],
  ['Hostkarma Black', ['127.0.0.3'], 'not_listed'], // yellow
  ['Hostkarma Black', ['127.0.0.4'], 'listed B ip'], // brown
  ['Hostkarma Black', ['127.0.0.5'], 'not_listed'], // NOBL
  ['Hostkarma Black', ['127.0.1.1'], 'not_listed'],
  ['Hostkarma Black', ['127.0.2.3'], 'not_listed'],
  ['Hostkarma Black', ['127.0.1.2', '127.0.0.2', '127.0.2.1'], 'listed B ip'], // not the first record only
  ['Hostkarma Black', ['127.0.1.2', '127.0.0.1'], 'not_listed'],
  ['Hostkarma Black', ['127.0.3.1'], 'error unknown_code'],
  ['GBUdb Truncate', ['127.0.0.2'], 'listed C ip'],
  ['SwiNOG DNSRBL', ['127.0.0.3'], 'listed C ip'],
  ['ImproWare Spam', ['127.0.0.6'], 'listed C ip'],
  ['s5h.net', ['127.0.0.2'], 'listed C ip'],
  ['0SPAM', ['127.0.0.7'], 'listed C ip'],
  ['0SPAM', ['127.0.1.7'], 'listed C ip'],
  ['Fabel SpamSources', ['127.0.0.2'], 'listed C ip'],
  ['Fabel SpamSources', [], 'not_listed'],
] as const)('%s answering %j is %s', (name, records, expected) => {
  const { status, tier, scope, reason, codes, meaning } = readAnswer(named(name), answered(...records))
  expect(status === 'listed' ? `listed ${tier} ${scope}` : reason ? `${status} ${reason}` : status).toBe(expected)
  expect(codes).toEqual(records)
  expect(meaning).toHaveLength(records.length)
})

it.each([
  ['timeout', 'timeout'],
  ['servfail', 'error'],
  ['formerr', 'error'],
  ['refused', 'blocked'],
  ['notimp', 'error'],
  ['rcode', 'error'],
  ['network', 'error'],
  ['malformed', 'error'],
  ['cname_loop', 'error'],
  ['invalid_name', 'error'],
  ['unsafe_address', 'error'],
  ['aborted', 'timeout'],
] as const)('%s is %s, never "not listed"', (reason, status) => {
  expect(readAnswer(named('PSBL'), failed(reason)).status).toBe(status)
})

it.each(['nodata', 'nxdomain'] as const)('%s is not listed', (kind) => {
  expect(readAnswer(named('PSBL'), { ...answered(), kind }).status).toBe('not_listed')
})

it.each(BUILT_IN_LISTS.map((list) => [list.name, list] as const))('%s: rules that hold for every list', (_, list) => {
  const word = (...records: string[]): string => readAnswer(list, answered(...records)).status
  expect(word()).toBe('not_listed')
  for (const refusal of ['127.255.255.252', '127.255.255.254', '127.255.255.255']) expect(word(refusal)).toBe('blocked')
  for (const outside of ['192.0.2.1', '8.8.8.8', '126.0.0.2']) expect(word(outside)).toBe('error')
  for (const { code } of list.codes) expect(word(code.replace(/-\d+$/, ''))).toBe('listed')
  for (const { code } of list.ignored) expect(word(code.replace(/-\d+$|\/24$/, ''))).toBe('not_listed')
  if (list.strict) expect(word('127.0.9.9')).toBe('error')
  else expect(word('127.0.9.9')).toBe('listed')
})

const points = corpus('dns/dnsbl-testpoints.json')
type Lookup = { id: string; kind: string; ip: string; zone: string; records: LabZone; listed: boolean }
const lookups = ((points?.cases ?? []) as Lookup[]).filter(({ kind }) => kind === 'lookup')
it.runIf(lookups.length > 0).each(lookups)('corpus $id', async ({ ip: address, zone, records, listed }) => {
  const { resolve } = labDns(records)
  const answer = await resolve(`${reversed(ip(address))}.${zone}`, 'A', AbortSignal.timeout(1_000))
  expect(readAnswer({ ...named('PSBL'), zone }, answer).status === 'listed').toBe(listed)
})

type ZoneCase = { id: string; zone: string; codes: Record<string, string[]> }
const zones = (corpus('dns/dnsbl-zones.json')?.cases ?? []) as ZoneCase[]
const ours = zones.flatMap((row) => {
  const list = BUILT_IN_LISTS.find(({ zone }) => zone === row.zone)
  return list ? Object.entries(row.codes).map(([label, codes]) => [row.id, label, codes, list] as const) : []
})
const OF_OTHERS = /black|brown|BOTNET/i // Hostkarma is several lists in one zone; ours are black and brown
it.runIf(ours.length > 0).each(ours)('corpus %s: %s', (_, label, codes, list) => {
  for (const code of codes)
    expect(readAnswer(list, answered(code)).status).toBe(OF_OTHERS.test(label) ? 'listed' : 'not_listed')
})

it('reads any answer, and says listed only of 127.0.0.0/8', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const address = fc.tuple(fc.constantFrom(127, 127, 127, 10), octet, octet, octet).map((octets) => octets.join('.'))
  fc.assert(
    fc.property(fc.constantFrom(...BUILT_IN_LISTS), fc.array(address, { minLength: 1, maxLength: 40 }), (list, all) => {
      const { status } = readAnswer(list, answered(...all))
      if (status === 'listed') expect(all.slice(0, 32).every((one) => one.startsWith('127.'))).toBe(true)
    }),
  )
})

it.each([
  [20, 'listed'],
  [21, 'error'],
  [2_000, 'error'],
])('%i records in an answer: %s', (length, status) => {
  const records = Array.from({ length }, (_, i) => `127.0.${i >> 8}.${(i % 254) + 2}`)
  const reading = readAnswer(named('PSBL'), answered(...records))
  expect(reading).toMatchObject({ status, ...(status === 'error' && { reason: 'implausible' }) })
  expect(reading.codes).toHaveLength(20)
})
