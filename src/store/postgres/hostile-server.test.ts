import { createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterAll, describe, expect, it } from 'vitest'
import { CERT, KEY } from '../../../test/lab/certificate.ts'
import { createLogger, logOf } from '../../log.ts'
import { lazyDatabase } from './connect.ts'

/** Servers of `--database-url` that mean harm: what they do is "no database" in words, and ends no process. */
const servers: Server[] = []
const sockets = new Set<Socket>()
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

/** The port of a server that does so with each connection. */
async function listening(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    serve(socket)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { readonly port: number }).port
}
/** A message of the protocol (PostgreSQL 18, "Message Formats"). */
function message(type: string, ...parts: readonly (string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`)
      const number = Buffer.alloc(4)
      number.writeInt32BE(part)
      return number
    }),
  )
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const HARM = '\u001b[2J\u001b]0;owned\u0007\u202e\u009b31m\r\n::error::pwned'
const fatal = message('E', 'SFATAL', 'C28000', `M${HARM}`, '')
const LET_IN = Buffer.concat([message('R', 0), message('K', 1, 1), message('Z'), Buffer.from('I')])
LET_IN.writeInt32BE(5, LET_IN.length - 5)

const onData = (answer: (socket: Socket, n: number) => void) => (socket: Socket) => {
  let n = 0
  socket.on('data', () => answer(socket, n++))
}
/** Sends `piece` again and again, as fast as it is read. */
function endless(socket: Socket, first: Buffer, piece: Buffer): void {
  let sent = 0
  const more = (): void => {
    while (!socket.destroyed && sent < 1_000 * MIB) {
      sent += piece.length
      if (!socket.write(piece)) return void socket.once('drain', more)
    }
  }
  socket.once('close', () => void endlessly.push(sent))
  socket.write(first)
  more()
}
const MIB = 1_048_576
/** Octets that endless answers have sent. */
const endlessly: number[] = []
const LARGE_ROW = Buffer.concat([
  message('1'),
  message('2'),
  Buffer.from('D\x7f\xff\xff\xff\0\x01\x7f\xff\xff\xf0', 'latin1'),
])
const ROW = Buffer.concat([Buffer.from('D\0\x04\0\x0a\0\x01\0\x04\0\0', 'latin1'), Buffer.alloc(262_144)])

const secrets: string[] = []

describe.concurrent('a database server that', () => {
  it.each<[string, (socket: Socket) => void, string?]>([
    ['speaks something else', (socket) => void socket.write('220 mx.example ESMTP\r\n'.repeat(100))],
    ['sends garbage after it was asked', onData((socket) => void socket.write(Buffer.alloc(65_536, 0xff)))],
    ['closes at once', (socket) => void socket.end()],
    ['never answers', () => {}],
    ['refuses with a text that controls a terminal', onData((socket) => void socket.end(fatal))],
    [
      'lets in, and fails each statement with such a text',
      onData((socket, n) => void socket.write(n === 0 ? LET_IN : fatal)),
    ],
    [
      'closes in the middle of a statement',
      onData((socket, n) => void (n === 0 ? socket.write(LET_IN) : socket.destroy())),
    ],
    ['lets in, and never answers a statement', onData((socket, n) => void (n === 0 && socket.write(LET_IN)))],
    [
      'answers with a row that never ends',
      onData((socket, n) => void (n === 0 ? socket.write(LET_IN) : endless(socket, LARGE_ROW, Buffer.alloc(MIB)))),
    ],
    [
      'answers with rows that never end',
      onData((socket, n) => void (n === 0 ? socket.write(LET_IN) : endless(socket, message('1'), ROW))),
    ],
    [
      'has a certificate of another name',
      (socket) =>
        socket.once('data', () => {
          socket.write('S')
          const secure = new TLSSocket(socket, { isServer: true, cert: CERT, key: KEY })
          secure.on('error', () => {}).on('data', (data) => void secrets.push(data.toString('latin1')))
        }),
      '?sslmode=verify-full',
    ],
  ])(
    '%s',
    async (_, serve, query = '') => {
      const lines: string[] = []
      const logger = createLogger({ level: 'debug', format: 'pretty', addresses: false }, (line) => lines.push(line))
      const url = `postgres://sonde:secret@127.0.0.1:${await listening(serve)}/lab${query}`
      const database = lazyDatabase({ url, dataDir: '', dbUser: 'nobody', log: logOf(logger) })
      const refused = expect.stringMatching(/^the database (?!.*(?:secret|owned|pwned))/s)
      await expect(database.open()).rejects.toMatchObject({ code: 'upstream_unavailable', message: refused })
      expect(await database.probe(AbortSignal.timeout(10_000))).toMatch(/^the database does not answer: /)
      expect(lines.join('')).toContain('the database could not be opened')
      expect(lines.join('').replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]|secret/)
      expect(lines.filter((line) => line.startsWith('::'))).toEqual([])
      expect(secrets.join('')).toBe('')
      await database.close()
    },
    40_000,
  )
})

it('of an answer without end no more is read than an answer may have', () => {
  expect(endlessly.length).toBeGreaterThan(1)
  expect(Math.max(...endlessly)).toBeLessThan(160 * MIB)
})
