import { createServer, type Server, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { email } from '../../../test/lab/email.ts'
import { cidr } from '../../names/cidr.ts'
import { ip } from '../../names/ip.ts'
import { guard } from '../public-only.ts'
import { DialError } from './dial.ts'
import { openSession, type SessionOptions } from './session.ts'
import { MAX_UNREAD, tcpDial } from './tcp-dial.ts'

const dial = tcpDial({ reachable: guard({ allowed: [cidr('127.0.0.0/8')] }) })
const sockets = new Set<Socket>()
const servers: (Server | SMTPServer)[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(() => resolve()))
})

/** A server that does as `act` says with each connection; it notes what it received. */
async function serve(
  act: (socket: Socket, heard: () => string) => void,
): Promise<{ port: number; heard: () => string }> {
  let text = ''
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    act(socket, () => text)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { port: typeof address === 'object' && address ? address.port : 0, heard: () => text }
}
const to = (port: number) => ({ address: ip('127.0.0.1'), port })
const options = (port: number, waitMs = 300): SessionOptions => ({
  target: to(port),
  serverName: 'mx.example',
  heloName: async () => 'us.example',
  startTls: true,
  stageMs: () => waitMs,
})
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 100 && sockets.size > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('hanging up', () => {
  it('reads over the late answer to QUIT, so that the server sees an end and no reset', async () => {
    const seen: string[] = []
    const { port } = await serve((socket) => {
      socket
        .on('error', (error) => seen.push((error as NodeJS.ErrnoException).code ?? ''))
        .on('end', () => seen.push('end'))
      socket.write('220 mx.example\r\n')
      socket.on('data', (chunk) => {
        const line = chunk.toString('latin1')
        if (line.startsWith('QUIT')) setTimeout(() => socket.end('221 2.0.0 Bye\r\n'), 50)
        else socket.write('250 mx.example\r\n')
      })
    })
    const opened = await openSession({ dial, monotonic: () => 0 }, options(port), AbortSignal.timeout(2_000))
    if (opened.ok) opened.session.quit()
    await quiet()
    expect([opened.ok, seen, sockets.size]).toEqual([true, ['end'], 0])
  })
})

describe('dialling', () => {
  it.each([
    ['10.0.0.1', 'unsafe_address'],
    ['169.254.169.254', 'unsafe_address'],
    ['::1', 'unsafe_address'], // only 127.0.0.0/8 is allowed here
  ])('does not dial %s', async (address, reason) => {
    await expect(dial({ address: ip(address), port: 1 }, AbortSignal.timeout(10_000))).rejects.toMatchObject({ reason })
  })
  it('tells a refused connection, and a source address that is not ours', async () => {
    const { port } = await serve(() => {})
    await expect(dial(to(1), AbortSignal.timeout(10_000))).rejects.toMatchObject({ reason: 'connect_refused' })
    const elsewhere = { ...to(port), localAddress: ip('192.0.2.77') }
    await expect(dial(elsewhere, AbortSignal.timeout(10_000))).rejects.toMatchObject({ reason: 'address_not_local' })
    const otherFamily = { ...to(port), localAddress: ip('2001:db8::1') }
    await expect(dial(otherFamily, AbortSignal.timeout(10_000))).rejects.toMatchObject({ reason: 'address_not_local' })
  })
  it('dials from the address that it is told to', async () => {
    const { port } = await serve((socket) => socket.write(`220 ${socket.remoteAddress}\r\n`))
    const connection = await dial({ ...to(port), localAddress: ip('127.0.0.9') }, AbortSignal.timeout(10_000))
    expect(String(await connection.read())).toBe('220 127.0.0.9\r\n')
    expect(connection.localAddress).toBe('127.0.0.9')
    connection.close()
    connection.close()
  })
  it('gives what came before the end, then the end; rejects after close', async () => {
    const { port } = await serve((socket) => socket.end('421 bye\r\n'))
    const connection = await dial(to(port), AbortSignal.timeout(10_000))
    expect(String(await connection.read())).toBe('421 bye\r\n')
    expect(await connection.read()).toBeUndefined()
    connection.close()
    await expect(connection.write('x')).rejects.toBeInstanceOf(DialError)
  })
  it('closes the socket when the signal fires, at rest and in a wait', async () => {
    const { port } = await serve(() => {})
    const stop = new AbortController()
    const connection = await dial(to(port), stop.signal)
    const reading = connection.read()
    stop.abort()
    await expect(reading).rejects.toMatchObject({ reason: 'aborted' })
    await expect(connection.read()).rejects.toMatchObject({ reason: 'aborted' })
    await quiet()
    expect(sockets.size).toBe(0)
  })
  it('holds a sender back that nobody reads from', async () => {
    let sent = 0
    const { port } = await serve((socket) => {
      const pour = (): void => {
        while (sent < 64_000_000 && socket.write(Buffer.alloc(65_536))) sent += 65_536
      }
      socket.on('drain', pour)
      pour()
    })
    const connection = await dial(to(port), AbortSignal.timeout(5_000))
    await new Promise((resolve) => setTimeout(resolve, 200))
    const held = sent
    expect(held).toBeLessThan(32_000_000) // the rest waits in the sender
    let read = 0
    while (read < MAX_UNREAD * 40) read += (await connection.read())?.length ?? 0
    connection.close()
    await quiet()
    expect(sockets.size).toBe(0)
  })
})

