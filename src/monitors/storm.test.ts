import { expect, it } from 'vitest'
import { labDatabase } from '../../test/lab/database.ts'
import { labProblem } from '../../test/lab/problem.ts'
import { UNBOUNDED } from '../../test/lab/storage.ts'
import { sleep } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { FetchError } from '../net/fetch.ts'
import type { PostRequest } from '../net/post.ts'
import { deliveriesOf } from '../store/postgres/deliveries.ts'
import { monitorsOf } from '../store/postgres/monitors.ts'
import { webhooksOf } from '../store/postgres/webhooks.ts'
import { type EngineParts, startMonitors } from './engine.ts'

const HOUR_MS = 3_600_000
const MESSAGES = 8
/** What receivers of one key do, each of three webhooks of a kind. */
const KINDS = ['answers-500', 'redirects', 'hangs', 'endless'] as const

it('a night of receivers that fail, hang and redirect: places and attempts are bounded, and the messages of others go on', async () => {
  const { db, pool } = await labDatabase()
  const [deliveries, webhooks] = [deliveriesOf(db), webhooksOf(db)]
  let nowMs = Date.UTC(2026, 0, 2, 20)
  let [busy, most, attempts] = [0, 0, 0]
  const delivered: string[] = []
  const hanging = new Set<() => void>()
  async function post({ url, body }: PostRequest): Promise<{ readonly status: number; readonly retryAfter: string }> {
    if (url.includes('good')) {
      delivered.push(JSON.parse(body).hour)
      return { status: 204, retryAfter: '' }
    }
    attempts++
    most = Math.max(most, ++busy)
    try {
      if (url.includes('answers-500')) return { status: 500, retryAfter: '' }
      if (url.includes('redirects')) return { status: 301, retryAfter: '' }
      await new Promise<void>((resolve) => hanging.add(resolve))
      throw new FetchError('timeout', labProblem('no answer in time'))
    } finally {
      busy--
    }
  }
  const none = async (): Promise<void> => {}
  const parts = {
    ...{ database: { db }, deliveries, webhooks, now: () => nowMs, sweeps: [], jobEvent: async () => undefined },
    monitors: {
      mendTimes: none,
      sweepPoints: async () => false,
      claim: async () => [],
      byNumber: async () => undefined,
    },
    consents: { sweep: none },
    digests: { due: none },
    accepted: { sweep: none, due: none },
    senders: { post, mail: undefined, publicUrl: undefined, from: undefined },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  } as unknown as EngineParts // no monitor runs
  const message = async (webhook: number, n: number, hour: number): Promise<void> =>
    deliveries.add(db, [
      {
        ...{ id: `msg_${webhook}_${hour}_${n}`, webhook, monitor: null, channel: '{"type":"webhook"}', type: 'x' },
        ...{ body: JSON.stringify({ hour }), createdAt: new Date(nowMs) },
      },
    ])
  const hook = async (owner: string, name: string): Promise<number> => {
    const row = {
      id: `wh_${name}`,
      owner,
      url: `https://${name}.example/`,
      secret: 'whsec_AAAA',
      created_at: new Date(nowMs),
    }
    return (await webhooks.ensure(row, 100))!.webhook.number
  }
  for (const kind of KINDS)
    for (let n = 0; n < 3; n++) {
      const webhook = await hook('bad', `${kind}${n}`)
      for (let i = 0; i < MESSAGES; i++) await message(webhook, i, 0)
    }
  const good = await hook('good', 'good')
  const dueOfBad = async (): Promise<number> =>
    (
      await pool.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM mailsonde.deliveries WHERE state = 'pending' AND next_attempt <= $1`,
        [new Date(nowMs)],
      )
    ).rows[0]!.n
  const engine = startMonitors(parts)
  const limit = AbortSignal.timeout(100_000)
  try {
    for (let hour = 0; hour < 12; hour++) {
      await message(good, 0, hour)
      engine.wake()
      while (!delivered.includes(hour as never)) await sleep(5, limit) // no receiver that hangs has let go
      while ((await dueOfBad()) > 0) {
        for (const release of hanging) release()
        hanging.clear()
        engine.wake()
        await sleep(10, limit)
      }
      nowMs += HOUR_MS
    }
  } finally {
    for (const release of hanging) release()
    await engine.stop()
  }
  expect(delivered).toHaveLength(12)
  expect(most).toBeLessThanOrEqual(12)
  // After 0 s, 5 s, 5 min, 30 min, 2 h and 5 h more, at the next full hour each.
  expect(attempts).toBe(KINDS.length * 3 * MESSAGES * 6)
  const { rows } = await pool.query('SELECT count(*)::int AS n, max(tries) AS tries FROM mailsonde.deliveries')
  expect(rows).toEqual([{ n: KINDS.length * 3 * MESSAGES + 12, tries: 6 }])
}, 120_000)

it('5,100 older messages of one key do not hide a newer one of another', async () => {
  const { db } = await labDatabase()
  const [deliveries, webhooks] = [deliveriesOf(db), webhooksOf(db)]
  const hook = async (owner: string): Promise<number> => {
    const row = {
      id: `wh_${owner}`,
      owner,
      url: `https://${owner}.example/`,
      secret: 'whsec_AAAA',
      created_at: new Date(),
    }
    return (await webhooks.ensure(row, 100))!.webhook.number
  }
  const message = (webhook: number, n: number, agoMs: number) => ({
    ...{ id: `msg_${webhook}_${n}`, webhook, monitor: null, channel: '{"type":"webhook"}', type: 'x', body: '{}' },
    createdAt: new Date(Date.now() - agoMs),
  })
  const [busy, other] = [await hook('busy'), await hook('other')]
  await deliveries.add(
    db,
    Array.from({ length: 5_100 }, (_, n) => message(busy, n, HOUR_MS)),
  )
  await deliveries.add(db, [message(other, 0, 1_000)])
  const claimed = await deliveries.claim(new Date(), HOUR_MS, 16)
  expect(claimed.map(({ webhook }) => webhook).sort()).toEqual([busy, busy, busy, busy, other])
  expect(await deliveries.claim(new Date(), HOUR_MS, 16)).toEqual([]) // four of a receiver at a time
})

