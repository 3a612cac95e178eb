import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type JobAnswer, jobAnswer, jobListAnswer, jobResultsAnswer } from '../../src/answers/jobs.ts'
import { sleep } from '../../src/base/deadline.ts'
import { operate } from '../../src/cli/operate.ts'
import type { ViewFlags } from '../../src/cli/view-flags.ts'
import type { Ask, Asked } from '../../src/jobs/engine/claims.ts'
import type { JobService } from '../../src/jobs/service.ts'
import type { Raw } from '../../src/operations/operation.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { jobsOver } from '../lab/jobs.ts'
import { labSetting } from '../lab/setting.ts'
import { labWorld } from '../lab/world.ts'

let jobs: JobService
let app: FastifyInstance
const world = labWorld()
const keys = [
  labKey('mine', ['jobs']),
  labKey('other', ['jobs']),
  labKey('reader', ['read']),
  labKey('admin', ['admin']),
]

/** Answers by the local part: `slow` hangs until it is stopped. */
const options: object[] = []
const ask: Ask = async (_kind, input, given, signal): Promise<Asked> => {
  options.push(given)
  if (input.startsWith('slow')) await sleep(60_000, signal)
  const isThere = !input.startsWith('no')
  return {
    result: isThere ? 'accepted' : 'rejected',
    reason: isThere ? 'mailbox_exists' : 'mailbox_not_found',
    answer: { email: input, deliverability: isThere ? 'deliverable' : 'undeliverable' },
  }
}

beforeAll(async () => {
  const database = await labDatabase()
  jobs = jobsOver(async () => database, { ask })
  app = await labApp(world, { deps: labDeps(world, { jobs }), keys: () => keys })
})
afterAll(async () => {
  await app.close()
  await jobs.stop()
})

type Request = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: string | Buffer
  readonly type?: string
  readonly key?: string
}

async function call(url: string, { method = 'GET', body, type = 'text/csv', key = 'mine' }: Request = {}) {
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': type }) }
  return app.inject({ method, url, headers, ...(body !== undefined && { payload: body }) })
}
async function submit(body: string | Buffer, query = '', type?: string): Promise<JobAnswer> {
  const response = await call(`/v1/jobs${query}`, { method: 'POST', body, ...(type && { type }) })
  expect([response.statusCode, response.body]).toEqual([202, expect.any(String)])
  return jobAnswer.parse(response.json())
}
async function done({ id }: JobAnswer): Promise<JobAnswer> {
  for (const limit = AbortSignal.timeout(15_000); ; await sleep(50, limit)) {
    const job = jobAnswer.parse((await call(`/v1/jobs/${id}`)).json())
    if (job.state === 'done') return job
  }
}

const LIST = 'name,email\nJoe,joe@a.example\nAnn,no@a.example\nJoe again,joe@a.example\nnobody,\n'

