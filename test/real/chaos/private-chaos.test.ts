import { existsSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type JobAnswer, jobAnswer } from '../../../src/answers/jobs.ts'
import { embeddedConnection } from '../../../src/store/postgres/embedded.ts'
import { REFUSING_HOST } from '../addresses.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from '../nodes.ts'
import { type CountingHost, countingHost } from './counting-host.ts'
import { answered, HISTORY, judge } from './history.ts'
import { ledgerOf } from './ledger.ts'
import { IS_LONG, LONG_MS, mailboxesOf, PACE, ROWS, submit, tellRun, wait } from './rows.ts'

const MACHINE: Machine = { name: 'alone', addresses: ['45.53.3.34'] }
const ADDRESS = MACHINE.addresses[0]!
const data = dataFolder()
let host: CountingHost
let node: Node

async function start(): Promise<void> {
  node = await startNode(MACHINE, { data, flags: ['--pool', ADDRESS] })
}
/** One statement in the private database; asked again while that is away. */
async function inDatabase<T>(ask: (of: pg.Client) => Promise<T>): Promise<T> {
  for (;;) {
    const client = new pg.Client(await embeddedConnection(data, 'nobody'))
    client.on('error', () => {})
    try {
      await client.connect()
      return await ask(client)
    } catch {
      await wait(200)
    } finally {
      await client.end().catch(() => {})
    }
  }
}
const PID_FILE = `${data}/postgres/cluster/postmaster.pid`

/** Kills the private server as a lack of memory would. */
function killServer(): void {
  if (existsSync(PID_FILE)) process.kill(Number(readFileSync(PID_FILE, 'utf8').split('\n')[0]), 'SIGKILL')
}

beforeAll(async () => {
  host = await countingHost(REFUSING_HOST, PACE)
  plugIn(MACHINE)
  await start()
  await node.get('/v1/jobs') // the first need starts the database
  await inDatabase((of) => of.query(HISTORY))
}, 180_000)
afterAll(async () => {
  host.stop()
  await node.end('SIGTERM') // its private server ends with it
  unplug(MACHINE)
}, 60_000)

it(
  'one node with its private database, both killed again and again, answers each row once',
  async () => {
    const mailboxes = mailboxesOf('p', ROWS)
    const job = await submit(node, mailboxes)
    const ledger = ledgerOf(host, () => inDatabase((of) => answered(of, job.id)))
    const show = async (): Promise<JobAnswer> => jobAnswer.parse((await node.get(`/v1/jobs/${job.id}`)).body)
    const isDone = async (): Promise<boolean> => (await show().catch(() => job)).state === 'done'
    const begun = performance.now()
    let kills = 0
    do {
      await wait(2_000)
      // In turn: the node, whose server goes on; the server, which the node starts again; both.
      const victims = kills % 3
      if (victims === 1) killServer()
      else await node.end('SIGKILL')
      await ledger.broken([ADDRESS])
      if (victims === 2) killServer()
      if (victims !== 1) await start()
      await inDatabase((of) => of.query('SELECT')) // whoever is killed next: somebody runs the server
      kills++
    } while (kills < 4 || (IS_LONG && !(await isDone())))
    host.pace(100_000)
    await expect.poll(isDone, { timeout: 600_000, interval: 500 }).toBe(true)
    const verdict = await inDatabase((of) => judge(of, job.id))
    expect(verdict).toEqual({ rows: ROWS, withoutResult: 0, writtenTwice: 0, writtenByOthers: 0 })
    expect(await show()).toMatchObject({ rows: ROWS, done: ROWS, counts: { accepted: ROWS } })
    const { tooOften, again, underWay, never } = ledger.judge(mailboxes)
    expect({ tooOften, never }).toEqual({ tooOften: [], never: 0 })
    expect(again).toBeLessThanOrEqual(underWay)
    tellRun('chaos-private', { seconds: Math.round((performance.now() - begun) / 1_000), kills, again, underWay })
  },
  IS_LONG ? LONG_MS : 300_000,
)
