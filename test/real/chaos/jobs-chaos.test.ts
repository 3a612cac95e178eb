import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type JobAnswer, jobAnswer } from '../../../src/answers/jobs.ts'
import { REFUSING_HOST } from '../addresses.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from '../nodes.ts'
import { type CountingHost, countingHost } from './counting-host.ts'
import { cutOff, halfOpen } from './disruptions.ts'
import { answered, HISTORY, judge } from './history.ts'
import { type DebianPostgres, startPostgres } from './postgres.ts'

/** Rows of the chaos: some thousand in the tests; `CHAOS_ROWS=50000` for the long run of docs/benchmarks.md. */
const ROWS = Number(process.env.CHAOS_ROWS ?? 2_500)
const IS_LONG = ROWS > 5_000
/** Rows a second while things break; then as fast as it goes. */
const PACE = IS_LONG ? 400 : 40
/** A lease lasts 10 s (src/jobs/engine/queue.ts). */
const LEASE_MS = 10_000
const MACHINES: readonly Machine[] = [1, 2, 3].map((n) => ({ name: `chaos${n}`, addresses: [`45.53.3.3${n}`] }))

let postgres: DebianPostgres
let host: CountingHost
let client: pg.Client
const nodes = new Map<string, Node>()
const folders = new Map(MACHINES.map(({ name }) => [name, dataFolder()]))

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const addressOf = (machine: Machine): string => machine.addresses[0]!
const nodeOf = ({ name }: Machine): Node => nodes.get(name)!

async function start(machine: Machine): Promise<void> {
  const flags = ['--database-url', postgres.url, '--pool', addressOf(machine)]
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
}, 90_000)
afterEach(() => host.pace(PACE))
afterAll(async () => {
  host.stop()
  await client.end().catch(() => {})
  await Promise.all([...nodes.values()].map((node) => node.end('SIGKILL')))
  for (const machine of MACHINES) unplug(machine)
  await postgres.stop()
}, 60_000)

async function submit(list: readonly string[]): Promise<JobAnswer> {
  const { url, id } = nodeOf(MACHINES[0]!)
  const headers = { authorization: `Bearer key-of-${id}`, 'content-type': 'text/plain' }
  const response = await fetch(`${url}/v1/jobs`, { method: 'POST', body: list.join('\n'), headers })
  return jobAnswer.parse(await response.json())
}
const stateOf = (id: string): Promise<string> =>
  inDatabase(async (of) => (await of.query('SELECT state FROM mailsonde.jobs WHERE id = $1', [id])).rows[0]?.state)
const isDone = async (id: string): Promise<boolean> => (await stateOf(id)) === 'done'
const listOf = (prefix: string, n: number): string[] =>
  Array.from({ length: n }, (_, i) => `${prefix}${i}@refusedhost.test`)

