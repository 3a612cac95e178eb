import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createVerifier } from '../../src/mailbox/verify.ts'
import { domain } from '../../src/names/domain.ts'
import { type Ip, ip } from '../../src/names/ip.ts'
import { labStore } from '../lab/world.ts'
import { DEAD_HOST } from './addresses.ts'
import { countConnections } from './count.ts'
import { withDrop } from './delay/delay.ts'
import { type InProcess, inProcess, without } from './in-process.ts'
import { mailServers } from './smtp/other-listeners.ts'

/**
 * What a mail host does × the source addresses × the family of its addresses: result, reason, attempts, and the
 * connections that arrived.
 */
const FAMILIES = {
  IPv4: {
    hidden: 'AAAA',
    refused: ['45.53.1.1', '45.53.1.2', '45.53.1.77'],
    allRefused: ['45.53.1.241', '45.53.1.242', '45.53.1.243'],
    good: '45.53.1.2',
    bad: '45.53.1.1',
  },
  IPv6: {
    hidden: 'A',
    refused: ['2a02:53:1::1', '2a02:53:1::2', '2a02:53:1::77'],
    allRefused: ['2a02:53:1:240::1', '2a02:53:1:240::2', '2a02:53:1:240::3'],
    good: '2a02:53:1::2',
    bad: '2a02:53:1::1',
  },
  'IPv4 and IPv6': {
    hidden: undefined,
    refused: ['45.53.1.1', '2a02:53:1::1', '45.53.1.2'],
    allRefused: ['45.53.1.241', '2a02:53:1:240::1', '45.53.1.242'],
    good: '2a02:53:1::2',
    bad: '45.53.1.1',
  },
} as const
type Family = keyof typeof FAMILIES
type Sources = 'no pool' | 'bind_ip' | 'bind_ip, refused' | 'pool, its first refused' | 'pool, all refused'
/** The verdict; connections where one family is there, and where both are (absent: as many). */
type Cell = readonly [verdict: string, one: number, both?: number]
type Cells = Readonly<Record<Sources, Cell>>

const always = (...cell: Cell): Cells => ({
  'no pool': cell,
  bind_ip: [cell[0], cell[1]],
  'bind_ip, refused': [cell[0], cell[1]],
  'pool, its first refused': cell,
  'pool, all refused': cell,
})
const OK = 'accepted mailbox_exists'
const NOT_WELCOME = 'blocked source_blocked'
/** The first address is refused, and the next one taken; with both families the next one is of IPv6 and refused too. */
const BY_SOURCE: Cells = {
  'no pool': [OK, 1],
  bind_ip: [OK, 1],
  'bind_ip, refused': [NOT_WELCOME, 1],
  'pool, its first refused': [OK, 2, 3],
  'pool, all refused': [NOT_WELCOME, 3],
}
/** Where another source address may help all three are tried. */
const FROM_ALL: Cells = {
  ...always(NOT_WELCOME, 1),
  'pool, its first refused': [NOT_WELCOME, 3],
  'pool, all refused': [NOT_WELCOME, 3],
}