it('5,000 monitors of one key whose runs are slow hold up no run of another', async () => {
  const { db, pool } = await labDatabase()
  const monitors = monitorsOf(db)
  const add = (owner: string, count: number, ago: string): Promise<unknown> =>
    pool.query(
      `INSERT INTO mailsonde.monitors (id, owner, name, kind, target, domain, every_ms, options, notify, conditions, is_public, enabled, created_at, next_run)
       SELECT $1 || n, $1, '', 'blacklist', $1, '', 900000, '{}', '[]', '[]', false, true, now(), now() - n * interval '1 s' - $3::interval
       FROM generate_series(1, $2::int) AS n`,
      [owner, count, ago],
    )
  await add('slow', 5_000, '1 hour')
  const ofTheSlow: (() => void)[] = []
  const ran: string[] = []
  const tables = { deliveries: deliveriesOf(db), webhooks: webhooksOf(db) }
  const parts = {
    ...{ database: { db }, monitors, ...tables, now: Date.now, random: () => 0.5, sweeps: [], storage: UNBOUNDED },
    consents: { sweep: async () => {} },
    accepted: { sweep: async () => false, due: async () => undefined },
    runOnce: async (_kind: string, target: string) => {
      ran.push(target)
      if (target === 'slow') await new Promise<void>((resolve) => ofTheSlow.push(resolve))
      throw new AppError('timeout', labProblem('no answer'))
    },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  } as unknown as EngineParts
  const engine = startMonitors(parts)
  const limit = AbortSignal.timeout(15_000)
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await sleep(5, limit)
  }
  try {
    await until(() => ran.length === 16)
    await add('a', 3, '0 s')
    await add('b', 3, '0 s')
    // Two runs of the slow key end: the places are for those who have none.
    for (const end of ofTheSlow.splice(0, 2)) end()
    await until(() => ran.length >= 22)
    expect(
      ran
        .slice(16)
        .filter((one) => one !== 'slow')
        .sort(),
    ).toEqual(['a', 'a', 'a', 'b', 'b', 'b'])
  } finally {
    for (const end of ofTheSlow) end()
    await engine.stop()
  }
})
