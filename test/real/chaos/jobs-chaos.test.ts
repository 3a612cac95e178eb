import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { REFUSING_HOST } from '../addresses.ts'
import { withDelay } from '../delay/delay.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from '../nodes.ts'
import { type CountingHost, countingHost } from './counting-host.ts'
import { cutOff, halfOpen } from './disruptions.ts'
import { answered, HISTORY, judge, tableOf } from './history.ts'
import { ledgerOf } from './ledger.ts'
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts'
import { type DebianPostgres, startPostgres } from './postgres.ts'
import { DELAY_MS, IS_LONG, IS_POOLED, LONG_MS, mailboxesOf, PACE, ROWS, submit, tellRun, wait } from './rows.ts'

/** A claim lasts 10 s (src/store/postgres/job-rows.ts). */
const LEASE_MS = 10_000
/** Rows that timed out while their node was cut off would be due in 5 minutes. */
const MOVE_FORWARD = (table: string): string => `
  UPDATE ${table} SET due = now() WHERE state = 'ready' AND due > now() + interval '1 minute';
  UPDATE mailsonde.job_providers SET next_due = now(), version = version + 1 WHERE next_due < 'infinity'`
const MACHINES: readonly Machine[] = [1, 2, 3].map((n) => ({ name: `chaos${n}`, addresses: [`45.53.3.3${n}`] }))

let postgres: DebianPostgres
let pooler: PgBouncer | undefined
let host: CountingHost
let client: pg.Client
const nodes = new Map<string, Node>()
const folders = new Map(MACHINES.map(({ name }) => [name, dataFolder()]))

const addressOf = (machine: Machine): string => machine.addresses[0]!
const nodeOf = ({ name }: Machine): Node => nodes.get(name)!

async function start(machine: Machine): Promise<void> {
  const flags = ['--database-url', pooler?.url ?? postgres.url, '--pool', addressOf(machine)]
  nodes.set(machine.name, await startNode(machine, { data: folders.get(machine.name)!, flags }))
}
/** The database's own view, on a connection that a restart does not outlive. */
async function inDatabase<T>(ask: (of: pg.Client) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask(client)
    } catch {
      await client.end().catch(() => {})
      await wait(200)
      client = await postgres.client().catch(() => client)
    }
  }
}

beforeAll(async () => {
  postgres = await startPostgres()
  if (IS_POOLED) pooler = await startPgBouncer(postgres.address)
  host = await countingHost(REFUSING_HOST, PACE)
  client = await postgres.client()
  for (const machine of MACHINES) plugIn(machine)
  await start(MACHINES[0]!)
  const isMigrated = () =>
    client.query('SELECT FROM mailsonde.job_rows').then(
      () => true,
      () => false,
    )
  while (!(await isMigrated())) await wait(100)
  await client.query(HISTORY)
  await Promise.all(MACHINES.slice(1).map(start))
}, 180_000)
afterEach(() => host.pace(PACE))
afterAll(async () => {
  host.stop()
  await client.end().catch(() => {})
  await Promise.all([...nodes.values()].map((node) => node.end('SIGKILL')))
  for (const machine of MACHINES) unplug(machine)
  await pooler?.stop()
  await postgres.stop()
}, 60_000)

const stateOf = (id: string): Promise<string> =>
  inDatabase(async (of) => (await of.query('SELECT state FROM mailsonde.jobs WHERE id = $1', [id])).rows[0]?.state)
const isDone = async (id: string): Promise<boolean> => (await stateOf(id)) === 'done'

