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