describe('a hostile server', () => {
  const drip = (socket: Socket, text: string, everyMs: number): void => {
    let at = 0
    const timer = setInterval(() => socket.write(text[at++ % text.length]!), everyMs)
    socket.on('close', () => clearInterval(timer))
  }
  it.each<[does: string, act: (socket: Socket) => void, heard: string]>([
    ['says nothing', () => {}, 'banner timeout'],
    [
      'sends random bytes',
      (s) => void s.write(Buffer.from('\u0000\u0001\u00ff\u00fe\u0000\n', 'latin1')),
      'banner protocol_error',
    ],
    ['sends NULs', (s) => void s.write(Buffer.alloc(100_000)), 'banner protocol_error'],
    [
      'sends 5 MB without a newline',
      (s) => void s.write(Buffer.concat([Buffer.from('220 '), Buffer.alloc(5_000_000, 120)])),
      'banner protocol_error',
    ],
    ['sends a byte now and then', (s) => drip(s, '220 hello', 20), 'banner timeout'],
    ['changes its code', (s) => void s.write('220-a\r\n250 b\r\n'), 'banner protocol_error'],
    ['never ends its reply', (s) => drip(s, '220-a\r\n', 1), 'banner timeout'],
    ['resets', (s) => void s.resetAndDestroy(), 'connection_lost'], // at connect or at the banner, as it arrives
    ['closes', (s) => void s.end(), 'banner connection_lost'],
    ['is a web server', (s) => void s.end('HTTP/1.1 400 Bad Request\r\n\r\n'), 'banner protocol_error'],
    ['breaks off in the handshake', (s) => breakTls(s, (socket) => socket.destroy()), 'starttls tls_failure'],
    [
      'speaks no TLS behind 220',
      (s) => breakTls(s, (socket) => socket.write('this is no TLS record at all\r\n')),
      'starttls tls_failure',
    ],
    ['is silent in the handshake', (s) => breakTls(s, () => {}), 'starttls timeout'],
    [
      'slips a reply in behind 220 (in one segment)',
      (s) => breakTls(s, () => {}, '220 go\r\n250 evil\r\n'),
      'starttls protocol_error',
    ],
    ['slips half a reply in behind 220', (s) => breakTls(s, () => {}, '220 go\r\n250-ev'), 'starttls protocol_error'],
  ])('that %s', async (_, act, expected) => {
    const { port } = await serve(act)
    const opened = await openSession({ dial, monotonic: () => 0 }, options(port), AbortSignal.timeout(2_000))
    expect(opened.ok ? 'open' : `${opened.outcome.stage} ${opened.outcome.fault}`).toMatch(new RegExp(`${expected}$`))
    await quiet()
    expect(sockets.size).toBe(0)
  })

  function breakTls(socket: Socket, then: (socket: Socket) => void, ready = '220 go\r\n'): void {
    socket.write('220 lab\r\n')
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      if (text.startsWith('EHLO')) socket.write('250-lab\r\n250 STARTTLS\r\n')
      else if (text.startsWith('STARTTLS')) socket.write(ready)
      else then(socket)
    })
  }
})

describe('against smtp-server', () => {
  async function smtp(settings: ConstructorParameters<typeof SMTPServer>[0]): Promise<number> {
    const server = new SMTPServer({ disabledCommands: ['AUTH'], logger: false, ...settings })
    server.on('error', () => {})
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const address = server.server.address()
    return typeof address === 'object' && address ? address.port : 0
  }
  it('looks at an untrusted certificate, goes on over TLS, asks and quits', async () => {
    const port = await smtp({
      onRcptTo: (address, _, done) => done(address.address.startsWith('a') ? undefined : new Error('no such user')),
    })
    const signal = AbortSignal.timeout(5_000)
    const opened = await openSession({ dial, monotonic: () => 0 }, options(port, 2_000), signal)
    if (!opened.ok) throw new Error(JSON.stringify(opened.outcome))
    const { tls, capabilities } = opened.session
    expect([tls?.protocol, tls?.trusted, tls?.chain.length, capabilities.has('STARTTLS')]).toEqual([
      'TLSv1.3',
      false,
      1,
      false,
    ])
    expect(tls?.trustError).toMatch(/SELF_SIGNED|EXPIRED|UNABLE/)
    expect(tls?.names.length).toBeGreaterThan(0)
    const recipients = [email('a@x.example'), email('b@x.example')]
    const done = await opened.session.transact({ sender: email('v@us.example'), recipients }, signal)
    expect(done.rcpt.map((heard) => heard?.reply?.code)).toEqual([250, 550])
    opened.session.quit()
  })
})

it('refuses the handshake when bytes lie unread before it', async () => {
  const { port } = await serve((socket) => socket.write('evil'))
  const connection = await dial(to(port), AbortSignal.timeout(2_000))
  await new Promise((resolve) => setTimeout(resolve, 50))
  await expect(connection.startTls('mx.example')).rejects.toMatchObject({ reason: 'protocol_error' })
  connection.close()
})
