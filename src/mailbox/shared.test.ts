import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { labSource } from '../../test/lab/app.ts'
import { labCluster } from '../../test/lab/cluster.ts'
import { labDatabase } from '../../test/lab/database.ts'
import { type LabServer, labDial } from '../../test/lab/dial.ts'
import { labCtx, labStore } from '../../test/lab/world.ts'
import { ip } from '../names/ip.ts'
import type { Database } from '../store/postgres/connect.ts'
import type { Memory } from '../store/postgres/shared-memory.ts'
import type { VerifyInput } from './verification.ts'
import { createVerifier } from './verify.ts'

const MX = '45.53.5.1'
const ZONE = {
  'x.example': { MX: [[10, 'mx.x.example']] },
  'y.example': { MX: [[10, 'mx.x.example']] },
  'mx.x.example': { A: [MX] },
  'o.example': { MX: [[10, 'outlook-com.olc.protection.outlook.com']] },
  'outlook-com.olc.protection.outlook.com': { A: [MX] },
} as const
const TAKES: LabServer = { rcpt: { 'a@x.example': '250 2.1.5 Ok' } }
/** For what is written in the background. */
const WAIT = { timeout: 15_000 }
const POOL = ['socks5://45.53.9.1:1080']

let database: Database
beforeAll(async () => {
  database = await labDatabase()
}, 60_000)
const opened: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
  await database.pool.query(
    'DELETE FROM mailsonde.memories; DELETE FROM mailsonde.provider_leases; DELETE FROM mailsonde.rows',
  )
})
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()))
})

/** Nodes on one database and one mail host, which counts its connections: those open at once, and all. */
function nodes(count: number, server: LabServer, holdMs = 0) {
  let inside = 0
  const seen = { most: 0, all: 0 }
  const made = Array.from({ length: count }, () => {
    const net = labDial({ [MX]: server })
    const shared = labCluster(async () => database, count)
    opened.push(shared)
    const dial: typeof net.dial = async (target, signal) => {
      const connection = await net.dial(target, signal)
      seen.all++
      seen.most = Math.max(seen.most, ++inside)
      let isOpen = true
      const gone = (): void => {
        if (isOpen) inside--
        isOpen = false
      }
      if (holdMs > 0) await new Promise((resolve) => setTimeout(resolve, holdMs))
      return {
        ...connection,
        close: () => {
          gone()
          connection.close()
        },
        finish: (last) => {
          gone()
          connection.finish(last)
        },
      }
    }
    const ctx = {
      ...labCtx(ZONE, { dial, store: labStore(), now: () => Date.now(), random: Math.random }),
      signal: AbortSignal.timeout(20_000),
    }
    const verifier = createVerifier(ctx, {
      cluster: shared.cluster,
      pool: () => POOL.map((text) => labSource(text).name),
    })
    const ask = (input: Partial<VerifyInput> = {}) =>
      verifier.verify(ctx, { email: 'a@x.example', timeoutMs: 10_000, ...input })
    return { ask, verifier, shared, net }
  })
  return { made, seen }
}