it(
  'each row gets one result, whatever dies',
  async () => {
    const list = listOf('user', ROWS)
    const job = await submit(list)
    /** How often each mailbox was under way on a node when that broke: so many times more it may be asked. */
    const inFlight = new Map<string, number>()
    /** Machines that go on after they were stopped or cut off. Dialogues that they had begun say their RCPT then, often when another node has done the row. */
    const resumed = new Set<Machine>()
    const askedSince = new Set<string>()
    function takeAskedBy(machine: Machine): ReadonlySet<string> {
      const askedBy = host.takeAskedBy(addressOf(machine))
      if (resumed.has(machine)) for (const mailbox of askedBy) askedSince.add(mailbox)
      return askedBy
    }
    async function noteInFlight(machines: readonly Machine[]): Promise<void> {
      await wait(300) // what was sent before has arrived
      const done = await inDatabase((of) => answered(of, job.id))
      for (const machine of machines) {
        const askedBy = takeAskedBy(machine)
        for (const mailbox of askedBy) if (!done.has(mailbox)) inFlight.set(mailbox, (inFlight.get(mailbox) ?? 0) + 1)
      }
    }
    async function kill(machine: Machine): Promise<void> {
      await nodeOf(machine).end('SIGKILL')
      await noteInFlight([machine])
      await start(machine)
    }
    async function stall(machine: Machine): Promise<void> {
      nodeOf(machine).freeze('SIGSTOP')
      await noteInFlight([machine])
      await wait(2 * LEASE_MS)
      resumed.add(machine)
      nodeOf(machine).freeze('SIGCONT')
    }
    async function restartDatabase(): Promise<void> {
      await postgres.restart(1_000)
      await noteInFlight(MACHINES)
    }
    const [a, b, c] = [MACHINES[0]!, MACHINES[1]!, MACHINES[2]!]
    const kills = async (n: number, of: readonly Machine[]): Promise<void> => {
      for (let i = 0; i < n; i++) {
        await wait(2_000)
        await kill(of[Math.floor(Math.random() * of.length)]!)
      }
    }
    /** The connections of a machine to the database are half open: it sees that nobody confirms its claim, and asks no more. */
    const openHalf = (machine: Machine): Promise<void> =>
      halfOpen(client, postgres.address, addressOf(machine), async () => {
        await wait(1_500)
        await noteInFlight([machine])
        await wait(LEASE_MS)
      })
    async function everything(): Promise<void> {
      await kills(2, MACHINES)
      await Promise.all([stall(a), openHalf(c), kills(2, [b])])
      await restartDatabase()
      await cutOff(addressOf(b), async () => {
        await noteInFlight([b])
        await kills(2, [a, c])
        await wait(LEASE_MS / 2)
        resumed.add(b)
      })
      await restartDatabase()
    }
    const begun = performance.now()
    await everything()
    while (IS_LONG && !(await isDone(job.id))) await everything()
    host.pace(100_000)
    await expect.poll(() => isDone(job.id), { timeout: 600_000, interval: 500 }).toBe(true)
    const verdict = await inDatabase((of) => judge(of, job.id))
    expect(verdict).toEqual({ rows: ROWS, withoutResult: 0, writtenTwice: 0, writtenByOthers: 0 })
    const extra = [...host.asked].filter(([mailbox]) => list.includes(`${mailbox}@refusedhost.test`))
    for (const machine of resumed) takeAskedBy(machine)
    const mayBe = (mailbox: string): number => (inFlight.get(mailbox) ?? 0) + (askedSince.has(mailbox) ? 1 : 0)
    const tooOften = extra.filter(([mailbox, n]) => n - 1 > mayBe(mailbox))
    const sum = extra.reduce((all, [, n]) => all + n - 1, 0)
    const flights = [...inFlight.values()].reduce((all, n) => all + n, 0)
    console.log(
      `chaos: ${ROWS} rows in ${Math.round((performance.now() - begun) / 1_000)} s, ${sum} asked again, ${flights} were under way`,
    )
    expect(tooOften).toEqual([])
    expect(sum).toBeLessThanOrEqual(flights)
    expect(host.asked.size).toBe(ROWS)
  },
  IS_LONG ? 3_600_000 : 400_000,
)

it('a rolling restart under load loses and repeats nothing', async () => {
  const list = listOf('userr', 1_000)
  const job = await submit(list)
  for (const machine of MACHINES) {
    await wait(1_000)
    expect(await nodeOf(machine).end('SIGTERM')).toBe(0)
    await start(machine)
  }
  host.pace(100_000)
  await expect.poll(() => isDone(job.id), { timeout: 60_000, interval: 200 }).toBe(true)
  expect(await inDatabase((of) => judge(of, job.id))).toMatchObject({ rows: 1_000, withoutResult: 0, writtenTwice: 0 })
  const counts = list.map((mailbox) => host.asked.get(mailbox.split('@')[0]!) ?? 0)
  expect(counts.filter((n) => n !== 1)).toEqual([])
}, 120_000)

it('one node with its private database, killed again and again, answers each row once', async () => {
  const machine = MACHINES[0]!
  await nodeOf(machine).end('SIGTERM')
  const data = dataFolder()
  const flags = ['--pool', addressOf(machine)]
  const begin = async (): Promise<void> => void nodes.set(machine.name, await startNode(machine, { data, flags }))
  await begin()
  const list = listOf('userp', 600)
  host.pace(100)
  const job = await submit(list)
  for (let i = 0; i < 3; i++) {
    await wait(1_500)
    await nodeOf(machine).end('SIGKILL')
    await begin()
  }
  host.pace(100_000)
  const show = async (): Promise<JobAnswer> => jobAnswer.parse((await nodeOf(machine).get(`/v1/jobs/${job.id}`)).body)
  await expect.poll(async () => (await show().catch(() => job)).state, { timeout: 60_000, interval: 500 }).toBe('done')
  expect(await show()).toMatchObject({ rows: 600, done: 600, counts: { accepted: 600 } })
  expect(list.every((mailbox) => (host.asked.get(mailbox.split('@')[0]!) ?? 0) <= 4)).toBe(true)
  await nodeOf(machine).end('SIGTERM') // its private server ends with it
}, 120_000)
