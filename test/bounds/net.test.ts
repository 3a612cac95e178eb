import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { cidr } from '../../src/names/cidr.ts'
import { httpsFetch } from '../../src/net/https.ts'
import { guardedPost } from '../../src/net/post.ts'
import { guard } from '../../src/net/public-only.ts'
import { replyReader } from '../../src/net/smtp/reply.ts'
import { inbox } from '../../src/net/smtp/tcp-dial.ts'
import { CERT, KEY } from '../lab/certificate.ts'
import { labDns } from '../lab/dns.ts'
import { isRead, testBounds, text, times } from './table.ts'

/**
 * Whether a message gets to a receiver at 127.0.0.9, which is the last of `addresses`, and whose answer has so long a
 * header.
 */
async function isPosted(addresses: number, header: number): Promise<boolean> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.socket!.end(`HTTP/1.1 204 No Content\r\nx: ${text(header)}\r\n\r\n`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.9', resolve))
  const A = [...times(addresses - 1, (i) => `127.0.0.${10 + i}`), '127.0.0.9']
  const post = guardedPost({
    resolve: labDns({ 'a.example': { A } }).resolve,
    reachable: guard({ allowed: [cidr('127.0.0.0/8')] }),
    plain: () => true,
    userAgent: 'test',
  })
  const url = `http://a.example:${(server.address() as AddressInfo).port}/`
  const came = await isRead(post({ url, headers: {}, body: '' }, AbortSignal.timeout(5_000)))
  server.closeAllConnections()
  server.close()
  return came
}
/** Whether `n` redirects are followed. */
async function areFollowed(n: number): Promise<boolean> {
  const server = createSecure({ cert: CERT, key: KEY }, (request, response) => {
    const hop = Number(request.url?.slice(1))
    if (hop === n) response.end('here')
    else response.writeHead(302, { location: `/${hop + 1}` }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const fetch = httpsFetch({
    resolve: labDns({ 'a.example': { A: ['127.0.0.1'] } }).resolve,
    reachable: guard({ allowed: [cidr('127.0.0.1')] }),
    ca: [CERT],
    ports: [port],
  })
  const wanted = { maxBytes: 100, redirects: 100 }
  const is = await isRead(fetch(`https://a.example:${port}/0`, AbortSignal.timeout(5_000), wanted))
  server.closeAllConnections()
  server.close()
  return is
}
/** Whether a socket still reads after so many bytes that nobody took. */
function stillReads(bytes: number): boolean {
  let isPaused = false
  const pause = (): void => void (isPaused = true)
  const socket = Object.assign(new EventEmitter(), { pause, isPaused: () => isPaused })
  inbox(socket as unknown as Socket)
  socket.emit('data', Buffer.alloc(bytes))
  return !isPaused
}

testBounds([
  ['src/net/guarded-request.ts MAX_ADDRESSES', 4, (n) => isPosted(n, 1)],
  // The name and value of a header together are shorter than the bound.
  ['src/net/guarded-request.ts MAX_HEADERS', 16 * 1024, (n) => isPosted(1, n - 2)],
  ['src/net/https.ts MAX_REDIRECTS', 5, areFollowed],
  // The socket stops at the bound.
  ['src/net/smtp/tcp-dial.ts MAX_UNREAD', 64 * 1024, (n) => stillReads(n - 1)],
  [
    'src/net/smtp/reply.ts MAX_REPLY',
    64 * 1024,
    (n) => !JSON.stringify(replyReader().feed(Buffer.from(`250-${text(n - 4)}`))).includes('64 KiB'),
  ],
])
