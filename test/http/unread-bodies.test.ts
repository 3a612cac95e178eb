import { connect } from 'node:net'
import fastify from 'fastify'
import { expect, it } from 'vitest'
import { endSlowBodies, leaveBodies } from '../../src/http/bodies.ts'

/**
 * A server with the bodies' own time, whose bodies may have 100 bytes; at `/upload` they are left to the
 * handler, which refuses them unread.
 */
async function serve(bodyMs = 50) {
  const app = fastify({ bodyLimit: 100 })
  await app.register((uploads, _, done) => {
    leaveBodies(uploads, bodyMs)
    uploads.post('/upload', async (_request, reply) => reply.code(401).send({}))
    uploads.post('/list', async ({ raw }, reply) => {
      const octets = raw.iterator({ destroyOnReturn: false })
      await octets.next()
      void octets.next() // a reader that looks ahead is left
      return reply.code(415).send({})
    })
    done()
  })
  await app.register((others, _, done) => {
    endSlowBodies(others, bodyMs)
    others.post('/', async () => ({}))
    others.get('/', async () => ({}))
    done()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, port: (app.server.address() as { readonly port: number }).port }
}

/** Statuses of what is answered to `bytes`, until the server closes the connection. */
const statuses = (port: number, bytes: string): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    let said = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => (said += chunk))
    socket.on('close', () => resolve(said.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []))
    socket.on('error', reject)
  })

const post = (type: string, length: string, body: string): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${length}\r\n\r\n${body}`
const LAST = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

// What nobody reads has no reader that its error could be told: it was an uncaught exception, which ends the process.
it.each<[string, string, readonly string[]]>([
  ['an unknown type', post('text/markdown', 'Content-Length: 9', 'a'), ['415']],
  ['an unknown type in chunks', post('text/markdown', 'Transfer-Encoding: chunked', '2\r\nab\r\n'), ['415']],
  ['too many bytes', post('application/json', 'Content-Length: 999', 'a'), ['413']],
  ['an upload without a key', post('text/csv', 'Content-Length: 9', 'a').replace('/', '/upload'), ['401']],
  ['a type that is known', post('application/json', 'Content-Length: 9', '{'), ['400']],
])('a body that does not come to its end, refused before: %s', async (_, bytes, answers) => {
  const { app, port } = await serve()
  expect(await statuses(port, bytes)).toEqual(answers)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await statuses(port, LAST)).toEqual(['200'])
  await app.close()
})

it.each<[string, string]>([
  ['an unknown type', post('text/markdown', 'Content-Length: 9', 'a')],
  ['too many bytes in chunks', post('application/json', 'Transfer-Encoding: chunked', `80\r\n${'a'.repeat(128)}\r\n`)],
])('a client that disconnects in the middle of a body of %s', async (_, bytes) => {
  const { app, port } = await serve()
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.once('data', () => socket.resetAndDestroy())
    socket.once('close', () => resolve())
  })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await statuses(port, LAST)).toEqual(['200'])
  await app.close()
})

it.each([
  ['unread', 'text/markdown', '/', 100_000, '415'],
  ['as an upload', 'text/csv', '/upload', 10_000_000, '401'],
  ['in the middle of an upload', 'text/csv', '/list', 10_000_000, '415'],
  ['for its announced size', 'application/json', '/', 10_000_000, '413'],
])('the request after a large body that was refused %s is answered', async (_, type, path, size, status) => {
  const { app, port } = await serve(10_000)
  const large = post(type, `Content-Length: ${size}`, 'a'.repeat(size)).replace('/', path)
  expect(await statuses(port, large + LAST)).toEqual([status, '200'])
  await app.close()
})
