import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CERT, KEY } from '../../test/lab/certificate.ts'
import { labDns } from '../../test/lab/dns.ts'
import { cidr } from '../names/cidr.ts'
import { trusting } from './guarded-request.ts'
import { httpsFetch } from './https.ts'
import { guard } from './public-only.ts'

let server: Server
let port = 0
const requested = new Set<string | undefined>()

/** What is no HTTP, or breaks it. */
const BREACHES = [
  '220 mx.example ESMTP\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/1.1 999999 OK\r\n\r\n',
  'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 200 OK\r\nX: \0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  `HTTP/1.1 200 OK\r\n${`X: ${'x'.repeat(1_000)}\r\n`.repeat(100)}\r\n`,
  '',
]
const PATHS: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/ok': (request, response) =>
    response
      .writeHead(200, { 'content-type': 'Text/Plain; charset=utf-8' })
      .end(String(request.headers['accept-encoding'])),
  '/big': (_, response) => response.writeHead(200).end(Buffer.alloc(200_000)),
  '/gzip': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  '/drip': (_, response) => void response.writeHead(200).write('x'),
  '/silent': () => {},
  '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/once': (_, response) => response.writeHead(301, { location: '/ok' }).end(),
  '/http': (_, response) => response.writeHead(301, { location: 'http://a.example/ok' }).end(),
  '/inside': (_, response) => response.writeHead(301, { location: `https://inside.example:${port}/ok` }).end(),
  ...Object.fromEntries(BREACHES.map((text, i) => [`/breach${i}`, (_, response) => void response.socket?.end(text)])),
  '/cut': (_, response) =>
    void response.writeHead(200, { 'content-length': '10' }).write('x', () => response.destroy()),
}

beforeAll(async () => {
  server = createServer({ cert: CERT, key: KEY }, (request, response) => {
    requested.add(request.url)
    const act = PATHS[request.url ?? '']
    if (act) act(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const { resolve } = labDns({
  'a.example': { A: ['127.0.0.1'] },
  'wrong.example': { A: ['127.0.0.1'] },
  'inside.example': { A: ['10.0.0.1'] },
  'mixed.example': { A: ['10.0.0.1', '127.0.0.1'] },
  'servfail.example': 'SERVFAIL',
})
const get = (url: string, options: { redirects?: number; maxBytes?: number; ms?: number; ca?: string[] } = {}) =>
  httpsFetch({
    resolve,
    reachable: guard({ allowed: [cidr('127.0.0.1')] }),
    ca: options.ca ?? [CERT],
    ports: [port, 443],
  })(url.replace('PORT', String(port)), AbortSignal.timeout(options.ms ?? 15_000), {
    maxBytes: options.maxBytes ?? 65_536,
    ...(options.redirects !== undefined && { redirects: options.redirects }),
  })

describe('the guarded GET', () => {
  it('gives status, type, body and where it came from, and asks for no compression', async () => {
    const { status, contentType, body, url } = await get('https://a.example:PORT/ok')
    expect([status, contentType, Buffer.from(body).toString(), url]).toEqual([
      200,
      'text/plain',
      'identity',
      `https://a.example:${port}/ok`,
    ])
  })
  it('follows as many redirects as it may, and shows one when it may none', async () => {
    expect((await get('https://a.example:PORT/once', { redirects: 1 })).url).toBe(`https://a.example:${port}/ok`)
    expect((await get('https://a.example:PORT/once')).status).toBe(301)
  })
  it('goes to the address that was judged', async () => {
    expect((await get('https://mixed.example:PORT/nothing').catch((error) => error)).reason).toBe('certificate')
  })
  it.each([
    ['https://a.example:PORT/big', 'too_large'],
    ['https://a.example:PORT/gzip', 'protocol'], // encoded though not asked for
    ['https://a.example:PORT/cut', 'protocol'],
    ['https://a.example:PORT/loop', 'redirect'],
    ['https://a.example:PORT/http', 'invalid_url'], // a redirect out of HTTPS
    ['https://a.example:PORT/inside', 'unsafe_address'], // a redirect to a private address
    ['https://inside.example/', 'unsafe_address'],
    ['https://127.0.0.2/', 'unsafe_address'],
    ['https://[::1]/', 'unsafe_address'],
    ['https://[::ffff:10.0.0.1]/', 'unsafe_address'],
    ['https://0x7f.1.1/', 'unsafe_address'], // a URL's idea of an address
    ['https://wrong.example:PORT/ok', 'certificate'],
    ['https://none.example/', 'dns'],
    ['https://servfail.example/', 'dns'],
    ['https://a.example/', 'connect'], // nothing on 443
    ['https://a.example:25/', 'invalid_url'],
    ['http://a.example/', 'invalid_url'],
    ['https://u:p@a.example/', 'invalid_url'],
    ['nonsense', 'invalid_url'],
  ])('%s: %s', async (url, reason) => {
    await expect(get(url, { redirects: 3 })).rejects.toMatchObject({ name: 'FetchError', reason })
  })
  it.each([200, 201])('quotes 200 characters of a text of %i that is no URL', (length) =>
    expect(get('x'.repeat(length))).rejects.toMatchObject({ message: `"${'x'.repeat(200)}" is not a URL` }),
  )
  it.each(BREACHES.map((text, i) => [text.slice(0, 60), `/breach${i}`]))('tells what breaks HTTP: %j', (_, path) =>
    expect(get(`https://a.example:PORT${path}`)).rejects.toMatchObject({ name: 'FetchError', reason: 'protocol' }),
  )
  it.each(['/silent', '/drip'])('ends at the deadline: %s', async (path) => {
    await expect(get(`https://a.example:PORT${path}`, { ms: 150 })).rejects.toMatchObject({ reason: 'timeout' })
  })
  it('reads the trusted roots once, and none of its own without others', async () => {
    const trust = trusting([CERT])
    expect(await trust?.()).toBe(await trust?.())
    expect(trusting([])).toBeUndefined()
  })

  it('wants a trusted certificate', async () => {
    await expect(get('https://a.example:PORT/untrusted', { ca: [] })).rejects.toMatchObject({ reason: 'certificate' })
    expect(requested).not.toContain('/untrusted')
  })
})
