import { afterAll, beforeAll, expect, it } from 'vitest'
import { type JobAnswer, jobAnswer } from '../../../src/answers/jobs.ts'
import { REFUSING_HOST } from '../addresses.ts'
import { withDelay } from '../delay/delay.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from '../nodes.ts'
import { type CountingHost, countingHost } from './counting-host.ts'
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts'
import { type DebianPostgres, startPostgres } from './postgres.ts'
import { mailboxesOf, submit, wait } from './rows.ts'

/** A database that is 20 ms away, behind a pooler in transaction mode. */
const ROUND_TRIP_MS = 20
const ROWS = 600
const MACHINES: readonly Machine[] = [1, 2].map((n) => ({ name: `pooled${n}`, addresses: [`45.53.3.7${n}`] }))

let postgres: DebianPostgres
let pooler: PgBouncer
let host: CountingHost
const nodes: Node[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  pooler = await startPgBouncer(postgres.address)
  host = await countingHost(REFUSING_HOST, 200)
  for (const machine of MACHINES) {
    plugIn(machine)
    const flags = ['--database-url', pooler.url, '--pool', machine.addresses[0]!]
    nodes.push(await startNode(machine, { data: dataFolder(), flags }))
  }
}, 120_000)
afterAll(async () => {
  host?.stop()
  await Promise.all(nodes.map((node) => node.end('SIGKILL')))
  for (const machine of MACHINES) unplug(machine)
  await pooler?.stop()
  await postgres?.stop()
}, 60_000)

it('two nodes answer each row once, and a pause ends all questions', async () => {
  const networks = MACHINES.map(({ addresses }) => `${addresses[0]}/32`)
  await withDelay(2 * ROUND_TRIP_MS, networks, async () => {
    const [node] = nodes
    const mailboxes = mailboxesOf('b', ROWS)
    const { id } = await submit(node!, mailboxes)
    const show = async (): Promise<JobAnswer> => jobAnswer.parse((await node!.get(`/v1/jobs/${id}`)).body)
    await expect.poll(async () => (await show()).done, { timeout: 60_000, interval: 200 }).toBeGreaterThan(50)
    const act = (action: string) =>
      fetch(`${node!.url}/v1/jobs/${id}/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer key-of-${node!.id}` },
      })
    expect((await act('pause')).status).toBe(200)
    const asked = (): number => [...host.asked.values()].reduce((sum, n) => sum + n, 0)
    await wait(500) // what was under way arrives
    const before = asked()
    await wait(2_000)
    expect(asked() - before).toBe(0)
    expect((await act('resume')).status).toBe(200)
    await expect.poll(async () => (await show()).state, { timeout: 90_000, interval: 200 }).toBe('done')
    expect(await show()).toMatchObject({ done: ROWS, counts: { accepted: ROWS } })
    // A question that the pause ended is asked again; no other one is.
    expect(Math.max(...mailboxes.map((mailbox) => host.asked.get(mailbox) ?? 0))).toBeLessThanOrEqual(2)
    expect(mailboxes.filter((mailbox) => !host.asked.has(mailbox))).toEqual([])
  })
}, 240_000)
