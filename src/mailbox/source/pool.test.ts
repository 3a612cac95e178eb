import { describe, expect, it } from 'vitest'
import { labProxies, labSource } from '../../../test/lab/app.ts'
import { ip } from '../../names/ip.ts'
import type { ProxyState } from '../../net/socks/proxies.ts'
import { type ListingAnswer, sourcePool } from './pool.ts'

const S1 = ip('45.53.1.1')
const S2 = ip('45.53.1.2')
const ZEN = { blacklist: 'Spamhaus ZEN', meaning: 'a spam source' }
const listed: ListingAnswer = { ...ZEN, status: 'listed' }
const notListed: ListingAnswer = { ...ZEN, status: 'not_listed' }
const unknown: ListingAnswer = { ...ZEN, status: 'unknown' }
const signal = AbortSignal.timeout(60_000)

/** A pool of one address whose lookups give these answers in turn; the last one stays. */
function poolOf(...said: (readonly ListingAnswer[] | 'hangs')[]) {
  let now = 0
  let lookups = 0
  const pool = sourcePool({
    now: () => now,
    read: () => [labSource(S1)],
    ownAddresses: () => [],
    proxies: labProxies(),
    lookup: (_, stop) => {
      const answer = said[Math.min(lookups++, said.length - 1)]!
      if (answer !== 'hangs') return Promise.resolve(answer)
      // What the blacklists do: at the signal every list is one that did not answer.
      return new Promise((resolve) => stop.addEventListener('abort', () => resolve([unknown]), { once: true }))
    },
  })
  return { pool, lookups: () => lookups, wait: (ms: number) => (now += ms) }
}
const QUARTER = 15 * 60_000

describe('a refresh of our own listings', () => {
  it('is done once in 15 minutes', async () => {
    const { pool, lookups, wait } = poolOf([listed])
    await pool.refresh(signal)
    wait(QUARTER - 1)
    await pool.refresh(signal)
    expect([lookups(), pool.listings(S1)]).toEqual([1, [ZEN]])
    wait(1)
    await pool.refresh(signal)
    expect(lookups()).toBe(2)
  })
  it('that was cut short counts for nothing: the listing stays, and the next caller asks again', async () => {
    const { pool, lookups, wait } = poolOf([listed], 'hangs', [notListed])
    await pool.refresh(signal)
    wait(QUARTER)
    const caller = new AbortController()
    const cut = pool.refresh(caller.signal)
    caller.abort()
    await cut
    expect([pool.listings(S1), pool.refusedBy(S1, 'gmx')]).toEqual([[ZEN], 'listed by Spamhaus ZEN (a spam source)'])
    await pool.refresh(signal)
    expect([lookups(), pool.listings(S1), pool.refusedBy(S1, 'gmx')]).toEqual([3, [], undefined])
  })
  it('that was cut short before any answer leaves the listings unknown', async () => {
    const { pool } = poolOf('hangs')
    const caller = new AbortController()
    const cut = pool.refresh(caller.signal)
    caller.abort()
    await cut
    expect(pool.listings(S1)).toBeUndefined()
  })
  it('goes on for a second caller when the first one hangs up', async () => {
    const { pool, lookups } = poolOf('hangs')
    const [first, second] = [new AbortController(), new AbortController()]
    const one = pool.refresh(first.signal)
    let isDone = false
    const two = pool.refresh(second.signal).then(() => (isDone = true))
    first.abort()
    await one
    expect([lookups(), isDone]).toEqual([1, false])
    second.abort()
    await two
  })
  it('keeps the listing of a blacklist that does not answer, for a day', async () => {
    const { pool, wait } = poolOf([listed, { ...notListed, blacklist: 'SpamCop' }], [unknown])
    await pool.refresh(signal)
    wait(QUARTER)
    await pool.refresh(signal)
    expect(pool.listings(S1)).toEqual([ZEN])
    wait(24 * 60 * 60_000)
    await pool.refresh(signal)
    expect(pool.listings(S1)).toBeUndefined()
  })
})

const LAB = { now: () => 0, proxies: labProxies(), lookup: async () => [] }
it('is this machine’s own addresses where none is configured, and reads the configured ones again', async () => {
  const own = sourcePool({ ...LAB, read: undefined, ownAddresses: () => [S2] })
  expect([own.isConfigured, own.addresses()]).toEqual([false, [S2]])
  const files = [[S1], [S1, S2]].map((addresses) => addresses.map(labSource))
  const pool = sourcePool({ ...LAB, read: () => files.shift()!, ownAddresses: () => [] })
  expect([pool.isConfigured, pool.addresses()]).toEqual([true, [S1]])
  pool.reload()
  expect(pool.addresses()).toEqual([S1, S2])
})

describe('a pool of an address, a proxy and a node', () => {
  const PROXY = 'socks5://45.53.9.1:1080'
  const poolWith = (known: ProxyState) => {
    const asked: string[] = []
    const pool = sourcePool({
      now: () => 0,
      read: () => [S1, 'socks5://user:secret@45.53.9.1', 'peer:north'].map(labSource),
      ownAddresses: () => [],
      proxies: labProxies({ [PROXY]: known }),
      lookup: async (address) => {
        asked.push(address)
        return [{ ...ZEN, status: address === S2 ? 'listed' : 'not_listed' }]
      },
    })
    return { pool, asked }
  }
  it('asks the blacklists about the address that the proxy leaves from', async () => {
    const { pool, asked } = poolWith({ exit: { address: S2, by: 'mail_host' } })
    await pool.refresh(signal)
    expect(pool.sources()).toEqual([S1, PROXY, 'peer:north'])
    expect([pool.addresses(), asked]).toEqual([[S1], [S1, S2]])
    const [, proxy, node] = pool.sources()
    expect(pool.leavesFrom(proxy!)).toEqual({ address: S2, by: 'mail_host' })
    expect(pool.refusedBy(proxy!, 'gmx')).toContain('listed by Spamhaus ZEN')
    expect([pool.leavesFrom(node!), pool.refusedBy(node!, 'gmx')]).toEqual([undefined, undefined])
  })
  it('does not use a proxy that lies', () => {
    const { pool } = poolWith({ lie: 'it says that it reached nobody' })
    expect(pool.refusedBy(pool.sources()[1]!, 'gmx')).toBe('it says that it reached nobody')
  })
})
