import { startEngine } from '../src/jobs/engine/engine.ts'
import { DEFAULT_LIMITS } from '../src/mailbox/provider.ts'
import { hostLimits } from '../src/mailbox/source/host-limits.ts'
import { type Ip, ip } from '../src/names/ip.ts'
import { openDatabase } from '../src/store/postgres/connect.ts'
import type { JobRecord } from '../src/store/postgres/jobs.ts'
import { labCluster } from '../test/lab/cluster.ts'
import { labList } from '../test/lab/job-rows.ts'
import { figures, flags, machine, sleep, table } from './figures.ts'
import { benchFolder } from './jobs-service.ts'

/**
 * Whether rows and jobs get their turns on one node, with the limits toward a provider of which nothing is known, and
 * its private database: 100 rows at each of 20 providers behind a list at one slow provider, and two jobs at one
 * provider, of which one came first. A mailbox at the slow provider takes two seconds, others 50 ms.
 * `node bench/jobs-fair.ts [--rows 1000000] [--seconds 40] [--write yes]`.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 1_000_000)
const seconds = Number(options.seconds ?? 40)
const [PROVIDERS, EACH] = [20, 100]
const [SLOW_MS, FAST_MS] = [2_000, 50]
const GOAL_SECONDS = 30

const log = { debug: () => {}, info: () => {}, warn: console.error, error: console.error }
const folder = benchFolder()
const database = await openDatabase(
  { url: undefined, dataDir: folder.path, dbUser: 'nobody', log },
  AbortSignal.timeout(90_000),
)
const { cluster, close } = labCluster(async () => database, 1)
const limits = hostLimits({ now: () => performance.now(), isLifted: false, cluster, noted: () => {} })
const allowance = (key: string) => ({
  ...{ key, connections: DEFAULT_LIMITS.maxConnections, perMinute: DEFAULT_LIMITS.perMinute },
})
const addresses = new Map<string, Ip>()
const hostOf = (provider: string): Ip => {
  const known = addresses.get(provider) ?? ip(`45.53.5.${addresses.size + 1}`)
  addresses.set(provider, known)
  return known
}
const engine = await startEngine(database, {
  ask: async (_kind, input, _options, signal, begin) => {
    const provider = input.split('@')[1]!
    const end = await limits.acquire(hostOf(provider), allowance(provider), signal)
    try {
      await limits.waitForRate({ source: undefined, perMinute: 1e9, provider: allowance(provider) }, signal, 60_000)
      await begin?.()
      await sleep(provider === 'slow' ? SLOW_MS : FAST_MS)
      return { result: 'accepted', reason: 'mailbox_exists', answer: { email: input } }
    } finally {
      end()
    }
  },
  findProvider: async (_kind, domain) => ({ id: domain, concurrent: 20, perMinute: 120 }),
  room: (provider, claimed) => limits.room(allowance(provider), claimed),
  onRoom: limits.onRoom,
  now: Date.now,
  log,
  drainMs: 100,
})
try {
  const list = Array.from({ length: rows }, (_, n) => `user${n}@slow`)
  for (let n = 0; n < PROVIDERS * EACH; n++) list.push(`user${n}@p${n % PROVIDERS}`)
  const long = await labList(database, list)
  await until(async () => (await doneOf(long, 'slow')) > 0)
  const begun = performance.now()
  await until(async () => (await doneOf(long)) - (await doneOf(long, 'slow')) === PROVIDERS * EACH)
  const others = (performance.now() - begun) / 1_000
  await database.pool.query("UPDATE mailsonde.jobs SET state = 'canceled' WHERE number = $1", [long.number])

  const names = (prefix: string) => Array.from({ length: 2_000 }, (_, n) => `${prefix}${n}@both`)
  const first = await labList(database, names('first'))
  await until(async () => (await doneOf(first)) > 0)
  await sleep(10_000)
  const second = await labList(database, names('second'))
  await until(async () => (await doneOf(second)) > 0)
  const both = async () => [await doneOf(first), await doneOf(second)] as const
  const before = await both()
  await sleep(seconds * 1_000)
  const after = await both()
  const [one, other] = [after[0] - before[0], after[1] - before[1]]
  figures('jobs-fair', [
    `Behind ${rows.toLocaleString('en')} rows at one slow provider, ${EACH} rows at each of ${PROVIDERS} others are answered ${others.toFixed(0)} s after the first slow one (goal ${GOAL_SECONDS}; the limit of such a provider allows it in ${((EACH - DEFAULT_LIMITS.perMinute / 2) * 60) / DEFAULT_LIMITS.perMinute} s). Of two jobs at one provider, the one that came first had ${one} answers in ${seconds} s, the other ${other}.`,
    table(
      ['', 'answers'],
      [
        ['job that came first', one],
        ['job that came later', other],
      ],
    ),
    `${machine()}.`,
  ])
} finally {
  await engine.stop()
  await close()
  await database.close()
  folder.remove()
}

async function doneOf({ number }: JobRecord, provider?: string): Promise<number> {
  const text =
    'SELECT coalesce(sum(done), 0) AS n FROM mailsonde.job_providers WHERE job = $1 AND ($2::text IS NULL OR provider = $2)'
  const found = await database.pool.query<{ n: string }>(text, [number, provider ?? null])
  return Number(found.rows[0]!.n)
}

async function until(is: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 300_000
  while (!(await is())) {
    if (performance.now() > endMs) throw new Error('it takes more than five minutes')
    await sleep(100)
  }
}
