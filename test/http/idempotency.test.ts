import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type JobAnswer, jobAnswer, jobListAnswer } from '../../src/answers/jobs.ts'
import { sleep } from '../../src/base/deadline.ts'
import type { JobService } from '../../src/jobs/service.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import { idempotencyKeysOf } from '../../src/store/postgres/idempotency-keys.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { jobsOver } from '../lab/jobs.ts'
import { labWorld } from '../lab/world.ts'

let database: Database
let jobs: JobService
let app: FastifyInstance
const world = labWorld()
const keys = [labKey('mine', ['jobs']), labKey('other', ['jobs'])]

beforeAll(async () => {
  database = await labDatabase()
  jobs = jobsOver(async () => database)
  const idempotencyKeys = idempotencyKeysOf(async () => database.db)
  app = await labApp(world, { deps: labDeps(world, { jobs, idempotencyKeys }), keys: () => keys })
})
afterAll(async () => {
  await app.close()
  await jobs.stop()
})

type Call = {
  readonly key: string
  readonly body?: string
  readonly query?: string
  readonly as?: string
  readonly type?: string
}
const LIST = 'joe@a.example\nann@a.example\n'

async function call({ key, body = LIST, query = '', as = 'mine', type = 'text/plain' }: Call) {
  const headers = { authorization: `Bearer ${as}`, 'content-type': type, 'idempotency-key': key }
  const response = await app.inject({ method: 'POST', url: `/v1/jobs${query}`, headers, payload: body })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}
async function named(name: string): Promise<readonly JobAnswer[]> {
  const headers = { authorization: 'Bearer mine' }
  const list = await app.inject({ url: '/v1/jobs?limit=200', headers })
  return jobListAnswer.parse(list.json()).data.filter((job) => job.name === name)
}

it('the same key and request get the same answer, and one job is made', async () => {
  const first = await call({ key: 'once', query: '?name=once' })
  expect([first.status, first.headers['idempotent-replayed']]).toEqual([202, undefined])
  for (const key of ['once', '"once"']) {
    const again = await call({ key, query: '?name=once' })
    expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([202, 'true', first.body])
  }
  expect(await named('once')).toHaveLength(1)
})

it.each<[string, Partial<Call>]>([
  ['another list', { body: 'joe@a.example\neve@a.example\n' }],
  ['a longer list', { body: `${LIST}eve@a.example\n` }],
  ['a shorter list', { body: 'joe@a.example\n' }],
  ['other parameters', { query: '?name=x' }],
  ['another type', { type: 'text/csv' }],
])('with %s the key is refused', async (what, other) => {
  expect((await call({ key: `key of ${what}`.replaceAll(' ', '-') })).status).toBe(202)
  const { status, body } = await call({ key: `key of ${what}`.replaceAll(' ', '-'), ...other })
  expect([status, body.code]).toEqual([409, 'idempotency_key_reused'])
})

it('the key of another caller is another key', async () => {
  const mine = jobAnswer.parse((await call({ key: 'shared' })).body)
  const theirs = jobAnswer.parse((await call({ key: 'shared', as: 'other', body: 'eve@a.example\n' })).body)
  expect(theirs.id).not.toBe(mine.id)
})

it('a request that was refused may be made again', async () => {
  expect((await call({ key: 'refused', body: '' })).body.code).toBe('empty_list')
  expect((await call({ key: 'refused' })).status).toBe(202)
})

it('while the first one runs, the second is told when to come back', async () => {
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  let end = (): void => {}
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(LIST))
      end = () => controller.close()
    },
  })
  const headers = { authorization: 'Bearer mine', 'content-type': 'text/plain', 'idempotency-key': 'slow' }
  const first = fetch(`${url}/v1/jobs`, { method: 'POST', body, headers, duplex: 'half' } as RequestInit)
  const isClaimed = async () =>
    (await database.db.selectFrom('mailsonde.idempotency_keys').select('key').where('key', '=', 'slow').execute())
      .length > 0
  for (const limit = AbortSignal.timeout(5_000); !(await isClaimed()); ) await sleep(20, limit)
  const second = await call({ key: 'slow' })
  expect([second.status, second.body.code, second.headers['retry-after']]).toEqual([409, 'idempotency_key_in_use', '5'])
  end()
  expect((await first).status).toBe(202)
  expect((await call({ key: 'slow' })).headers['idempotent-replayed']).toBe('true')
})

it('a request that died with its process is run again, and finds what it made', async () => {
  const first = await call({ key: 'crash', query: '?name=crash' })
  const lapse = { status: null, answer: null, leased_until: new Date(0) } // killed before the answer was kept
  await database.db.updateTable('mailsonde.idempotency_keys').set(lapse).where('key', '=', 'crash').execute()
  const again = await call({ key: 'crash', query: '?name=crash' })
  expect([again.status, again.body.id]).toEqual([202, first.body.id])
  await database.db
    .updateTable('mailsonde.jobs')
    .set({ state: 'receiving' }) // killed in the middle of the upload
    .where('id', '=', first.body.id)
    .execute()
  await database.db.updateTable('mailsonde.idempotency_keys').set(lapse).where('key', '=', 'crash').execute()
  expect(await call({ key: 'crash', query: '?name=crash' })).toMatchObject({ status: 202, body: { rows: 2 } })
  expect(await named('crash')).toHaveLength(1)
})

it.each(['x'.repeat(256), 'a b', '', '""', 'ä'])('the key %j is refused', async (key) => {
  const { status, body } = await call({ key })
  expect([status, body.code, body.parameter]).toEqual([400, 'invalid_parameter', 'Idempotency-Key'])
})
