import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { InjectOptions } from 'fastify'
import { expect, it } from 'vitest'
import { allOperations } from '../../src/operations/registry.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp, labDeps, labExecutor, labKey } from '../lab/app.ts'
import { labJob } from '../lab/jobs.ts'
import { LIVE_LISTS } from '../lab/lists.ts'
import { labWorld } from '../lab/world.ts'

const world = labWorld({ ...LIVE_LISTS, 'hooks.example': { A: ['45.53.1.7'] } })
const execute = labExecutor(world, labDeps(world))
const site = openSite({ operations: await allOperations(), world, version: '0', execute })
const appOf = (options: Parameters<typeof labApp>[1] = {}) => labApp(world, { execute, site, ...options })
const app = await appOf()
const HTML = { accept: 'text/html,*/*;q=0.8' }
const READ = { authorization: 'Bearer read' }

it.each<[why: string, url: string, headers: Record<string, string>, sent: Record<string, unknown>]>([
  [
    'a stream is kept nowhere',
    `/v1/jobs/${labJob.id}/results?format=ndjson`,
    {},
    { 'cache-control': 'private, no-store' },
  ],
  [
    'a short answer is not compressed',
    '/v1/health',
    { 'accept-encoding': 'br, gzip' },
    { 'content-encoding': undefined },
  ],
  ['a long one is', '/', { ...HTML, 'accept-encoding': 'br, gzip' }, { 'content-encoding': 'br' }],
  ['without Accept-Encoding none is', '/', HTML, { 'content-encoding': undefined }],
])('%s', async (_, url, headers, sent) => {
  const answer = await app.inject({ url, headers })
  expect(answer.statusCode).toBe(200)
  for (const [name, value] of Object.entries(sent)) expect([name, answer.headers[name]]).toEqual([name, value])
})

const PRIVATE = 'private, no-store'
it.each<[what: string, request: InjectOptions, status: number, kept: string | undefined]>([
  ['an answer', { url: '/v1/dmarc?domain=a.example' }, 200, PRIVATE],
  ['an answer without a key', { url: '/v1/dmarc?domain=a.example', headers: {} }, 401, PRIVATE],
  ['an answer of a key of another scope', { url: '/v1/peer/peers' }, 403, PRIVATE],
  ['a refused parameter', { url: '/v1/dmarc?domain=x' }, 400, PRIVATE],
  ['a document', { url: '/v1/check?domain=a.example&format=markdown' }, 200, PRIVATE],
  ['a stream of lines', { url: `/v1/jobs/${labJob.id}/results?format=ndjson` }, 200, PRIVATE],
  ['a stream of CSV', { url: `/v1/jobs/${labJob.id}/results?format=csv` }, 200, PRIVATE],
  ['an answer to a POST', { method: 'POST', url: '/v1/blacklist', payload: { ips: ['192.0.2.1'] } }, 200, PRIVATE],
  ['a body that cannot be read', { method: 'POST', url: '/v1/blacklist', payload: '{' }, 400, PRIVATE],
  ['a tool', { method: 'POST', url: '/mcp', payload: {} }, 400, PRIVATE],
  ['counts', { url: '/metrics' }, 200, PRIVATE],
  ['a page', { url: '/jobs', headers: { ...READ, ...HTML } }, 200, PRIVATE],
  ['a page that leads to another', { url: '/domain/a.example/try', headers: { ...READ, ...HTML } }, 303, PRIVATE],
  ['a page for everybody', { url: '/docs', headers: HTML }, 200, PRIVATE],
  ['health', { url: '/v1/health' }, 200, undefined],
  ['the description of the API', { url: '/openapi.json' }, 200, undefined],
])('%s is kept by nobody who should not', async (_, request, status, kept) => {
  const keyed = await appOf({
    keys: () => [labKey('read', ['read', 'jobs'])],
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
  })
  const type = request.payload === undefined ? {} : { 'content-type': 'application/json' }
  const { statusCode, headers } = await keyed.inject({ ...request, headers: { ...type, ...(request.headers ?? READ) } })
  expect([statusCode, headers['cache-control']]).toEqual([status, kept])
})

it('a link of another site to a page for everybody is followed', async () => {
  const link = { ...HTML, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  for (const url of ['/', '/docs']) expect((await app.inject({ url, headers: link })).statusCode).toBe(200)
})

it('a job with a callback is taken as any other, and its webhook is told', async () => {
  const url = '/v1/jobs?kind=verify&callback=https%3A%2F%2Fhooks.example%2F'
  const headers = { 'content-type': 'text/plain' }
  const answer = await app.inject({ method: 'POST', url, headers, payload: 'joe@a.example\n' })
  expect([answer.statusCode, Object.keys(answer.json().callback)]).toEqual([202, ['id', 'secret']])
})

it('a page reads forms alone', async () => {
  const headers = { ...HTML, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  expect((await app.inject({ method: 'POST', url: '/logout', headers, payload: '{}' })).statusCode).toBe(415)
})

it('a stream that was read gives its place back', async () => {
  const one = await appOf({ maxConcurrency: 1 })
  const headers = { accept: 'application/x-ndjson', 'content-type': 'application/json' }
  const ask = () => one.inject({ method: 'POST', url: '/v1/blacklist', headers, payload: '{"ips":["192.0.2.1"]}' })
  for (let i = 0; i < 3; i++) expect((await ask()).statusCode).toBe(200)
  await expect.poll(() => one.underWay()).toBe(0)
})

it.each([
  [1, 1],
  [undefined, 2],
])('with --max-connections %s, of two connections %s are answered', async (maxConnections, answered) => {
  const one = await appOf(maxConnections === undefined ? {} : { maxConnections })
  await one.listen({ port: 0, host: '127.0.0.1' })
  const { port } = one.server.address() as AddressInfo
  let answers = 0
  const sockets = []
  for (let i = 0; i < 2; i++) {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    const isOver = Promise.race([once(socket, 'data').then(() => answers++), once(socket, 'close')])
    socket.write('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await isOver
  }
  for (const socket of sockets) socket.destroy()
  await one.close()
  expect(answers).toBe(answered)
})