describe('a list', () => {
  it('an event tells of the job without the columns of its list', async () => {
    const { id, columns: _, column: __, ...job } = await submit(LIST)
    const event = await jobs.event(id, { id: '', isAdmin: true })
    expect(Object.keys(event).sort()).toEqual(['id', ...Object.keys(job)].sort())
  })

  it('has several addresses of a cell as rows of its line, and says what was taken away', async () => {
    const body =
      'Contacts of May\nname,email\nA,"Joe <joe@b.example>; no@b.example"\nB,\u00a0ann@b.example\nC,"no@b.example, sue@b.example"\n'
    const job = await done(await submit(body))
    expect(job).toMatchObject({ rows: 5, received: 3, duplicates: 1, bad_rows: 0, column: 'email' })
    expect(job.notes).toEqual([
      'passed over before the header: 1 line',
      'several values in one cell, each a row (2 records)',
      'taken away: invisible characters around the value (1 row)',
      'taken away: the name beside the address (1 row)',
    ])
    const rowsAfter = async (cursor: string) => {
      const { data } = jobResultsAnswer.parse((await call(`/v1/jobs/${job.id}/results?cursor=${cursor}`)).json())
      return data.map(({ line, part, input, result }) => [line, part, input, result])
    }
    const rows = [
      [3, 1, 'joe@b.example', 'accepted'],
      [3, 2, 'no@b.example', 'rejected'],
      [4, undefined, 'ann@b.example', 'accepted'],
      [5, 1, 'no@b.example', 'rejected'],
      [5, 2, 'sue@b.example', 'accepted'],
    ]
    for (const [cursor, from] of Object.entries({ 0: 0, '3.1': 1, 3: 2, '3.2': 2, 4: 3, '5.1': 4, 5: 5 }))
      expect(await rowsAfter(cursor)).toEqual(rows.slice(from))
    const page = jobResultsAnswer.parse((await call(`/v1/jobs/${job.id}/results?limit=1`)).json())
    expect(await rowsAfter(page.next_cursor!)).toEqual(rows.slice(1))
    const ndjson = (await call(`/v1/jobs/${job.id}/results?format=ndjson`)).body.trim().split('\n')
    expect(
      ndjson.map((one) => JSON.parse(one)).map(({ line, part, input, result }) => [line, part, input, result]),
    ).toEqual(rows)
    const csv = (await call(`/v1/jobs/${job.id}/results?format=csv`)).body.split('\r\n')
    expect(csv[0]).toMatch(/^name,email,line,part,input,result,/)
    expect(csv[2]).toMatch(/^A,Joe <joe@b.example>; no@b.example,3,2,no@b.example,rejected,/)
  })

  it('is taken in, worked on, and given back with a verdict a row', async () => {
    const job = await submit(LIST, '?name=spring')
    expect(job).toMatchObject({
      name: 'spring',
      rows: 3,
      duplicates: 1,
      bad_rows: 1,
      columns: ['name', 'email'],
      column: 'email',
    })
    expect(await done(job)).toMatchObject({ done: 3, counts: { accepted: 2, rejected: 1 }, eta_ms: null })
    const results = `/v1/jobs/${job.id}/results`
    const page = jobResultsAnswer.parse((await call(results)).json())
    expect(page.data.map(({ line, result }) => [line, result])).toEqual([
      [2, 'accepted'],
      [3, 'rejected'],
      [4, 'accepted'],
    ])
    const csv = await call(`${results}?format=csv`)
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(csv.body.split('\r\n').map((line) => line.split(',').slice(0, 4).join())).toEqual([
      'name,email,line,result',
      'Joe,joe@a.example,2,accepted',
      'Ann,no@a.example,3,rejected',
      'Joe again,joe@a.example,4,accepted',
      '',
    ])
    const rest = await call(`${results}?format=ndjson&cursor=3`)
    expect(
      rest.body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).line),
    ).toEqual([4])
    expect((await call(`${results}?format=ndjson&result=rejected`)).body).toContain('"line":3')
    expect((await call(`/v1/jobs/${job.id}/bad-rows`)).json()).toMatchObject({
      data: [{ line: 5, reason: 'no_input', detail: 'no address in its column', text: 'nobody,' }],
    })
  })

  it.each([
    ['text/plain', 'joe@a.example\n'],
    ['application/x-ndjson', '{"email":"joe@a.example"}\n'],
    ['application/json', '{"items":["joe@a.example"]}'],
    ['text/csv', gzipSync('joe@a.example\n')],
  ])('may be %s', async (type, body) => {
    expect(await done(await submit(body, '', type))).toMatchObject({ rows: 1, counts: { accepted: 1 } })
  })

  it.each<[string, string | Buffer, string, number, string]>([
    ['no rows', 'email\n', 'text/csv', 400, 'empty_list'],
    ['nothing', '', 'text/csv', 400, 'empty_list'],
    ['an open quote', 'email\n"x', 'text/csv', 400, 'bad_list'],
    ['too much', `email\n${'x@a.example\n'.repeat(100_000)}`, 'text/csv', 413, 'payload_too_large'],
    ['a picture', 'x', 'image/png', 415, 'unsupported_media_type'],
    ['xlsx', Buffer.from([0x50, 0x4b, 3, 4]), 'text/csv', 415, 'unsupported_media_type'],
  ])('with %s is refused and leaves nothing', async (_, body, type, status, code) => {
    const before = jobListAnswer.parse((await call('/v1/jobs?limit=200')).json()).data.length
    const response = await call('/v1/jobs', { method: 'POST', body, type })
    expect([response.statusCode, response.json().code]).toEqual([status, code])
    expect(jobListAnswer.parse((await call('/v1/jobs?limit=200')).json()).data).toHaveLength(before)
  })
})

it.each([
  ['/v1/jobs/nonsense', 404, 'not_found'],
  [`/v1/jobs?cursor=${Buffer.from('{"after":2147483648}').toString('base64url')}`, 400, 'invalid_parameter'],
  ['/v1/jobs/job_AAAAAAAAAAAAAAAAAAAAAA/results?cursor=99999999999', 400, 'invalid_parameter'],
  ['/v1/jobs/job_AAAAAAAAAAAAAAAAAAAAAA', 404, 'not_found'],
  ['/v1/jobs?cursor=x', 400, 'invalid_parameter'],
])('%s is %d %s', async (url, status, code) => {
  const response = await call(url)
  expect([response.statusCode, response.json().code]).toEqual([status, code])
})