describe('three nodes on one database', () => {
  it('share the two connections that a provider takes, and lose none', async () => {
    const { made, seen } = nodes(3, TAKES, 300)
    // A burst of five: the provider takes two connections and ten recipients a minute.
    const asked = [0, 1, 2, 0, 1].map((n, i) => made[n]!.ask({ email: `u${i}@o.example`, bindIp: ip(`45.53.1.${i}`) }))
    expect((await Promise.all(asked)).map(({ reason }) => reason)).toEqual(Array(5).fill('mailbox_not_found'))
    expect(seen.all).toBe(5)
    expect(seen.most).toBeLessThanOrEqual(2)
  })
  it('share the rate toward a provider', async () => {
    const { made, seen } = nodes(3, TAKES)
    // A burst of 60 for a rate of 120 a minute; the lab's clock is the real one, and each node asks until some are held.
    const beganMs = performance.now()
    let held = 0
    const until = async ({ ask }: (typeof made)[number], n: number): Promise<void> => {
      for (let i = 0; held < 3 && i < 90; i++) {
        const { reason } = await ask({ email: `u${n}-${i}@x.example`, timeoutMs: i === 0 ? 20_000 : 1_000 })
        if (reason === 'own_limit') held++
      }
    }
    await Promise.all(made.map(until))
    expect(held).toBeGreaterThanOrEqual(1)
    expect(seen.all).toBeLessThanOrEqual(75 + (performance.now() - beganMs) / 500)
  })
  it('ask an equal question once, and the others take its answer', async () => {
    const { made, seen } = nodes(3, TAKES, 150)
    const answers = await Promise.all(made.map(({ ask }) => ask()))
    expect(answers.map(({ result }) => result)).toEqual(['accepted', 'accepted', 'accepted'])
    expect(seen.all).toBe(1)
  })
  it('ask by themselves where the answer must be of this moment, or from one address', async () => {
    const { made, seen } = nodes(3, TAKES, 50)
    await Promise.all([
      made[0]!.ask({ maxAgeMs: 0 }),
      made[1]!.ask({ maxAgeMs: 0 }),
      made[2]!.ask({ bindIp: ip('45.53.1.1') }),
    ])
    expect(seen.all).toBe(3)
  })
  it('ask again where the node that asked first is gone', async () => {
    const { made } = nodes(2, { ...TAKES, delayMs: { banner: 300 } })
    const gone = new AbortController()
    const [first, second] = made
    const lost = first!.verifier.verify(
      { ...labCtx(ZONE, { dial: first!.net.dial, now: () => Date.now() }), signal: gone.signal },
      { email: 'a@x.example', timeoutMs: 5_000 },
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    const waiting = second!.ask()
    gone.abort(new Error('gone'))
    await lost
    expect(await waiting).toMatchObject({ result: 'accepted' })
    expect(second!.net.dialled).toHaveLength(1)
  })
  it('remember together that a domain is a catch-all, and count its unknown names together', async () => {
    const { made } = nodes(2, { rcpt: { '*': '250 Ok' } })
    const [first, second] = made
    expect(await first!.ask({ email: 'b@y.example' })).toMatchObject({ catchAll: true })
    await expect.poll(() => second!.shared.cluster.about('y.example', ''), WAIT).toHaveLength(1)
    const answer = await second!.ask({ email: 'c@y.example' })
    expect(answer).toMatchObject({ catchAll: true, reason: 'accept_all' })
    expect(second!.net.received.filter((line) => line.startsWith('RCPT'))).toHaveLength(1)
    const counted = async () =>
      Number(((await second!.shared.cluster.about('x.example', '')) as Memory[])[0]?.value ?? 0)
    // A count that the database does not take is not repeated by the node that counts.
    const missing = async (): Promise<number> => {
      const count = 100 - (await counted())
      for (let i = 0; i < count; i++) first!.shared.cluster.count('unknown', 'x.example', 3_600_000)
      return count
    }
    await expect.poll(missing, { ...WAIT, interval: 1_000 }).toBeLessThanOrEqual(0)
    expect(await second!.ask({ email: 'd@x.example' })).toMatchObject({
      reason: 'own_limit',
      message: expect.stringContaining('100 unknown recipients'),
    })
    await second!.shared.cluster.put('pause', 'x.example', '', '', 60_000)
    expect(await first!.ask({ email: 'e@y.example' })).toMatchObject({
      reason: 'own_limit',
      message: expect.stringContaining('paused verification at x.example'),
    })
  })
  it('forget a mailbox, and a domain with its mailboxes', async () => {
    const { made } = nodes(2, { rcpt: { '*': '250 Ok' } })
    const [first, second] = made
    await first!.ask({ email: 'B@y.example' })
    await first!.ask({ email: 'c@y.example' })
    await expect.poll(() => second!.shared.cluster.about('y.example', ''), WAIT).toHaveLength(1)
    expect(await second!.verifier.forgetShared('email', 'b@y.example')).toBe(1)
    expect(await second!.verifier.forgetShared('domain', 'y.example')).toBe(2)
    expect(await second!.verifier.forgetShared('domain', 'y.example')).toBe(0)
    expect(await createVerifier(labCtx()).forgetShared('domain', 'y.example')).toBeUndefined()
  })
  it('know together that a source was refused', async () => {
    const { made } = nodes(2, { rcpt: { '*': '550 5.7.1 Client host blocked using zen.spamhaus.org' } })
    const [first, second] = made
    expect(await first!.ask({ pool: true })).toMatchObject({
      reason: 'source_blocked',
      attempts: [{ proxy: 'socks5://45.53.9.1:1080' }],
    })
    const stored = async () =>
      (await database.pool.query('SELECT FROM mailsonde.rows WHERE value::text LIKE \'%"open"%\'')).rows.length
    await expect.poll(stored, WAIT).toBe(1)
    expect(await second!.ask({ pool: true, email: 'b@x.example' })).toMatchObject({
      reason: 'source_blocked',
      attempts: [],
    })
    expect(second!.net.dialled).toEqual([])
  })
})

/** A database that was away is asked again after a second. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_100))

it('while the database is away single questions are answered, within the share of each node', async () => {
  const { made, seen } = nodes(4, TAKES, 30)
  for (const { shared } of made) shared.setAway(true)
  const asked = made.flatMap(({ ask }, n) =>
    Array.from({ length: 7 }, (_, i) => ask({ email: `u${n}-${i}@x.example`, bindIp: ip(`45.53.1.${n * 20 + i}`) })),
  )
  expect((await Promise.all(asked)).map(({ reason }) => reason)).toEqual(Array(28).fill('mailbox_not_found'))
  expect(seen.most).toBeLessThanOrEqual(20) // 5 each
  for (const { shared } of made) shared.setAway(false)
  await settled()
  expect(await made[0]!.ask()).toMatchObject({ result: 'accepted' })
})

it('a database whose connections are all busy with statements of this node is not away', async () => {
  const busy = Array.from({ length: database.pool.options.max }, () => database.pool.query('SELECT pg_sleep(3)'))
  const node = labCluster(async () => database, 1, 2_500)
  opened.push(node)
  expect(await granted(node, 2)).toBe(2) // after three seconds
  await Promise.all(busy)
}, 60_000)

/** What a node wants at the host and the provider of the lab. */
const want = (connections: number, used = 0) => [
  { key: 'host 45.53.5.1', used, want: connections, most: 2, tokens: 0, perSecond: 0, capacity: 0 },
]
const granted = async (node: ReturnType<typeof labCluster>, connections: number, used = 0): Promise<number> => {
  const told = await node.cluster.lease(want(connections, used))
  if (told === 'away') throw new Error(told)
  return told.get('host 45.53.5.1')?.connections ?? 0
}

it('the connections of a node that died are free after five seconds', async () => {
  const [dying, other] = [labCluster(async () => database, 2), labCluster(async () => database, 2)]
  opened.push(dying, other)
  expect(await granted(dying, 2)).toBe(2)
  expect(await granted(other, 2)).toBe(0)
  await expect.poll(() => granted(other, 2), { timeout: 20_000, interval: 200 }).toBe(2)
}, 30_000)

it('nodes that want more than there is get equal shares, and a node keeps what it uses until it ends', async () => {
  const [first, second] = [labCluster(async () => database, 2), labCluster(async () => database, 2)]
  opened.push(first, second)
  expect(await granted(first, 2)).toBe(2)
  expect(await granted(second, 2)).toBe(0) // both are in use
  expect(await granted(first, 2, 2)).toBe(1)
  expect(await granted(second, 2)).toBe(0) // until one of them ends
  expect(await granted(first, 2, 1)).toBe(1)
  expect(await granted(second, 2)).toBe(1)
  expect(await granted(first, 0)).toBe(0) // it wants none any more
  expect(await granted(second, 2)).toBe(2)
})

it('more nodes than connections take turns', async () => {
  const nodes = Array.from({ length: 5 }, () => labCluster(async () => database, 5))
  opened.push(...nodes)
  const turns = nodes.map(() => 0)
  const until = performance.now() + 30_000
  while (performance.now() < until && turns.some((n) => n === 0)) {
    let inAll = 0
    for (const [n, node] of nodes.entries()) {
      const got = await granted(node, 2)
      inAll += got
      turns[n]! += got
    }
    expect(inAll).toBeLessThanOrEqual(4) // 2 at a time; within one round a turn may end
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  expect(turns.every((n) => n > 0)).toBe(true)
}, 40_000)
