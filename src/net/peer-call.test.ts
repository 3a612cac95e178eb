import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { labDns } from '../../test/lab/dns.ts'
import { rangeOf } from '../names/ip-range.ts'
import { FetchError } from './fetch.ts'
import { peerCaller } from './peer-call.ts'

let server: Server | undefined
afterEach(() => void server?.close())

/** A node on loopback, and the port that it listens on. */
async function node(
  answer: (path: string, body: string) => { status?: number; type?: string; body: string; location?: string },
) {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      const said = answer(request.url!, `${request.method} ${request.headers['content-type'] ?? ''} ${body}`)
      response.writeHead(said.status ?? 200, {
        'content-type': said.type ?? 'application/json',
        ...(said.location ? { location: said.location } : {}),
      })
      response.end(said.body)
    })
  })
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

const loopback = (address: Parameters<typeof rangeOf>[0]) => rangeOf(address) === 'loopback'
const caller = (over: Partial<Parameters<typeof peerCaller>[0]> = {}) =>
  peerCaller({
    resolve: labDns({ 'node.example': { A: ['127.0.0.1'] }, 'lan.example': { A: ['10.0.0.1'] } }).resolve,
    reachable: loopback,
    plain: loopback,
    ...over,
  })
const signal = () => AbortSignal.timeout(5_000)
const reason = (work: Promise<unknown>) =>
  work.then(
    () => 'fine',
    (error) => (error instanceof FetchError ? error.reason : String(error)),
  )

it('gets and posts JSON, an error status included', async () => {
  const port = await node((path, body) => ({ status: path === '/a' ? 201 : 404, body: JSON.stringify({ path, body }) }))
  const call = caller()
  const posted = await call(
    { method: 'POST', url: `http://node.example:${port}/a`, body: '{}', maxBytes: 1_000 },
    signal(),
  )
  expect(posted).toEqual({ status: 201, body: { path: '/a', body: 'POST application/json {}' } })
  const got = await call({ method: 'GET', url: `http://127.0.0.1:${port}/b?c=d`, maxBytes: 1_000 }, signal())
  expect(got).toEqual({ status: 404, body: { path: '/b?c=d', body: 'GET  ' } })
})

it.each<[string, string, Partial<Parameters<typeof peerCaller>[0]>, string]>([
  ['a private address by name', 'https://lan.example', {}, 'unsafe_address'],
  ['a private address', 'https://10.0.0.1', {}, 'unsafe_address'],
  ['plain HTTP where it was not allowed', 'http://127.0.0.1', { plain: () => false }, 'unsafe_address'],
  ['another scheme', 'ftp://127.0.0.1', {}, 'invalid_url'],
  ['a password', 'http://a:b@127.0.0.1', {}, 'invalid_url'],
  ['a name without address', 'https://none.example', {}, 'dns'],
])('refuses %s before a socket is opened', async (_, url, over, why) => {
  expect(await reason(caller(over)({ method: 'GET', url, maxBytes: 1_000 }, signal()))).toBe(why)
})

it.each([
  ['an answer that is too large', { body: `"${'a'.repeat(2_000)}"` }, 'too_large'],
  ['an answer that is nested too deep', { body: `{"a":${'['.repeat(100)}${']'.repeat(100)}}` }, 'protocol'],
  ['an answer that is no JSON', { body: '<html>', type: 'text/html' }, 'protocol'],
  ['a redirect without a body', { status: 302, body: '', location: 'http://10.0.0.1/' }, 'protocol'],
])('rejects %s', async (_, said, why) => {
  const port = await node(() => said)
  const url = `http://127.0.0.1:${port}/`
  expect(await reason(caller()({ method: 'GET', url, maxBytes: 1_000 }, signal()))).toBe(why)
})

it('ends with its signal', async () => {
  server = createServer(() => {})
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const late = caller()({ method: 'GET', url, maxBytes: 1_000 }, AbortSignal.timeout(50))
  expect(await reason(late)).toBe('timeout')
  server.closeAllConnections()
})
