import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../test/lab/dns.ts'
import { labWorld } from '../../test/lab/world.ts'
import { domain } from '../names/domain.ts'
import { createBlacklists } from './blacklists.ts'
import { DOMAIN_LISTS, DOMAIN_SET } from './domain-zones.ts'
import { questionName } from './query.ts'
import { readAnswer } from './read.ts'
import type { List } from './zone-type.ts'

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
})
