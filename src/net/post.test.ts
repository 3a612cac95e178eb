import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createPlain } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CERT, KEY } from '../../test/lab/certificate.ts'
import { labDns } from '../../test/lab/dns.ts'
import { cidr } from '../names/cidr.ts'
import { guardedPost } from './post.ts'
import { guard } from './public-only.ts'

/** Requests that came, and octets that went out. */
const came: { readonly url: string; readonly method: string; readonly headers: object; readonly body: string }[] = []
let sent = 0

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/ok': (response) => response.writeHead(204).end(),
  '/gone': (response) => response.writeHead(410).end('no more'),
  '/busy': (response) => response.writeHead(503, { 'retry-after': '120' }).end(),
  '/moved': (response) => response.writeHead(301, { location: '/ok' }).end(),
  '/inside': (response) => response.writeHead(307, { location: 'http://10.0.0.1/' }).end(),
  '/silent': () => {},
  '/drip': (response) => void response.writeHead(200).write('x'),
  '/cut': (response) => response.socket?.destroy(),
  '/text': (response) => void response.socket?.end('220 mx.example ESMTP\r\n'),
  '/big': (response) => {
    response.writeHead(200, { 'content-length': String(10 << 20) })
    const chunk = Buffer.alloc(64 << 10, 'x')
    const more = (): void => {
      while (!response.destroyed && sent < 10 << 20) {
        sent += chunk.length
        if (!response.write(chunk)) return void response.once('drain', more)
      }
    }
    more()
  },
}
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  came.push({ url: request.url ?? '', method: request.method ?? '', headers: request.headers, body })
  answers[request.url ?? '']?.(response)
}
const server = createServer({ cert: CERT, key: KEY }, (...asked) => void serve(...asked).catch(() => {}))
const plain = createPlain((...asked) => void serve(...asked).catch(() => {}))
const ports = { tls: 0, plain: 0 }
beforeAll(async () => {
  for (const [name, one] of [
    ['tls', server],
    ['plain', plain],
  ] as const) {
    await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
    ports[name] = (one.address() as AddressInfo).port
  }
})
afterAll(() => {
  for (const one of [server, plain]) {
    one.closeAllConnections()
    one.close()
  }
})

const { resolve } = labDns({
  'a.example': { A: ['127.0.0.1'] },
  'wrong.example': { A: ['127.0.0.1'] },
  'private.example': { A: ['10.0.0.1'], AAAA: ['fd00::1'] },
  'metadata.example': { A: ['169.254.169.254'] },
  'mixed.example': { A: ['10.0.0.1', '192.168.1.1'] },
  'servfail.example': 'SERVFAIL',
})
const post = (url: string, ms = 5_000, plainTo: readonly string[] = []) =>
  guardedPost({
    resolve,
    reachable: guard({ allowed: [cidr('127.0.0.1')] }),
    plain: (address) => plainTo.includes(address),
    ca: [CERT],
    userAgent: 'mailsonde/test',
  })(
    {
      url: url.replace('TLS', String(ports.tls)).replace('PLAIN', String(ports.plain)),
      headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
      body: '{"a":"ü"}',
    },
    AbortSignal.timeout(ms),
  )

describe('a message', () => {
  it('arrives as it is, without the fragment of the URL', async () => {
    expect(await post('https://a.example:TLS/ok#part')).toEqual({ status: 204, retryAfter: '' })
    expect(came.at(-1)).toMatchObject({
      ...{ url: '/ok', method: 'POST', body: '{"a":"ü"}' },
      headers: { 'webhook-id': 'msg_1', 'user-agent': 'mailsonde/test', 'content-length': '10' },
    })
  })

  it.each([
    ['/gone', 410, ''],
    ['/busy', 503, '120'],
    ['/moved', 301, ''],
    ['/inside', 307, ''],
    ['/drip', 200, ''], // its body never ends, and is not waited for
  ])('what the receiver says is told, and no redirect is followed: %s', async (path, status, retryAfter) => {
    const before = came.length
    expect(await post(`https://a.example:TLS${path}`)).toEqual({ status, retryAfter })
    expect(came.slice(before).map(({ url }) => url)).toEqual([path])
  })

  it('an answer of 10 MB is cut off', async () => {
    expect((await post('https://a.example:TLS/big')).status).toBe(200)
    await new Promise((done) => setTimeout(done, 100))
    expect(sent).toBeLessThan(8 << 20) // what the sockets hold
  })

  it.each([
    ['https://a.example:TLS/silent', 'timeout'],
    ['https://a.example:TLS/cut', 'protocol'],
    ['https://a.example:TLS/text', 'protocol'],
    ['https://a.example:1/', 'connect'],
    ['https://wrong.example:TLS/ok', 'certificate'],
    ['https://none.example/', 'dns'],
    ['https://servfail.example/', 'dns'],
    ['https://private.example/', 'unsafe_address'],
    ['https://mixed.example/', 'unsafe_address'],
    ['https://metadata.example/latest', 'unsafe_address'],
    ['https://10.0.0.1/', 'unsafe_address'],
    ['https://[::1]/', 'unsafe_address'],
    ['https://[::ffff:10.0.0.1]/', 'unsafe_address'],
    ['https://2130706434/', 'unsafe_address'], // 127.0.0.2 as a number
    ['http://a.example:PLAIN/ok', 'unsafe_address'],
    ['https://u:p@a.example:TLS/ok', 'invalid_url'],
    ['ftp://a.example/', 'invalid_url'],
    ['nonsense', 'invalid_url'],
  ])('%s: %s', (url, reason) => expect(post(url, 400)).rejects.toMatchObject({ name: 'FetchError', reason }))

  it('goes by plain HTTP where the operator allowed it', async () =>
    expect((await post('http://a.example:PLAIN/ok', 5_000, ['127.0.0.1'])).status).toBe(204))
  it('says why plain HTTP is not used', () => expect(post('http://a.example:PLAIN/ok')).rejects.toThrow('is not HTTPS'))
})
