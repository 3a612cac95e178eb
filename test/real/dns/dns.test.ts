import { describe, expect, it } from 'vitest'
import { FAULTY_SERVER, LEAF_SERVERS, STALE_SERVER } from '../addresses.ts'
import { dig } from '../ask.ts'
import { DOMAINS, POINTERS } from '../world.ts'

describe('the resolver of the test network', () => {
  it.each([
    ['signed.test', 'NOERROR', true], // the chain from the root holds
    ['insecure.test', 'NOERROR', false], // proven to have no DS
    ['island.test', 'NOERROR', false],
    ['bogus.test', 'SERVFAIL', false],
    ['expired.test', 'SERVFAIL', false],
    ['servfail.test', 'SERVFAIL', false],
    ['lame.test', 'SERVFAIL', false],
    ['truncated.test', 'NOERROR', false],
    ['delayed.test', 'NOERROR', false],
    ['formerr.test', 'SERVFAIL', false],
    ['missing.test', 'NXDOMAIN', true], // and proven so
  ])('%s MX: %s, AD %s', async (name, status, ad) => {
    const dug = await dig(name, 'MX', '+adflag')
    expect([dug.status, dug.flags.includes('ad')]).toEqual([status, ad])
  })

  it.each([
    ['bogus.test', [9, 6, 10]],
    ['expired.test', [7, 6]], // which of the two depends on whether unbound met it at the DNSKEY
  ])('%s says why (RFC 8914), and answers with CD', async (name, codes) => {
    expect(codes).toContain((await dig(name, 'MX')).ede[0])
    expect((await dig(name, 'MX', '+cd')).answers).toEqual(['MX 10 mx.accept.test.'])
  })

  it.each(['servfail.test', 'lame.test'])('%s fails with CD too: an outage, not a fault of its keys', async (name) => {
    expect((await dig(name, 'MX', '+cd')).status).toBe('SERVFAIL')
  })

  it.each([
    ['nodata.test', 'MX', 'NOERROR'],
    ['_domainkey.ent.test', 'TXT', 'NOERROR'], // an empty non-terminal exists (RFC 8020)
    ['absent._domainkey.ent.test', 'TXT', 'NXDOMAIN'],
    ['_domainkey.abandoned.test', 'TXT', 'NXDOMAIN'],
  ])('%s %s has no records: %s', async (name, type, status) => {
    const dug = await dig(name, type)
    expect([dug.status, dug.answers]).toEqual([status, []])
  })

  it.each([
    ['anything._domainkey.wildcard.test', 'TXT', 1],
    ['bigtxt.test', 'TXT', 1],
    ['manytxt.test', 'TXT', 61],
    ['www.chain.test', 'A', 9],
    ['healthy.test', 'MX', 2],
    ['nullmx.test', 'MX', 1],
    ['implicit.test', 'MX', 0],
  ])('%s %s: %i records', async (name, type, count) => {
    expect((await dig(name, type)).answers).toHaveLength(count)
  })

  it('does not find the end of a circle of CNAMEs', async () => {
    expect((await dig('www.loop.test', 'A')).answers.every((line) => line.startsWith('CNAME'))).toBe(true)
  })

  it('has a PTR record for each host that has a name, and none for 45.53.1.3', async () => {
    const names = new Map<string, string[]>()
    for (const [address, name] of POINTERS) names.set(address, [...(names.get(address) ?? []), `PTR ${name}.`])
    const seen = await Promise.all(
      [...names.keys()].map(async (address) => [address, (await dig('-x', address)).answers.toSorted()]),
    )
    expect(seen).toEqual([...names].map(([address, all]) => [address, all.toSorted()]))
    expect((await dig('-x', '45.53.1.3')).status).toBe('NXDOMAIN')
  })

  it('holds every domain of the table', async () => {
    const broken = ['bogus', 'expired', 'servfail', 'lame', 'dead', 'drop', 'formerr', 'loss', 'delay', 'truncate']
    const whole = DOMAINS.filter((domain) => !broken.includes(domain.service))
    const seen = await Promise.all(whole.map(async (domain) => (await dig(domain.name, 'SOA')).answers.length))
    expect(whole.filter((_, n) => seen[n] !== 1)).toEqual([])
  })
})

describe('name servers that misbehave', () => {
  const ask = (server: string, ...args: string[]) => dig(`@${server}`, '+norecurse', '+time=1', ...args)
  it('drop', async () => expect((await ask(FAULTY_SERVER, 'drop.test', 'MX')).status).toBe('TIMEOUT'))
  it('TC over UDP', async () =>
    expect((await ask(FAULTY_SERVER, 'truncated.test', 'MX', '+ignore')).flags).toContain('tc'))
  it('the whole answer over TCP', async () =>
    expect((await ask(FAULTY_SERVER, 'truncated.test', 'MX', '+tcp')).answers).toHaveLength(1))
  it('FORMERR', async () => expect((await ask(FAULTY_SERVER, 'formerr.test', 'MX')).status).toBe('FORMERR'))
  it('REFUSED', async () => expect((await ask(LEAF_SERVERS[0], 'lame.test', 'MX')).status).toBe('REFUSED'))
  it('SERVFAIL', async () => expect((await ask(LEAF_SERVERS[0], 'servfail.test', 'MX')).status).toBe('SERVFAIL'))
  it('two that disagree', async () => {
    const serials = await Promise.all(
      [LEAF_SERVERS[0], STALE_SERVER].map((server) => ask(server, 'disagree.test', 'MX')),
    )
    expect(serials[0]!.answers).not.toEqual(serials[1]!.answers)
  })
  it('dead', async () => expect((await dig('dead.test', 'MX', '+time=2')).status).toMatch(/TIMEOUT|SERVFAIL/))
})
