import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../test/lab/dns.ts'
import { labWorld } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { ip } from '../names/ip.ts'
import { allowances } from './allowance.ts'
import { createBlacklists } from './blacklists.ts'
import { DOMAIN_LISTS, DOMAIN_SET } from './domain-zones.ts'
import { presentDomainBlacklist } from './present.ts'
import { questionName } from './query.ts'
import { readAnswer } from './read.ts'
import type { List, ListSet, Subject } from './zone-type.ts'
import { BUILT_IN } from './zones.ts'

const listOf = (name: string): List => DOMAIN_LISTS.find((one) => one.name === name)!
const WELL: LabZone = {
  'dbltest.com.dbl.spamhaus.org': { A: ['127.0.1.2'] },
  'test.surbl.org.multi.surbl.org': { A: ['127.0.0.254'] },
  'test.uribl.com.multi.uribl.com': { A: ['127.0.0.14'] },
  '_dnsbl_.test.uribl.spameatingmonkey.net': { A: ['127.0.0.2'] },
  '_dnsbl_.test.urired.spameatingmonkey.net': { A: ['127.0.0.2'] },
  'test.dbl.nordspam.com': { A: ['127.0.0.2'] },
}

async function read(list: string, codes: readonly string[]) {
  const { resolve } = labDns({ 'x.example': { A: [...codes] } })
  return readAnswer(listOf(list), await resolve('x.example', 'A', AbortSignal.timeout(5_000)))
}

describe('the answer of a list of domains', () => {
  it.each([
    ['Spamhaus DBL', ['127.0.1.2'], 'listed', 'A', undefined],
    ['Spamhaus DBL', ['127.0.1.106'], 'listed', 'A', undefined],
    ['Spamhaus DBL', ['127.0.1.255'], 'error', 'A', 'address_asked'],
    ['Spamhaus DBL', ['127.255.255.252'], 'blocked', 'A', 'typing_error'],
    ['Spamhaus DBL', ['127.255.255.254'], 'blocked', 'A', 'public_resolver'],
    ['Spamhaus DBL', ['127.255.255.255'], 'blocked', 'A', 'too_many_queries'],
    ['Spamhaus DBL', ['127.0.1.77'], 'error', 'A', 'unknown_code'],
    ['Spamhaus DBL', ['45.53.1.1'], 'error', 'A', 'rewritten_or_parked'],
    ['SURBL multi', ['127.0.0.8'], 'listed', 'A', undefined],
    ['SURBL multi', ['127.0.0.72'], 'listed', 'A', undefined],
    ['SURBL multi', ['127.0.0.4'], 'listed', 'D', undefined],
    ['SURBL multi', ['127.0.0.36'], 'listed', 'D', undefined],
    ['SURBL multi', ['127.0.0.1'], 'blocked', 'A', 'refused'],
    ['SURBL multi', ['127.0.0.2'], 'error', 'A', 'unknown_code'],
    ['URIBL multi', ['127.0.0.2'], 'listed', 'B', undefined],
    ['URIBL multi', ['127.0.0.4'], 'listed', 'D', undefined],
    ['URIBL multi', ['127.0.0.1'], 'blocked', 'B', 'refused'],
    ['SEM-URI', ['127.0.0.2'], 'listed', 'C', undefined],
    ['NordSpam DBL', [], 'not_listed', 'C', undefined],
  ])('%s %j is %s of tier %s', async (list, codes, status, tier, reason) => {
    const reading = await read(list, codes)
    expect([reading.status, reading.tier, reading.reason]).toEqual([status, tier, reason])
  })
  it.each<[string, string, string, RegExp]>([
    ['Spamhaus DBL', '127.0.1.2', 'domain', /^This domain itself is listed/],
    ['SURBL multi', '127.0.0.8', 'domain', /^The registrable domain is listed/],
    ['URIBL multi', '127.0.0.4', 'policy', /not evidence of spam\.$/], // and nothing about addresses
  ])('%s %s is about %s', async (name, code, scope, words) => {
    const [list, atMs] = [listOf(name), 0]
    const entry = { list, zone: list.zone, reading: await read(name, [code]), txt: null, durationMs: 0, atMs }
    const subject = domain('a.b.example')
    const answer = { subject, version: '', entries: [entry] }
    const { results } = presentDomainBlacklist(subject, answer, labWorld({}))
    expect(results).toEqual([expect.objectContaining({ scope, scope_text: expect.stringMatching(words) })])
    expect(results[0]!.scope_text).not.toMatch(/address|directly/)
  })
  it('a name is asked as the list wants it', () => {
    const name = domain('a.b.example.co.uk')
    expect(questionName(listOf('Spamhaus DBL'), name, {})).toBe('a.b.example.co.uk.dbl.spamhaus.org')
    expect(questionName(listOf('SURBL multi'), name, {})).toBe('example.co.uk.multi.surbl.org')
  })
  it('each row names its page, the day it was read, and both test points', () => {
    for (const { source, testPoint, delistUrl } of DOMAIN_LISTS) {
      expect([source?.page, delistUrl]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^https:/)])
      expect(source?.seen).toMatch(/^(?:\d{4}-\d\d-\d\d)?$/)
      expect([testPoint.names?.positive, testPoint.names?.negative]).toEqual([expect.any(String), expect.any(String)])
    }
  })
})

