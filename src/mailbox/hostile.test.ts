import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labCtx } from '../../test/lab/world.ts'
import { cidr } from '../names/cidr.ts'
import { domain } from '../names/domain.ts'
import { guard } from '../net/public-only.ts'
import { tcpDial } from '../net/smtp/tcp-dial.ts'
import { createVerifier } from './verify.ts'

/** Real sockets on loopback: whatever a server does, there is a result, and no socket stays open. */
type Act = (socket: Socket, line: string) => void
const sockets = new Set<Socket>()
let act: Act = () => {}
let server: Server
let port = 0

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    act(socket, '')
    socket.on('data', (chunk) => {
      for (const line of chunk.toString('latin1').split('\r\n').slice(0, -1)) act(socket, line)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
})
afterAll(() => server.close())

const polite =
  (at: string, evil: (socket: Socket) => void): Act =>
  (socket, line) => {
    const verb = line.slice(0, 4)
    if (verb === at) return evil(socket)
    if (verb === '') socket.write('220 lab\r\n')
    else if (verb === 'EHLO') socket.write('250-lab\r\n250 STARTTLS\r\n')
    else if (verb === 'STAR') socket.write('454 not now\r\n')
    else socket.write('250 ok\r\n')
  }
const drip = (socket: Socket): void => {
  const timer = setInterval(() => socket.write('2'), 10)
  socket.on('close', () => clearInterval(timer))
}
const EVIL: Record<string, (socket: Socket) => void> = {
  'is silent': () => {},
  resets: (socket) => void socket.resetAndDestroy(),
  closes: (socket) => void socket.end(),
  'sends NULs': (socket) => void socket.write(Buffer.alloc(10_000)),
  'sends random bytes': (socket) =>
    void socket.write(Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7_919) % 256))),
  'sends 5 MB without a newline': (socket) =>
    void socket.write(Buffer.concat([Buffer.from('250 '), Buffer.alloc(5_000_000, 65)])),
  drips: drip,
  'changes its code': (socket) => void socket.write('250-a\r\n550 5.1.1 no such user\r\n'),
  'answers ahead': (socket) => void socket.write('250 ok\r\n550 5.1.1 no such user\r\n550 5.1.1 no such user\r\n'),
}

describe.each(['', 'EHLO', 'STAR', 'MAIL', 'RCPT'])('at %j a server', (stage) => {
  it.each(Object.entries(EVIL))('that %s', async (_, evil) => {
    act = polite(stage, evil)
    const dial = tcpDial({ reachable: guard({ allowed: [cidr('127.0.0.1')] }) })
    const ctx = labCtx({ 'x.example': { A: ['127.0.0.1'] } }, { dial, now: Date.now })
    const verifier = createVerifier(ctx, { helo: domain('us.example'), port })
    const v = await verifier.verify(ctx, { email: 'a@x.example', timeoutMs: 250 })
    // On a busy machine the time can be over before the server was asked: our own limit.
    expect(['unreachable', 'accepted', 'catch_all', 'own_limit']).toContain(
      v.result === 'deferred' ? v.reason : v.result,
    )
    expect(v.reason).not.toBe('mailbox_not_found')
    for (let i = 0; i < 100 && sockets.size > 0; i++) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(sockets.size).toBe(0)
  })
})