const BEHAVIOURS: readonly (readonly [email: string, does: string, cells: Cells])[] = [
  ['user@dual.test', 'Postfix takes the mailbox', always(OK, 1)],
  ['nobody@dual.test', 'Postfix knows no such mailbox', always('rejected mailbox_not_found', 1)],
  ['user@exim.test', 'Exim takes the mailbox, over TLS', always(OK, 1)],
  ['nobody@exim.test', 'Exim knows no such mailbox', always('rejected mailbox_not_found', 1)],
  ['user@opensmtpd.test', 'OpenSMTPD takes the mailbox', always(OK, 1)],
  ['nobody@opensmtpd.test', 'OpenSMTPD knows no such mailbox', always('rejected mailbox_not_found', 1)],
  ['user@catchall.test', 'takes any mailbox', always('catch_all accept_all', 1)],
  ['user@full.test', '452, over quota', always('deferred mailbox_full', 1)],
  ['user@tempfail.test', '451', always('deferred temporary_failure', 1)],
  ['user@relay.test', 'does not serve the domain', always('rejected relay_denied', 1)],
  ['user@sender.test', 'refuses every sender', always('blocked sender_refused', 1)],
  ['user@banner.test', 'refuses some addresses in its banner', BY_SOURCE],
  ['user@rcpt.test', 'refuses some addresses at RCPT', BY_SOURCE],
  ['nobody@rcpt.test', 'refuses some addresses at RCPT, knows no such mailbox', rejectedThen(BY_SOURCE)],
  ['user@blocked.test', 'refuses every address at RCPT', FROM_ALL],
  // RFC 5321 §5.1: behind a 421 in the banner the next address of the host is tried; another source would not help.
  ['user@overloaded.test', '421 in its banner', always('deferred temporary_failure', 1, 2)],
]

/** What the welcome addresses are told is "no such mailbox": that ends it. */
function rejectedThen(cells: Cells): Cells {
  const rows = Object.entries(cells).map(([sources, [verdict, ...made]]) => [
    sources,
    [verdict === OK ? 'rejected mailbox_not_found' : verdict, ...made],
  ])
  return Object.fromEntries(rows) as Cells
}

let lab: InProcess
beforeAll(() => {
  lab = inProcess()
})
afterAll(() => lab.close())

/** Asks a verifier that has no memory yet, as a program that was just started would. */
async function ask(family: Family, sources: Sources, email: string, timeoutMs: number) {
  const { hidden, refused, allRefused, good, bad } = FAMILIES[family]
  const pool: readonly string[] = sources === 'pool, all refused' ? allRefused : refused
  const world = { ...lab.world, resolve: without(lab.world.resolve, hidden), store: labStore() }
  const verifier = createVerifier(world, { helo: domain('b.sonde.test'), pool: () => pool.map(ip) })
  const bindIp: Ip | undefined = sources === 'bind_ip' ? ip(good) : sources === 'bind_ip, refused' ? ip(bad) : undefined
  const ctx = { ...world, signal: AbortSignal.timeout(timeoutMs + 2_000) }
  const seen = await verifier.verify(ctx, {
    email,
    timeoutMs,
    pool: sources.startsWith('pool'),
    ...(bindIp && { bindIp }),
  })
  await verifier.close()
  return seen
}

const addressesOf = (email: string): readonly string[] => {
  const row = mailServers.find(({ domain }) => email.endsWith(`@${domain}`))!
  return [row.address, row.address6 ?? []].flat()
}