describe('the lists of domains together', () => {
  async function statuses(zone: LabZone, name = 'bad.example') {
    const world = labWorld(zone)
    const lists = createBlacklists({ now: world.monotonic, set: DOMAIN_SET, noCourtesy: true })
    const { entries } = await lists.lookup({ ...world, signal: AbortSignal.timeout(5_000) }, domain(name))
    return entries.map(({ reading }) => reading.reason ?? reading.status)
  }
  it('clean, and listed by one', async () => {
    expect(await statuses(WELL)).toEqual(Array(6).fill('not_listed'))
    expect(await statuses({ ...WELL, 'bad.example.dbl.spamhaus.org': { A: ['127.0.1.4'] } })).toEqual([
      'listed',
      ...Array(5).fill('not_listed'),
    ])
  })
  it('without its test point "not listed" means nothing', async () => {
    expect(await statuses({})).toEqual(Array(6).fill('test_point_missing'))
  })
  it('a list that lists everything is not believed', async () => {
    const zone: LabZone = {
      ...WELL,
      '*.dbl.nordspam.com': { A: ['127.0.0.2'] },
      'invalid.dbl.nordspam.com': { A: ['127.0.0.2'] },
      'bad.example.dbl.nordspam.com': { A: ['127.0.0.2'] },
    }
    expect((await statuses(zone)).at(-1)).toBe('quarantined_answers_everything')
  })
  it('a failure is told as what it is', async () => {
    const zone: LabZone = {
      ...WELL,
      'bad.example.dbl.spamhaus.org': { A: 'SERVFAIL' },
      'bad.example.multi.surbl.org': { A: 'REFUSED' },
    }
    expect((await statuses(zone)).slice(0, 2)).toEqual(['servfail', 'refused'])
  })
  it('an allowance that is used up is no answer, and the other lists still answer', async () => {
    const world = labWorld({ ...WELL, 'd.example.dbl.spamhaus.org': { A: ['127.0.1.2'] } })
    const lists = DOMAIN_LISTS.map((one) => (one.name === 'SEM-URI' ? { ...one, allowance: { perDay: 4 } } : one))
    const set: ListSet = { ...DOMAIN_SET, lists }
    const all = createBlacklists({ now: world.monotonic, set, allow: allowances(world.monotonic) })
    const asked = async (name: string) => {
      const subject = domain(name)
      const found = await all.lookup({ ...world, signal: AbortSignal.timeout(5_000) }, subject)
      const { verdict, answered, total, results } = presentDomainBlacklist(subject, found, world)
      return [verdict, answered, total, results[3]!.status, results[3]!.reason]
    }
    expect(await asked('a.example')).toEqual(['clean', 6, 6, 'not_listed', undefined])
    expect(await asked('b.example')).toEqual(['clean', 6, 6, 'not_listed', undefined])
    expect(await asked('c.example')).toEqual(['incomplete', 5, 6, 'blocked', 'own_limit'])
    expect(await asked('d.example')).toEqual(['listed', 5, 6, 'blocked', 'own_limit'])
    expect(await asked('a.example')).toEqual(['clean', 6, 6, 'not_listed', undefined]) // kept answers need none
  })
})

describe('an address is never asked at a list of domains, nor a name at a list of addresses', () => {
  it.each<[Subject, ListSet, string]>([
    [ip('45.53.1.1'), DOMAIN_SET, 'not_a_name'],
    [ip('2a00:1450::1'), DOMAIN_SET, 'not_a_name'],
    [ip('127.0.0.2'), DOMAIN_SET, 'not_a_name'],
    [domain('bad.example'), BUILT_IN, 'not_an_address'],
    [domain('1.1.53.45.in-addr.arpa'), BUILT_IN, 'not_an_address'],
  ])('%s', async (subject, set, reason) => {
    const world = labWorld({})
    const asked: string[] = []
    const resolve: typeof world.resolve = (name, ...rest) => {
      asked.push(name)
      return world.resolve(name, ...rest)
    }
    const lists = createBlacklists({ now: world.monotonic, set, noCourtesy: true })
    const { entries } = await lists.lookup({ ...world, resolve, signal: AbortSignal.timeout(5_000) }, subject)
    expect(new Set(entries.map(({ reading }) => `${reading.status} ${reading.reason}`))).toEqual(
      new Set([`unsupported ${reason}`]),
    )
    expect([entries.length, asked]).toEqual([set.lists.length, []])
  })
})
