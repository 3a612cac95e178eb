import { describe, expect, it } from 'vitest'
import { domain } from '../../names/domain.ts'
import { ip } from '../../names/ip.ts'
import { madeUpMailbox, probeResult } from '../attempt/catch-all.ts'
import { type HostLimits, hostLimits, LIMITS } from './host-limits.ts'
import { port25Monitor } from './port25.ts'

const X = domain('x.example')
const limitsAt = (now: () => number, isLifted = false): HostLimits =>
  hostLimits({ now, isLifted, cluster: undefined, noted: () => {} })
const of = (key: string, connections: number, perMinute = 120) => ({ key, connections, perMinute })
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

describe('limits toward mail hosts', () => {
  it('keeps to the connections that a provider takes, and to 20 of one host', async () => {
    const limits = limitsAt(() => 0)
    const signal = AbortSignal.timeout(1_000)
    let inside = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const leave = await limits.acquire(ip('45.53.5.1'), of('p', 2), signal)
        most = Math.max(most, ++inside)
        await later()
        inside--
        leave()
      }),
    )
    expect(most).toBe(2)
  })
  it('frees the slot at the host when the wait for the provider is given up', async () => {
    const limits = limitsAt(() => 0)
    const host = ip('45.53.5.1')
    const signal = AbortSignal.timeout(1_000)
    const held = await Promise.all(Array.from({ length: 19 }, (_, i) => limits.acquire(host, of(`p${i}`, 1), signal)))
    const caller = new AbortController()
    // the 20th slot of the host, and none of the provider
    const waiting = limits.acquire(host, of('p0', 1), caller.signal)
    await later()
    caller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    const last = await limits.acquire(host, of('p19', 1), signal)
    let isIn = false
    const next = limits.acquire(host, of('p20', 1), signal)
    void next.then(() => (isIn = true))
    await later()
    expect(isIn).toBe(false) // 20 connections to one address
    last()
    ;(await next)()
    for (const release of held) release()
  })
  it('asks at a rate: a burst of half a minute, then one by one, and says at once what would come too late', async () => {
    let now = 0
    const limits = limitsAt(() => now)
    const signal = AbortSignal.timeout(1_000)
    const from = { source: undefined, perMinute: 30, provider: of('p', 10, 30) }
    for (let i = 0; i < 15; i++) expect(await limits.waitForRate(from, signal, 0)).toBeUndefined()
    expect(await limits.waitForRate(from, signal, 1_999)).toMatchObject({ retryAfterMs: 2_000 })
    // The provider's rate is that of all sources together.
    expect(await limits.waitForRate({ ...from, source: ip('45.53.1.1') }, signal, 0)).toMatchObject({
      retryAfterMs: 2_000,
    })
    now = 2_000
    expect(await limits.waitForRate(from, signal, 0)).toBeUndefined()
  })
  it('remembers a failure for a minute, by address and source', () => {
    let now = 0
    const limits = limitsAt(() => now)
    limits.failed(ip('45.53.5.1'), undefined, { reason: 'connect_refused', message: 'no' })
    expect(limits.failure(ip('45.53.5.1'), undefined)?.reason).toBe('connect_refused')
    expect(limits.failure(ip('45.53.5.1'), ip('45.53.1.1'))).toBeUndefined()
    now = 60_000
    expect(limits.failure(ip('45.53.5.1'), undefined)).toBeUndefined()
  })
  it('rests a host for every source, a minute or as long as it says', () => {
    let now = 0
    const limits = limitsAt(() => now)
    const failure = { reason: 'rate_limited', message: 'too many failed recipients' } as const
    limits.rests(ip('45.53.5.1'), failure, undefined)
    limits.rests(ip('45.53.5.2'), failure, 3_600_000)
    now = 60_000
    const reasonAt = (address: string) => limits.failure(ip(address), ip('45.53.1.1'))?.reason
    expect([reasonAt('45.53.5.1'), reasonAt('45.53.5.2')]).toEqual([undefined, 'rate_limited'])
  })
  it('asks for no more than 100 unknown names of a domain in an hour', async () => {
    let now = 0
    const limits = limitsAt(() => now)
    for (let i = 0; i < LIMITS.unknownPerDomain; i++) {
      expect(await limits.hold(X, `p${i}`)).toBeUndefined()
      limits.answered(X, `p${i}`, true)
    }
    now = 1_000
    expect(await limits.hold(X, 'p')).toMatchObject({ retryAfterMs: 3_599_000 })
    expect(await limits.hold(domain('y.example'), 'p')).toBeUndefined()
    now = 3_600_000
    expect(await limits.hold(X, 'p')).toBeUndefined()
  })
  it.each([
    [30, false], // not more than 30 %
    [31, true],
  ])('%i unknown of the last 100 recipients of a provider: paused %s', async (unknown, paused) => {
    const limits = limitsAt(() => 0)
    for (let i = 0; i < 100; i++) limits.answered(domain(`d${i}.example`), 'p', i < unknown)
    expect((await limits.hold(X, 'p')) !== undefined).toBe(paused)
  })
  it('is lifted as a whole', async () => {
    const lifted = limitsAt(() => 0, true)
    for (let i = 0; i < 200; i++) lifted.answered(X, 'p', true)
    lifted.failed(ip('45.53.5.1'), undefined, { reason: 'connect_refused', message: 'no' })
    expect([await lifted.hold(X, 'p'), lifted.failure(ip('45.53.5.1'), undefined)]).toEqual([undefined, undefined])
  })
})

it('a closed port is told after three unrelated networks, and not once one was reached', () => {
  const seen = port25Monitor(() => 0)
  for (const address of ['45.53.5.1', '45.53.9.9', '46.53.5.1']) seen.timedOut(ip(address))
  expect(seen.blockedNetworks()).toBe(0) // two of them are one network
  seen.timedOut(ip('2a01:4f8::1'))
  expect(seen.blockedNetworks()).toBe(3)
  seen.reached()
  expect(seen.blockedNetworks()).toBe(0)
})

describe('a made-up mailbox', () => {
  it('is none where its path would be over 256 octets (RFC 5321 §4.5.3.1.3)', () => {
    const domainOf = (octets: number) =>
      domain(`${'a'.repeat(61)}.`.repeat(3).concat('a'.repeat(octets - 194), '.example'))
    expect(madeUpMailbox(domainOf(228), Math.random)?.domain).toHaveLength(228)
    expect(madeUpMailbox(domainOf(229), Math.random)).toBeUndefined()
  })
  it('looks like a name, is long enough, and differs', () => {
    let seed = 1
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
    const locals = Array.from({ length: 1_000 }, () => madeUpMailbox(X, random)!.local)
    expect(new Set(locals).size).toBe(1_000)
    for (const local of locals) expect(local).toMatch(/^[a-z]{12}\.[a-z]{10}\d\d$/)
  })
  it.each([
    [250, 'mailbox_exists', true],
    [550, 'mailbox_not_found', false],
    [550, 'mailbox_disabled', false],
    [450, 'greylisted', null],
    [452, 'too_many_recipients', null],
    [550, 'source_blocked', null],
    [550, 'sender_refused', null],
    [550, 'policy', null],
    [554, 'relay_denied', null],
  ] as const)('%i %s tells %s', (code, reason, expected) =>
    expect(probeResult({ code, lines: [''] }, reason)).toBe(expected),
  )
})