it('ready tells what is in progress', async () => {
  const job = await submit('slow@a.example\njoe@a.example\n', '', 'text/plain')
  const queue = async () => (await call('/v1/ready')).json().queue
  await expect.poll(queue, { timeout: 20_000 }).toMatchObject({ open_rows: 1, claimed_rows: 1 })
  await call(`/v1/jobs/${job.id}/cancel`, { method: 'POST' })
  await expect.poll(queue, { timeout: 20_000 }).toMatchObject({ open_rows: 0, due_rows: 0, claimed_rows: 0 })
})

it('selectors are for jobs of kind check', async () => {
  const refused = await call('/v1/jobs?selector=s1', { method: 'POST', body: 'joe@a.example\n', type: 'text/plain' })
  expect([refused.statusCode, refused.json().parameter]).toEqual([400, 'selector'])
  await done(await submit('a.example\n', '?kind=check&selector=s1,s2', 'text/plain'))
  expect(options.at(-1)).toEqual({ selector: 's1,s2' })
})

it('pauses, resumes and cancels; twice is no error, and a canceled job stays canceled', async () => {
  const job = await submit('slow@a.example\n', '', 'text/plain')
  const act = async (action: string) => {
    const response = await call(`/v1/jobs/${job.id}/${action}`, { method: 'POST' })
    return response.json().state ?? response.json().code
  }
  expect([
    await act('pause'),
    await act('pause'),
    await act('resume'),
    await act('cancel'),
    await act('cancel'),
  ]).toEqual(['paused', 'paused', 'running', 'canceled', 'canceled'])
  expect(await act('resume')).toBe('wrong_state')
})