describe.each(Object.keys(FAMILIES) as Family[])('%s', (family) => {
  describe.each(BEHAVIOURS)('%s: %s', (email, _, cells) => {
    it.each(Object.entries(cells) as [Sources, Cell][])('%s: %s', async (sources, [verdict, one, both = one]) => {
      const made = family === 'IPv4 and IPv6' ? both : one
      const { result, connections } = await countConnections(addressesOf(email), () =>
        ask(family, sources, email, 8_000),
      )
      const seen = { verdict: `${result.result} ${result.reason}`, attempts: result.attempts.length, connections }
      expect(seen, JSON.stringify(result.attempts)).toEqual({ verdict, attempts: made, connections: made })
    })
  })

  it.each<[Sources, number, number]>([
    ['no pool', 1, 2],
    ['bind_ip', 1, 1],
    ['pool, its first refused', 1, 2],
    ['pool, all refused', 1, 2],
  ])('nothing arrives, %s: %i connections (both families: %i)', async (sources, one, both) => {
    const made = family === 'IPv4 and IPv6' ? both : one
    const addresses = addressesOf('user@dual.test')
    const began = performance.now()
    const { result, connections } = await withDrop(addresses, () =>
      countConnections(addresses, () => ask(family, sources, 'user@dual.test', 900)),
    )
    expect([result.result, result.reason, result.attempts.length, connections]).toEqual([
      'unreachable',
      'connect_timeout',
      made,
      made,
    ])
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})

describe('one family is of no use', () => {
  // The pool's first address is of the family that is cut off.
  it.each([
    ['45.53.5.23', ['45.53.1.2', '2a02:53:1::2']],
    ['2a02:53:5::17', ['2a02:53:1::2', '45.53.1.2']],
  ])('%s is cut off: asked over the other one', async (cut, pool) => {
    const world = { ...lab.world, store: labStore() }
    const verifier = createVerifier(world, { helo: domain('b.sonde.test'), pool: () => pool.map(ip) })
    const ctx = { ...lab.world, signal: AbortSignal.timeout(10_000) }
    const seen = await withDrop([cut], () =>
      verifier.verify(ctx, { email: 'user@dual.test', timeoutMs: 5_000, pool: true }),
    )
    expect([seen.result, seen.ipUsed, seen.attempts.map(({ reason }) => reason)]).toEqual([
      'accepted',
      pool[1],
      ['connect_timeout', 'mailbox_exists'],
    ])
  })
})

it('three unrelated networks time out: port 25 is blocked, and says so; a connection takes it back', async () => {
  const hosts = ['45.53.7.99', '46.1.1.1', '47.1.1.1', '48.1.1.1'].map(ip)
  expect(hosts[0]).toBe(DEAD_HOST)
  const resolve: typeof lab.world.resolve = async (name, type, signal, options) => {
    const n = /^blocked(\d)\.test$/.exec(name)?.[1]
    const answer = await lab.world.resolve(n === undefined ? name : 'accept.test', type, signal, options)
    if (n === undefined) return answer
    if (type === 'A') return { ...answer, kind: 'found', records: [hosts[Number(n)]!] as never }
    return { ...answer, kind: 'nodata', records: [] }
  }
  const world = { ...lab.world, resolve }
  const verifier = createVerifier(world, { helo: domain('b.sonde.test') })
  const reasonOf = async (email: string) => {
    const ctx = { ...world, signal: AbortSignal.timeout(10_000) }
    const { result, reason, deliverability } = await verifier.verify(ctx, { email, timeoutMs: 1_000, maxAgeMs: 0 })
    return `${result} ${reason} ${deliverability}`
  }
  await withDrop(hosts.slice(1), async () => {
    const seen: string[] = []
    for (const n of [0, 1, 2, 3]) seen.push(await reasonOf(`user@blocked${n}.test`))
    expect(seen).toEqual([
      'unreachable connect_timeout unknown',
      'unreachable connect_timeout unknown',
      'unreachable port25_blocked unknown',
      'unreachable port25_blocked unknown',
    ])
    expect(await reasonOf('user@accept.test')).toBe('accepted mailbox_exists deliverable')
    expect(await reasonOf('other@blocked0.test')).toBe('unreachable connect_timeout unknown')
  })
}, 30_000)

it('greylisted: the time to wait is told, and the same address is taken behind it', async () => {
  const pool = ['45.53.1.91', '45.53.2.92', '45.53.3.93'].map(ip) // postgrey counts by /24
  const verifier = createVerifier(lab.world, { helo: domain('b.sonde.test'), pool: () => pool })
  const again = () => {
    const ctx = { ...lab.world, signal: AbortSignal.timeout(10_000) }
    return verifier.verify(ctx, { email: 'user@grey.test', timeoutMs: 8_000, pool: true, maxAgeMs: 0 })
  }
  const first = await again()
  expect(first).toMatchObject({ result: 'deferred', reason: 'greylisted', code: 450, attempts: [expect.anything()] })
  expect(first.retryAfterMs).toBeGreaterThanOrEqual(3_000)
  await new Promise((resolve) => setTimeout(resolve, 3_500))
  expect(await again()).toMatchObject({ result: 'accepted', reason: 'mailbox_exists', ipUsed: first.ipUsed })
})