it(
  'each row gets one result, whatever dies',
  async () => {
    const mailboxes = mailboxesOf('', ROWS)
    const job = await submit(nodeOf(MACHINES[0]!), mailboxes)
    const ledger = ledgerOf(host, () => inDatabase((of) => answered(of, job.id)))
    const broken = (machines: readonly Machine[]): Promise<void> => ledger.broken(machines.map(addressOf))
    let kills = 0
    async function kill(machine: Machine): Promise<void> {
      await nodeOf(machine).end('SIGKILL')
      kills++
      await broken([machine])
      await start(machine)
    }
    async function stall(machine: Machine): Promise<void> {
      nodeOf(machine).freeze('SIGSTOP')
      await broken([machine])
      await wait(2 * LEASE_MS)
      ledger.resumed(addressOf(machine))
      nodeOf(machine).freeze('SIGCONT')
    }
    async function restartDatabase(): Promise<void> {
      await postgres.restart(1_000)
      await broken(MACHINES)
    }
    const [a, b, c] = [MACHINES[0]!, MACHINES[1]!, MACHINES[2]!]
    async function killSome(n: number, of: readonly Machine[]): Promise<void> {
      for (let i = 0; i < n; i++) {
        await wait(2_000)
        await kill(of[Math.floor(Math.random() * of.length)]!)
      }
    }
    /**
     * The connections of a machine to the database are half open: it sees that nobody confirms its claim, and asks no
     * more.
     */
    const openHalf = (machine: Machine): Promise<void> =>
      halfOpen(client, postgres.address, addressOf(machine), async () => {
        await wait(1_500)
        await broken([machine])
        await wait(LEASE_MS)
      })
    async function everything(): Promise<void> {
      await killSome(2, MACHINES)
      await Promise.all([stall(a), openHalf(c), killSome(2, [b])])
      await restartDatabase()
      await cutOff(addressOf(b), async () => {
        await broken([b])
        await killSome(2, [a, c])
        await wait(LEASE_MS / 2)
        ledger.resumed(addressOf(b))
      })
      await restartDatabase()
    }
    const begun = performance.now()
    let rounds = 0
    const untilDone = async (): Promise<void> => {
      do {
        await everything()
        rounds++
      } while (IS_LONG && !(await isDone(job.id)))
    }
    if (DELAY_MS === 0) await untilDone()
    else
      await withDelay(
        DELAY_MS,
        MACHINES.map((machine) => `${addressOf(machine)}/32`),
        untilDone,
      )
    host.pace(100_000)
    const isDoneSoon = async (): Promise<boolean> => {
      await inDatabase(async (of) => of.query(MOVE_FORWARD(await tableOf(of, job.id))))
      return isDone(job.id)
    }
    await expect.poll(isDoneSoon, { timeout: 600_000, interval: 500 }).toBe(true)
    const verdict = await inDatabase((of) => judge(of, job.id))
    expect(verdict).toEqual({ rows: ROWS, withoutResult: 0, writtenTwice: 0, writtenByOthers: 0 })
    const { tooOften, again, underWay, never } = ledger.judge(mailboxes)
    expect({ tooOften, never }).toEqual({ tooOften: [], never: 0 })
    expect(again).toBeLessThanOrEqual(underWay)
    const seconds = Math.round((performance.now() - begun) / 1_000)
    const name = `chaos${IS_POOLED ? '-pooler' : ''}${DELAY_MS > 0 ? '-delay' : ''}`
    tellRun(name, { seconds, kills, restarts: rounds * 2, again, underWay })
  },
  IS_LONG ? LONG_MS : 400_000,
)

it('a rolling restart under load loses and repeats nothing', async () => {
  const mailboxes = mailboxesOf('r', 1_000)
  const job = await submit(nodeOf(MACHINES[0]!), mailboxes)
  for (const machine of MACHINES) {
    await wait(1_000)
    expect(await nodeOf(machine).end('SIGTERM')).toBe(0)
    await start(machine)
  }
  host.pace(100_000)
  await expect.poll(() => isDone(job.id), { timeout: 120_000, interval: 200 }).toBe(true)
  expect(await inDatabase((of) => judge(of, job.id))).toMatchObject({ rows: 1_000, withoutResult: 0, writtenTwice: 0 })
  expect(mailboxes.filter((mailbox) => host.asked.get(mailbox) !== 1)).toEqual([])
}, 300_000)
