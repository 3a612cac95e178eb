import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jobAnswer } from '../../src/answers/jobs.ts'
import { sleep } from '../../src/base/deadline.ts'
import { lazyDatabase } from '../../src/store/postgres/connect.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/store/postgres/embedded.ts'
import { labApp, labDeps } from '../lab/app.ts'
import { labFolder } from '../lab/folder.ts'
import { jobsOver } from '../lab/jobs.ts'
import { labWorld } from '../lab/world.ts'

/** The database stops while a job runs, and comes back: the service works on it through a connection of its own. */
const dataDir = join(labFolder(), 'data')
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const start = (): Promise<EmbeddedServer> =>
  startEmbedded({ dataDir, user: 'nobody', log }, AbortSignal.timeout(60_000))
const asked: string[] = []
let server: EmbeddedServer
let app: FastifyInstance
let end = async (): Promise<void> => {}

beforeAll(async () => {
  chmodSync(join(dataDir, '..'), 0o711)
  server = await start()
  const { user, password, host } = server.connection
  const url = `postgres://${user}:${password}@/postgres?host=${encodeURIComponent(host)}`
  const database = lazyDatabase({ url, dataDir, dbUser: 'nobody', log })
  const jobs = jobsOver(database.open, {
    ask: async (_kind, input, _options, signal) => {
      asked.push(input)
      await sleep(40, signal)
      return { result: 'accepted', reason: 'mailbox_exists', answer: {} }
    },
    log,
  })
  const probes = { resolver: async () => undefined, store: async () => undefined, queue: database.probe }
  const world = labWorld()
  app = await labApp(world, { deps: labDeps(world, { jobs, probes }) })
  end = async () => {
    await app.close()
    await jobs.stop()
    await database.close()
  }
})
afterAll(async () => {
  await end()
  await server.stop()
})

const ready = async () => {
  const response = await app.inject('/v1/ready')
  return { status: response.statusCode, queue: response.json().dependencies[2] }
}

it('work pauses, /v1/ready says so, and goes on where it stopped', async () => {
  const list = Array.from({ length: 300 }, (_, i) => `user${i}@a.example`)
  const headers = { 'content-type': 'text/plain' }
  const submitted = await app.inject({ method: 'POST', url: '/v1/jobs', headers, payload: list.join('\n') })
  const { id } = jobAnswer.parse(submitted.json())
  const limit = AbortSignal.timeout(15_000)
  while (asked.length < 60) await sleep(10, limit)
  expect((await ready()).status).toBe(200)

  await server.stop()
  const away = await ready()
  expect([away.status, away.queue.status, away.queue.reason]).toEqual([
    503,
    'failed',
    expect.stringContaining('the database does not answer'),
  ])
  const refused = await app.inject(`/v1/jobs/${id}`)
  expect([refused.statusCode, refused.json().code, refused.headers['retry-after']]).toEqual([
    502,
    'upstream_unavailable',
    '5',
  ])
  await sleep(1_200, limit) // what was under way has ended
  const askedMeanwhile = asked.length
  await sleep(500, limit)
  expect(asked.length).toBe(askedMeanwhile)
  expect(asked.length).toBeLessThan(list.length)

  server = await start()
  const job = async () => (await app.inject(`/v1/jobs/${id}`)).json()
  while ((await job()).state !== 'done') await sleep(50, limit)
  expect(await ready()).toMatchObject({ status: 200 })
  expect(await job()).toMatchObject({ rows: 300, done: 300, counts: { accepted: 300 } })
  expect(asked.toSorted()).toEqual(list.toSorted()) // nothing was asked twice
})