it('tells progress as events, until the job has ended', async () => {
  const job = await submit('joe@a.example\n', '', 'text/plain')
  const events = (await call(`/v1/jobs/${job.id}/events`)).body.trim().split('\n\n')
  expect(events[0]).toMatch(/^event: state\ndata: \{/)
  expect(JSON.parse(events.at(-1)!.split('data: ')[1]!)).toMatchObject({ state: 'done', done: 1 })
})

it('is a matter of the key that made it, and of admins', async () => {
  const job = await submit('joe@a.example\n', '', 'text/plain')
  const url = `/v1/jobs/${job.id}`
  const codes = await Promise.all(
    ['mine', 'admin', 'other', 'reader'].map(async (key) => (await call(url, { key })).statusCode),
  )
  expect(codes).toEqual([200, 200, 404, 403])
  const seen = async (key: string) =>
    jobListAnswer.parse((await call('/v1/jobs', { key })).json()).data.some(({ id }) => id === job.id)
  expect([await seen('mine'), await seen('admin'), await seen('other')]).toEqual([true, true, false])
  expect((await call(url, { method: 'DELETE', key: 'other' })).statusCode).toBe(404)
  expect((await call(url, { method: 'DELETE' })).statusCode).toBe(200)
  expect((await call(url)).statusCode).toBe(404)
})

it('are listed page by page, newest first', async () => {
  for (let i = 0; i < 2; i++) await submit('joe@a.example\n', '', 'text/plain')
  const page = async (query: string) => jobListAnswer.parse((await call(`/v1/jobs?${query}`)).json())
  const all = await page('limit=200')
  expect([all.has_more, all.next_cursor]).toEqual([false, null])
  const first = await page('limit=1')
  expect(first).toMatchObject({ has_more: true, data: [{ id: all.data[0]!.id }] })
  const second = await page(`limit=1&cursor=${first.next_cursor}`)
  expect(second.data[0]!.id).toBe(all.data[1]!.id)
})

it('of two that remove it at once, one finds it gone', async () => {
  const { id } = await submit('joe@a.example\n', '', 'text/plain')
  const remove = async () => (await call(`/v1/jobs/${id}`, { method: 'DELETE' })).statusCode
  expect((await Promise.all([remove(), remove()])).sort()).toEqual([200, 404])
})

it('goes on with an upload that was cut off, at the record where it stopped', async () => {
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const jobNamed = async (name: string): Promise<JobAnswer | undefined> =>
    jobListAnswer.parse((await call('/v1/jobs')).json()).data.find((one) => one.name === name)
  const cut = new ReadableStream({
    async start(controller) {
      controller.enqueue(Buffer.from('name,email\nJoe,joe@a.example\nAnn,no@a.example\n'))
      // Node.js drops what nobody has read when a request breaks off: the list is read once its job is there.
      for (const limit = AbortSignal.timeout(15_000); !(await jobNamed('cut')); await sleep(50, limit));
      await sleep(300, AbortSignal.timeout(5_000))
      controller.error(new Error('the line is down'))
    },
  })
  const headers = { authorization: 'Bearer mine', 'content-type': 'text/csv' }
  await expect(
    fetch(`${url}/v1/jobs?name=cut`, { method: 'POST', body: cut, headers, duplex: 'half' } as RequestInit),
  ).rejects.toThrow()
  let job: JobAnswer | undefined
  for (const limit = AbortSignal.timeout(15_000); !job; await sleep(50, limit)) {
    const seen = await jobNamed('cut')
    if (seen && seen.received > 0) job = seen
  }
  expect(job).toMatchObject({ state: 'receiving' })
  const wrong = await call(`/v1/jobs/${job.id}/rows?from=9`, { method: 'PUT', body: 'x' })
  expect([wrong.statusCode, wrong.json()]).toMatchObject([409, { code: 'wrong_offset', received: job.received }])
  const more = await call(`/v1/jobs/${job.id}/rows?from=${job.received}`, {
    method: 'PUT',
    body: 'Eve,eve@a.example\n',
  })
  expect(more.statusCode).toBe(202)
  const all = await done(job)
  expect(all).toMatchObject({ rows: 3, received: 3 })
  const late = await call(`/v1/jobs/${job.id}/rows?from=3`, { method: 'PUT', body: 'x' })
  expect([late.statusCode, late.json().code]).toEqual([409, 'wrong_state'])
})

it.each([
  ['https://10.0.0.1/', 'invalid_parameter'],
  ['http://hooks.example/', 'invalid_parameter'],
  ['https://user:pass@hooks.example/', 'invalid_parameter'],
])('a callback to %s is refused before the list is read', async (url, code) => {
  const response = await call(`/v1/jobs?callback=${encodeURIComponent(url)}`, {
    method: 'POST',
    body: 'a@a.example\n',
    type: 'text/plain',
  })
  expect([response.statusCode, response.json().code, response.json().parameter]).toEqual([400, code, 'callback'])
})

describe('on the command line', () => {
  const words: string[] = []
  let printed = ''
  async function run(name: string, raw: Raw, view: ViewFlags = {}, upload?: string): Promise<number> {
    printed = ''
    words.length = 0
    const operation = (await labSetting.find(name))!
    const address = app.server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    return operate(
      { operation, raw, view, ...(upload !== undefined && { upload: 'list.csv' }) },
      {
        ...labSetting,
        version: '0',
        onTerminal: false,
        open: () => Promise.reject(new Error('a service is asked')),
        service: {
          server: `http://127.0.0.1:${port}`,
          key: 'mine',
          peerSecret: undefined,
          nodeId: undefined,
          now: Date.now,
        },
        write: async (text) => void (printed += text),
        tell: (line) => void (line !== '' && words.push(line)),
        openUpload: () => ({ octets: Readable.from([Buffer.from(upload ?? '')]), contentType: 'text/csv' }),
      },
    )
  }

  it('submits a file, waits, and gives the results back', async () => {
    expect(await run('jobs submit', {}, { wait: true }, LIST)).toBe(0)
    const job = jobAnswer.parse(JSON.parse(printed))
    expect(job).toMatchObject({ state: 'done', done: 3 })
    expect(words.at(-1)).toBe('done: 3 of 3 rows (100 %), 18 per minute')
    expect(await run('jobs results', { id: job.id }, { format: 'csv' })).toBe(0)
    expect(printed.split('\r\n')).toHaveLength(5)
    expect(await run('jobs show', { id: job.id }, { format: 'table' })).toBe(0)
    expect(printed).toContain('accepted')
  })

  it('says what is wrong with a list', async () => {
    await expect(run('jobs submit', {}, {}, 'email\n"x')).rejects.toThrow('is never closed')
  })
})

it('is described with its parameters in the query and the list as the body', async () => {
  const { paths } = (await app.inject({ url: '/openapi.json' })).json()
  const { parameters, requestBody } = paths['/v1/jobs'].post
  expect(parameters.map(({ name, in: place }: { name: string; in: string }) => `${name} ${place}`)).toContain(
    'column query',
  )
  expect(Object.keys(requestBody.content)).toContain('text/csv')
  expect(Object.keys(paths['/v1/jobs/{id}/results'].get.responses[200].content)).toContain('text/csv')
})
