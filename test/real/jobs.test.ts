import { chmodSync, mkdtempSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type JobAnswer, jobAnswer } from '../../src/answers/jobs.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/store/postgres/embedded.ts'
import { STATE } from './addresses.ts'
import { dataFolder, type Machine, type Node, plugIn, startNode, unplug } from './nodes.ts'

/** Three nodes on three machines that share a database. */
const MACHINES: readonly Machine[] = [1, 2, 3].map((n) => ({ name: `job${n}`, addresses: [`45.53.3.2${n}`] }))
const ROWS = 1_500
const log = { info: () => {}, warn: () => {} }

let server: EmbeddedServer
let database: string
const nodes = new Map<string, Node>()
const folders = new Map(MACHINES.map(({ name }) => [name, dataFolder()]))

async function start(machine: Machine): Promise<void> {
  const flags = ['--database-url', database, '--pool', machine.addresses[0]!]
  nodes.set(machine.name, await startNode(machine, { data: folders.get(machine.name)!, flags }))
}

beforeAll(async () => {
  const dataDir = mkdtempSync(`${STATE}/database-`)
  chmodSync(dataDir, 0o711)
  server = await startEmbedded({ dataDir, user: 'nobody', log }, AbortSignal.timeout(60_000))
  const { user, password, host } = server.connection
  database = `postgres://${user}:${password}@/postgres?host=${encodeURIComponent(host)}`
  for (const machine of MACHINES) plugIn(machine)
  await Promise.all(MACHINES.map(start))
}, 120_000)
afterAll(async () => {
  await Promise.all([...nodes.values()].map((node) => node.end('SIGTERM')))
  for (const machine of MACHINES) unplug(machine)
  await server.stop()
}, 60_000)

const alive = (): Node => [...nodes.values()][0]!
async function show(id: string): Promise<JobAnswer> {
  const { status, body } = await alive().get(`/v1/jobs/${id}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return jobAnswer.parse(body)
}

/** Addresses that exist, that do not, of a domain that is not there, and the same many times. */
const list = Array.from({ length: ROWS }, (_, i) => {
  if (i % 50 === 49) return `user${i}@no-such-domain.test`
  return i % 10 === 0 ? 'user@accept.test' : `nobody${i}@accept.test`
})

async function submit(text: string): Promise<JobAnswer> {
  const { url, id } = alive()
  const headers = { authorization: `Bearer key-of-${id}`, 'content-type': 'text/plain' }
  const response = await fetch(`${url}/v1/jobs`, { method: 'POST', body: text, headers })
  return jobAnswer.parse(await response.json())
}

it('answers each row once, while nodes are killed and started again', async () => {
  const job = await submit(list.join('\n'))
  expect(job.rows).toBe(ROWS)
  for (let round = 0; round < 6 && (await show(job.id)).state !== 'done'; round++) {
    const victim = MACHINES[1 + (round % 2)]!
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await nodes.get(victim.name)!.end('SIGKILL')
    await start(victim)
  }
  await expect.poll(async () => (await show(job.id)).state, { timeout: 120_000, interval: 500 }).toBe('done')
  const { done, counts } = await show(job.id)
  expect(done).toBe(ROWS)
  expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(ROWS)
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  const { rows } = await client.query(
    `SELECT count(*) AS rows, count(*) FILTER (WHERE state = 'done' AND result IS NOT NULL) AS answered,
            count(*) FILTER (WHERE state = 'duplicate') AS duplicates FROM mailsonde.job_rows`,
  )
  await client.end()
  const distinct = new Set(list).size
  expect(rows).toEqual([{ rows: String(ROWS), answered: String(distinct), duplicates: String(ROWS - distinct) }])
}, 240_000)
